import type { Amount, Counting } from "../../plan/step-values.ts"
import { type Exchange, requestBody, responseBody } from "../exchange.ts"
import type { Provision } from "../policy.ts"
import { compileCount, compileFlag, compileTest } from "../values/value.ts"
import { answeredUsage, estimatePrompt, whenUsed } from "./token-usage.ts"

/** Counting at the end of the exchange. */
export interface LateCount {
  /** The amount to count before the request is sent: the estimated tokens of its prompt. */
  readonly ahead: (exchange: Exchange) => number
  /** After the exchange has ended, calls `count` with the rest of the amount. `ahead` was counted before. */
  readonly later: (exchange: Exchange, ahead: number, count: (amount: number) => void) => void
  /** Reports the tokens of a response before it is sent, and how many more than `ahead` will be counted. Undefined: the limit does not count tokens. */
  readonly answered?: (exchange: Exchange, ahead: number, tell: (total: number, more: number) => void) => void
}

/**
 * For limits whose condition or increment depends on the response. When they read its body, a copy is kept while it streams. A condition or increment
 * without a value at the end (client disconnected, body larger than the buffer) counts as 1; tokens are estimated. Undefined: everything is known
 * when the request arrives.
 */
export function compileLateCount(
  { countIf, increment = 1 }: Pick<Counting, "countIf" | "increment">,
  provision: Provision,
): LateCount | undefined {
  if (countIf === undefined && typeof increment === "number") return undefined
  const counts = countIf === undefined ? () => true : compileTest(countIf, provision)
  if (isTokens(increment)) return countTokens(increment, counts, provision)
  const amountOf = compileCount(increment, provision)
  const readsAnswer = (provision.needed & responseBody) !== 0
  const later: LateCount["later"] = (exchange, _, count) => {
    if (readsAnswer) exchange.keepAnswer()
    exchange.whenOver(() => {
      const decide = () => {
        if (known(() => counts(exchange), true)) count(known(() => amountOf(exchange), 1))
      }
      const loading = readsAnswer ? exchange.load(responseBody) : undefined
      if (loading === undefined) decide()
      else loading.then(decide, decide)
    })
  }
  return { ahead: () => 0, later }
}

type Tokens = Extract<Amount, { tokens: unknown }>

function isTokens(amount: Amount): amount is Tokens {
  return typeof amount === "object" && "tokens" in amount
}

/** Counts the tokens of a model's response: the estimate first, and the difference when the response is known. */
function countTokens(
  { tokens }: Tokens,
  counts: (exchange: Exchange) => boolean,
  provision: Provision,
): LateCount {
  const estimates = compileFlag(tokens.estimatePrompt, provision)
  if (tokens.estimatePrompt !== false) provision.need(requestBody)
  const moreThan = (ahead: number, total: number, exchange: Exchange): number =>
    known(() => counts(exchange), true) ? Math.max(0, total - ahead) : 0
  return {
    ahead: (exchange) => (estimates(exchange) ? estimatePrompt(exchange) : 0),
    later: (exchange, ahead, count) =>
      whenUsed(exchange, ({ total }) => {
        if (known(() => counts(exchange), true)) count(Math.max(0, total - ahead))
      }),
    answered: (exchange, ahead, tell) =>
      exchange.whenAnswered(() =>
        answeredUsage(exchange, ({ total }) => tell(total, moreThan(ahead, total, exchange))),
      ),
  }
}

function known<T>(read: () => T, otherwise: T): T {
  try {
    return read()
  } catch {
    return otherwise
  }
}
