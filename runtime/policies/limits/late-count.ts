import type { Amount, Counting } from "../../plan/step-values.ts"
import { type Exchange, requestBody, responseBody } from "../exchange.ts"
import type { Provision } from "../policy.ts"
import { compileCount, compileFlag, compileTest } from "../values/value.ts"
import { answeredUsage, estimatePrompt, whenUsed } from "./token-usage.ts"

/** Counting that waits for the end of the exchange. */
export interface LateCount {
  /** What counts before the request is sent: the tokens its prompt is likely to have. */
  readonly ahead: (exchange: Exchange) => number
  /** Tells `count` how much more the exchange counts, once it has ended. `ahead` was counted before. */
  readonly later: (exchange: Exchange, ahead: number, count: (amount: number) => void) => void
  /** Tells the tokens of an answer before it is sent, and how many more than `ahead` will count. Undefined: no tokens are counted. */
  readonly answered?: (exchange: Exchange, ahead: number, tell: (total: number, more: number) => void) => void
}

/**
 * Whether and how much is counted may depend on the answer, also on its body: of that a copy is kept while it passes. What has no value when the exchange
 * has ended (a client that left, a body that is larger than may be held) counts, as 1; of tokens it is estimated. Undefined: all is known when the call comes.
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
