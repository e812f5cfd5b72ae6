import type { Exchange } from "../exchange.ts"
import type { LateCount } from "./late-count.ts"

/** Names of headers and variables by which a limit or a quota tells what is left, and what the call counted. */
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
 * Tells the tokens of a call, and what is left without them, as soon as an answer says them that is no stream: that one passes while it comes, and what was
 * told when the call came stays. `left`: what was left then, `first` counted already; undefined where nobody can say.
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
