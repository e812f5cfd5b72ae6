import type pc from "picocolors"
import type { FactChange, RequestOutcome } from "../request-compare/outcome.ts"

/** Colours for a terminal, or none. */
export type Paint = ReturnType<typeof pc.createColors>

const factsNamed = 3
const valueMax = 60

/** The effect of a change on requests, in its colour and 8 characters wide. */
export function effectWords(effect: "opens" | "closes" | "changes", paint: Paint): string {
  const paints = { opens: paint.red, closes: paint.cyan, changes: paint.yellow }
  return paints[effect](effect.padEnd(8))
}

/**
 * What became of a request before and after: `200 from backend orders → 403 forbidden (require, gateway.conf:41)`, or the facts that differ. Facts for
 * which `isHidden` is true are named without their values.
 */
export function outcomeChangeWords(
  before: RequestOutcomeWords,
  after: RequestOutcomeWords,
  facts: readonly FactChange[],
  isHidden: (name: string) => boolean = () => false,
): string {
  if (before.words !== after.words) return `${outcomeWords(before)} → ${outcomeWords(after)}`
  const open = facts.filter(({ name }) => !isHidden(name))
  const shown = open.slice(0, factsNamed).map(({ name, before: old, after: next }) => {
    return `${name} ${valueWords(old)} → ${valueWords(next)}`
  })
  const hidden = facts.filter(({ name }) => isHidden(name)).map(({ name }) => `${name} differs`)
  const more = open.length > factsNamed ? `, and ${open.length - factsNamed} more` : ""
  return `${before.words} as before, with ${[...shown, ...hidden].join(", ")}${more}`
}

type RequestOutcomeWords = Pick<RequestOutcome, "kind" | "words" | "by">

function outcomeWords({ words, by, kind }: RequestOutcomeWords): string {
  return kind === "served" || by === "" ? words : `${words} (${by})`
}

function valueWords(value: string | undefined): string {
  if (value === undefined) return "none"
  return value.length <= valueMax ? value : `${value.slice(0, valueMax)}…`
}

/** The first names, and how many more there are. */
export function namesWords(names: readonly string[], most: number, separator = ", "): string {
  const more = names.length > most ? `${separator}and ${names.length - most} more` : ""
  return `${names.slice(0, most).join(separator)}${more}`
}
