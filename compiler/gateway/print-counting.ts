import type { StepOf } from "../../runtime/plan/steps.ts"
import { amountWords } from "../analysis/counting.ts"
import type { Printing } from "./print.ts"

type Counted = Partial<Omit<StepOf<"rate-limit">, "kind" | "callsMax">>

/** Signs of a limit by the word of the language. */
const signs = {
  "retry-after": ["retryAfterHeader", "retryAfterVariable"],
  remaining: ["remainingHeader", "remainingVariable"],
  total: ["totalHeader", "totalVariable"],
  consumed: ["consumedHeader", "consumedVariable"],
} as const

/** The statements in the block of a limit: what counts, how much, and which headers and variables report it. */
export function countingLines(step: Counted, printing: Printing): string[] {
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
