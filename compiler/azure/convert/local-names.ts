import type { CsharpProgram, CsNode, CsStatement } from "../../../runtime/plan/csharp.ts"
import { unique, valueName } from "./names.ts"

/** What the variables of a program are called in a text, by their slots: as in the source, where that says of all of them what they are called. */
export function localNames({ body }: CsharpProgram, source: string): ReadonlyMap<number, string> {
  const slots = "s" in body ? [...new Set(slotsOf(body))] : []
  const written = [...source.matchAll(/(?<![\w.])[A-Za-z]\w*(?:\[\])?\s+([A-Za-z_]\w*)\s*=(?![=>])/g)]
  const words = written.map(([, name]) => name as string)
  const isClear = new Set(words).size === slots.length && words.length === slots.length
  // Named values stand in expressions by their names.
  const names = new Map(namedIn(body).map((name) => [`value ${name}`, name]))
  return new Map(
    slots.map((slot, at) => {
      const wanted = isClear ? (words[at] as string) : "value"
      return [slot, unique(names, `local ${slot}`, valueName(wanted))]
    }),
  )
}

/** Variables that are declared with a value. */
function slotsOf(statement: CsStatement): number[] {
  switch (statement.s) {
    case "block":
      return statement.body.flatMap(slotsOf)
    case "run":
      return statement.on.k === "set" ? [statement.on.slot] : []
    case "if":
      return [...slotsOf(statement.yes), ...(statement.no === undefined ? [] : slotsOf(statement.no))]
    default:
      return []
  }
}

function namedIn(part: CsNode | CsStatement): string[] {
  const names: string[] = []
  JSON.stringify(part, (_, value: unknown) => {
    const isNamed = typeof value === "object" && value !== null && "k" in value && value.k === "named"
    if (isNamed && "name" in value) names.push(String(value.name))
    return value
  })
  return names
}
