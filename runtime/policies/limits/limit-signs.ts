import type { Exchange } from "../exchange.ts"
import type { LateCount } from "./late-count.ts"

/** Names of the headers and variables for what is left of a limit or quota and for what the call consumed. */
export interface LimitSigns {
  readonly remainingHeader?: string | undefined
  readonly remainingVariable?: string | undefined
  readonly consumedHeader?: string | undefined
  readonly consumedVariable?: string | undefined
}

export function tellRemaining(signs: LimitSigns, exchange: Exchange, left: number): void {
  if (signs.remainingHeader !== undefined) exchange.answerOnce(signs.remainingHeader, String(left))
  if (signs.remainingVariable !== undefined) exchange.variables.set(signs.remainingVariable, BigInt(left))
}

/**
 * Reports the tokens of a call and what is left, once the body of the response is available. Streams are not held for this: they keep the numbers
 * from the arrival of the call. `left`: what was left at arrival, with `first` already subtracted; undefined when it is not known.
 */
export function tellUsage(
  signs: LimitSigns,
  exchange: Exchange,
  { answered }: LateCount,
  first: number,
  left: number | undefined,
): void {
  const { remainingHeader, remainingVariable, consumedHeader, consumedVariable } = signs
  const names = [remainingHeader, remainingVariable, consumedHeader, consumedVariable]
  if (answered === undefined || names.every((name) => name === undefined)) return
  if (consumedVariable !== undefined) exchange.variables.set(consumedVariable, BigInt(first))
  answered(exchange, first, (total, more) => {
    if (consumedHeader !== undefined) exchange.answerOnce(consumedHeader, String(total))
    if (consumedVariable !== undefined) exchange.variables.set(consumedVariable, BigInt(total))
    if (left !== undefined) tellRemaining(signs, exchange, Math.max(0, left - more))
  })
}
