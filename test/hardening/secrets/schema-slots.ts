import { blocks } from "../../../compiler/gateway/schema/blocks.ts"
import type { ArgumentPattern, Slot, StatementRow } from "../../../compiler/gateway/schema/row.ts"

/** `KEYWORD SLOT` of every place where a statement of the language names a secret. */
export function secretSlots(): readonly string[] {
  const found = Object.values(blocks).flatMap(({ rows, anyKeyword }) =>
    [...rows, ...(anyKeyword === undefined ? [] : [anyKeyword])].flatMap(slotsOfRow),
  )
  return [...new Set(found)].sort()
}

function slotsOfRow({ keyword, forms }: StatementRow): string[] {
  return forms
    .flatMap(({ args }) => args.flatMap(slotsOf))
    .filter(({ kind, to }) => kind === "reference" && to?.includes("secret"))
    .map(({ slot }) => `${keyword} ${slot}`)
}

function slotsOf(pattern: ArgumentPattern): readonly Slot[] {
  if ("slot" in pattern) return [pattern]
  if ("many" in pattern) return [pattern.many]
  if ("optional" in pattern) return pattern.optional.flatMap(slotsOf)
  return "oneOf" in pattern ? pattern.oneOf.flat().flatMap(slotsOf) : []
}

/** The first words of `auth`: how callers show who they are. */
export function authKinds(): readonly string[] {
  const rows = Object.values(blocks).flatMap(({ rows }) => rows.filter(({ keyword }) => keyword === "auth"))
  const words = rows.flatMap(({ forms }) =>
    forms.flatMap(({ args: [first] }) => (first !== undefined && "word" in first ? [first.word] : [])),
  )
  return [...new Set(words)].sort()
}
