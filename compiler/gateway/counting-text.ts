import { compareTests } from "../../runtime/expression/same-outcome.ts"
import type { Amount, Counting, LimitKey } from "../../runtime/plan/step-values.ts"
import type { Expression } from "../../runtime/plan/text.ts"
import { breaking, closes, type Finding, neutral, opens } from "../analysis/finding.ts"
import { limitKeyWords } from "../analysis/words.ts"
import type { Printing } from "./print.ts"

/** Signs of a limit by the word of the language. */
const signs = {
  "retry-after": ["retryAfterHeader", "retryAfterVariable"],
  remaining: ["remainingHeader", "remainingVariable"],
  total: ["totalHeader", "totalVariable"],
  consumed: ["consumedHeader", "consumedVariable"],
} as const

/** The statements in the block of a limit: what counts, how much, and which headers and variables report it. */
export function countingLines(step: Counting, printing: Printing): string[] {
  const { countIf, increment } = step
  if (typeof increment === "object" && "tokens" in increment)
    if (typeof increment.tokens.estimatePrompt === "object")
      printing.lacks("an estimate that is found per request")
  return [
    ...(countIf === undefined ? [] : [`count if (${countIf.text})`]),
    ...(increment === undefined ? [] : [`count ${amountWords(increment)}`]),
    ...Object.entries(signs).flatMap(([word, [header, variable]]) => [
      ...(step[header] === undefined ? [] : [`${word} header "${printing.header(step[header])}"`]),
      ...(step[variable] === undefined ? [] : [`${word} variable ${step[variable]}`]),
    ]),
  ]
}

/** `api orders` of `api orders: jwt.sub else ip, 60s`: the block a limit was written in. */
export function scopeOfCounter(counter: string): string {
  const end = counter.lastIndexOf(": ")
  return end < 0 ? counter : counter.slice(0, end)
}

/** What callers are counted by, in a sentence. */
export function keysWords(keys: readonly LimitKey[]): string {
  return `\`${limitKeyWords(keys)}\``
}

/** How much a call counts, as behind `count`. */
function amountWords(amount: Amount): string {
  if (typeof amount === "number") return String(amount)
  if ("expression" in amount) return `(${amount.expression.text})`
  return `tokens ${amount.tokens.estimatePrompt === false ? "reported" : "estimated"}`
}

/** Whether a number is larger, or may be because it is found per request. */
export function grows(before: Amount, after: Amount): boolean {
  return typeof before === "object" || typeof after === "object" || after > before
}

/** How much a call counts. Tokens are no number that could be compared with calls. */
export function incrementChange(before: Amount | undefined, after: Amount | undefined): Finding {
  const words = `a call counts ${amountWords(after ?? 1)}, not ${amountWords(before ?? 1)}`
  return grows(after ?? 1, before ?? 1) ? opens(words) : closes(words)
}

/** Which calls count. Fewer that count leave more that pass. */
export function countedChange(before: Expression | undefined, after: Expression | undefined): Finding {
  if (after === undefined) return closes("every call counts now")
  if (before === undefined) return opens("only calls that fit the condition count")
  const isCel = before.lang === "cel" && after.lang === "cel"
  switch (isCel ? compareTests(before.text, after.text) : "other") {
    case "same":
      return neutral("the same calls count, by other words")
    case "wider":
      return closes("more calls count")
    case "narrower":
      return opens("fewer calls count")
    default:
      return opens("other calls count")
  }
}

/** A response header that says how much is left of a limit, or how long to wait. */
export function toldInHeader(before: string | undefined, after: string | undefined): Finding[] {
  return [
    ...(before === undefined ? [] : [breaking(`callers do not get \`${before}\` from here any more`)]),
    ...(after === undefined ? [] : [neutral(`callers get \`${after}\``)]),
  ]
}

/** Another variable for what a limit tells. */
export const otherVariable = () => neutral("it is in another variable")
