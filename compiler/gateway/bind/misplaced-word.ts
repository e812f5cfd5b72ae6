import { soleNearest } from "../../core/nearest.ts"
import type { Argument } from "../ast.ts"
import type { ArgumentPattern, Slot, SlotKind, StatementRow } from "../schema/row.ts"
import { expectedOf } from "../schema/slots.ts"

/** Slots of numbers, quantities and dates: nothing that consists of letters only fits, except a few words of their own. */
const quantities: ReadonlySet<SlotKind> = new Set([
  "duration",
  "duration-or-none",
  "size",
  "count",
  "date",
  "decimal",
  "percentage",
  "status",
  "status-or-class",
])

/**
 * The detail of the finding for a word in the place of a quantity, if it was meant as something else: as a misspelt fixed word of the
 * statement (`timeout conect 1s`), or as the keyword of the next statement (`begins`). Undefined for any other argument.
 */
export function misplacedWord(
  slot: Slot,
  argument: Argument,
  row: StatementRow,
  begins: (word: string) => boolean,
): string | undefined {
  if (argument.kind !== "word" || !quantities.has(slot.kind) || !/^[a-z][a-z-]+$/i.test(argument.text))
    return undefined
  const meant = soleNearest(argument.text, new Set(row.forms.flatMap(({ args }) => args.flatMap(wordsOf))))
  if (meant === undefined && !begins(argument.text)) return undefined
  const hint = meant === undefined ? "" : `; did you mean \`${meant}\`?`
  return `expected ${expectedOf(slot)}, found \`${argument.text}\`${hint}`
}

/** The fixed words of a pattern. */
function wordsOf(part: ArgumentPattern): readonly string[] {
  if ("word" in part) return [part.word]
  if ("optional" in part) return part.optional.flatMap(wordsOf)
  if ("oneOf" in part) return part.oneOf.flat().flatMap(wordsOf)
  return "many" in part && part.between !== undefined ? [part.between] : []
}
