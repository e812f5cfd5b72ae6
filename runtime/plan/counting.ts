import * as z from "zod"
import type { StepFacts } from "./facts.ts"
import { headerName } from "./header-name.ts"
import { bodyRead, type Place, wholeResponse } from "./places.ts"
import { count, flag, variableName } from "./step-values.ts"
import { expression, text } from "./text.ts"

/**
 * How much a call counts: a number, or the tokens a language model used for it, as its answer says (`usage` of OpenAI's and Anthropic's APIs, `usageMetadata` of
 * Gemini's). With `estimatePrompt` those of the prompt are estimated and counted before it is sent.
 */
export const amount = z.union([count, z.strictObject({ tokens: z.strictObject({ estimatePrompt: flag }) })])

export type Amount = z.infer<typeof amount>

/** Which of the tokens a language model used for a call, as its answer says. */
export const tokenKind = z.enum(["prompt", "completion", "total"])

export type TokenKind = z.infer<typeof tokenKind>

/** What a limit counts by; the first that the request has is taken. `ip` is always there. */
export const limitKey = z.union([
  z.strictObject({ by: z.literal("subscription") }),
  z.strictObject({ by: z.literal("ip") }),
  z.strictObject({ by: z.literal("claim"), claim: z.string().min(1).max(256) }),
  z.strictObject({ by: z.literal("text"), text }),
])

export type LimitKey = z.infer<typeof limitKey>

/** Names of headers and variables a limit tells its state by, besides the standard ones. */
export const limitSigns = {
  retryAfterHeader: headerName.optional(),
  retryAfterVariable: variableName.optional(),
  remainingHeader: headerName.optional(),
  remainingVariable: variableName.optional(),
  totalHeader: headerName.optional(),
  totalVariable: variableName.optional(),
  /** How many tokens the call counted. As what is left after it, this is known when an answer has come that is no stream. */
  consumedHeader: headerName.optional(),
  consumedVariable: variableName.optional(),
}

/** What a step counts, and by what. */
export const counted = {
  counter: z.string().min(1).max(512),
  keys: z.array(limitKey).min(1).max(8),
  countIf: expression.optional(),
  increment: amount.optional(),
}

/** Which calls are counted, how much one counts, and by which names a limit tells its state. */
export type Counting = Omit<
  z.infer<z.ZodObject<typeof counted & typeof limitSigns, z.core.$strict>>,
  "counter" | "keys"
>

function keysRead(keys: readonly LimitKey[]): Place[] {
  return keys.flatMap(({ by }): Place[] =>
    by === "claim" ? ["caller"] : by === "subscription" ? ["subscription"] : by === "ip" ? ["address"] : [],
  )
}

type Counted = z.infer<z.ZodObject<typeof counted, z.core.$strict>>

/** Facts of a step that counts. What is counted may depend on the answer, and is then known when the exchange is over. */
export function countingFacts({ keys, counter, countIf, increment }: Counted): StepFacts {
  const place: Place = `counter:${counter}`
  const isTokens = typeof increment === "object" && "tokens" in increment
  const isLate = countIf !== undefined || typeof increment === "object"
  const estimated = isTokens && increment.tokens.estimatePrompt !== false
  return {
    reads: [place, ...keysRead(keys), ...(estimated ? bodyRead("request") : [])],
    leaves: [place],
    ends: estimated ? ["refuse", "fail"] : ["refuse"],
    waits: true,
    ...(isLate ? { late: wholeResponse } : {}),
  }
}
