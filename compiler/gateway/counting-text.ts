import { compareTests } from "../../runtime/expression/same-outcome.ts"
import type { Amount, Counting, LimitKey } from "../../runtime/plan/step-values.ts"
import type { Expression } from "../../runtime/plan/text.ts"
import { breaking, closes, type Finding, neutral, opens } from "../analysis/finding.ts"
import { limitKeyWords } from "../analysis/words.ts"
import type { Printing } from "./print.ts"

/** The step's fields for each piece of a limit's state, by keyword of the language. */
const signs = {
  "retry-after": ["retryAfterHeader", "retryAfterVariable"],
  remaining: ["remainingHeader", "remainingVariable"],
  total: ["totalHeader", "totalVariable"],
  consumed: ["consumedHeader", "consumedVariable"],
} as const

/** The statements in the block of a limit: what counts, by how much, and which headers and variables report the state. */
export function countingLines(step: Counting, printing: Printing): string[] {
  const { countIf, increment } = step
  if (typeof increment === "object" && "tokens" in increment)
    if (typeof increment.tokens.estimatePrompt === "object")
      printing.lacks("an estimate that is computed per request")
  return [
    ...(countIf === undefined ? [] : [`count when (${countIf.text})`]),
    ...(increment === undefined ? [] : [`count ${amountWords(increment)}`]),
    ...Object.entries(signs).flatMap(([word, [header, variable]]) => [
      ...(step[header] === undefined ? [] : [`${word} header "${printing.header(step[header])}"`]),
      ...(step[variable] === undefined ? [] : [`${word} variable ${step[variable]}`]),
    ]),
  ]
}

/** Returns `api orders` for `api orders: jwt.sub else ip, 60s`: the block that contains the limit. */
export function scopeOfCounter(counter: string): string {
  const end = counter.lastIndexOf(": ")
  return end < 0 ? counter : counter.slice(0, end)
}

/** The keys callers are counted by, as part of a sentence. */
export function keysWords(keys: readonly LimitKey[]): string {
  return `\`${limitKeyWords(keys)}\``
}

/** The amount per call, as written after `count`. */
function amountWords(amount: Amount): string {
  if (typeof amount === "number") return String(amount)
  if ("expression" in amount) return `(${amount.expression.text})`
  return `tokens ${amount.tokens.estimatePrompt === false ? "reported" : "estimated"}`
}

/** The amount per call, for readers of a plan. */
function unitsText(amount: Amount): string {
  if (typeof amount === "number" || "expression" in amount) return amountWords(amount)
  return amount.tokens.estimatePrompt === false
    ? "the number of tokens that the backend reports"
    : "an estimated number of tokens"
}

/** Whether a number is larger, or may be larger because an expression yields it per request. */
export function grows(before: Amount, after: Amount): boolean {
  return typeof before === "object" || typeof after === "object" || after > before
}

/** A change in the amount per call. A number of tokens cannot be compared with a number of calls. */
export function incrementChange(before: Amount | undefined, after: Amount | undefined): Finding {
  const words = `a call now counts as ${unitsText(after ?? 1)} instead of ${unitsText(before ?? 1)}`
  return grows(after ?? 1, before ?? 1) ? opens(words) : closes(words)
}

/** A change in which calls count. If fewer calls count, more calls pass. */
export function countedChange(before: Expression | undefined, after: Expression | undefined): Finding {
  if (after === undefined) return closes("every call counts now")
  if (before === undefined) return opens("only calls that match the condition count")
  const isCel = before.lang === "cel" && after.lang === "cel"
  switch (isCel ? compareTests(before.text, after.text) : "other") {
    case "same":
      return neutral("the condition is written differently but means the same")
    case "wider":
      return closes("more calls count now")
    case "narrower":
      return opens("fewer calls count now")
    default:
      return opens("different calls count now")
  }
}

/** A change in a response header that reports the remaining limit or the time to wait. */
export function headerChange(before: string | undefined, after: string | undefined): Finding[] {
  return [
    ...(before === undefined ? [] : [breaking(`responses no longer have \`${before}\` from this statement`)]),
    ...(after === undefined ? [] : [neutral(`responses have \`${after}\``)]),
  ]
}

/** A limit reports its state in another variable. */
export const otherVariable = () => neutral("the value is stored in another variable")
