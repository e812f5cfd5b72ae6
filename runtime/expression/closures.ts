import { ExpressionError } from "./expression-error.ts"
import { charge } from "./meter.ts"
import { UnknownValue } from "./unknown.ts"
import { kindOf } from "./values.ts"

/** What one evaluation works on: the values of the variables, and a place for each loop variable. */
export interface CelFrame {
  readonly values: unknown
  readonly locals: unknown[]
}

/** The places of an expression without loop variables. */
export const noLocals: unknown[] = []

/** Gives a value or, where conditions are evaluated partially, an `Unknown`. */
export type CelClosure = (frame: CelFrame) => unknown

/** Why a part has no value that decides: it failed, or it depends on what is not known. */
export type Undecided = ExpressionError | UnknownValue

// An error costs some microseconds, much more than the steps around it.
const failureCost = 50

/** Takes note of a failure that another part may make irrelevant. Throws what nothing absorbs: the cost limit and our own mistakes. */
export function absorbed(error: unknown): ExpressionError {
  if (!(error instanceof ExpressionError) || error.reason === "cost") throw error
  charge(failureCost)
  return error
}

export function notBool(value: unknown): ExpressionError {
  return new ExpressionError("type", `bool is expected, not ${kindOf(value)}`)
}

/** What a value other than true and false means where one of them is needed. */
export function undecidedBy(value: unknown): Undecided {
  return value instanceof UnknownValue ? value : notBool(value)
}

/**
 * Both of two parts where either could have decided: what is not known counts more than what is wrong, because it may turn out to
 * decide; of two failures the first counts.
 */
export function bothUndecided(first: Undecided | undefined, second: Undecided): Undecided {
  if (first === undefined) return second
  if (second instanceof UnknownValue) return first instanceof UnknownValue ? first.and(second) : second
  return first
}

/** @throws ExpressionError when that is what it is. */
export function unknownOrThrow(undecided: Undecided): UnknownValue {
  if (undecided instanceof UnknownValue) return undecided
  throw undecided
}

/** What `&&` and `||` give when the left side did not decide by itself: the right side, if that does. */
function withoutLeft(left: Undecided, right: CelClosure, frame: CelFrame, deciding: boolean): unknown {
  let value: unknown
  try {
    value = right(frame)
  } catch (error) {
    return unknownOrThrow(bothUndecided(left, absorbed(error)))
  }
  if (value === deciding) return deciding
  return unknownOrThrow(value === !deciding ? left : bothUndecided(left, undecidedBy(value)))
}

/** `||` (`deciding` true) or `&&` (false): one side that decides makes the other irrelevant, in both orders. */
export function logic(left: CelClosure, right: CelClosure, deciding: boolean): CelClosure {
  return (frame) => {
    let value: unknown
    try {
      value = left(frame)
    } catch (error) {
      return withoutLeft(absorbed(error), right, frame, deciding)
    }
    if (value === deciding) return deciding
    if (value !== !deciding) return withoutLeft(undecidedBy(value), right, frame, deciding)
    const other = right(frame)
    return typeof other === "boolean" ? other : unknownOrThrow(undecidedBy(other))
  }
}

export function conditional(condition: CelClosure, whenTrue: CelClosure, whenFalse: CelClosure): CelClosure {
  return (frame) => {
    const value = condition(frame)
    if (value === true) return whenTrue(frame)
    if (value === false) return whenFalse(frame)
    return unknownOrThrow(undecidedBy(value))
  }
}

export type Apply = (...values: unknown[]) => unknown

/** Looks at every part before it applies, so that all names a result depends on come out. A failure is one whatever the others are. */
function partial(parts: readonly CelClosure[], apply: Apply): CelClosure {
  return (frame) => {
    let unknown: UnknownValue | undefined
    const values = parts.map((part) => {
      const value = part(frame)
      if (value instanceof UnknownValue) unknown = value.and(unknown)
      return value
    })
    return unknown ?? apply(...values)
  }
}

/** A call that needs all its parts. */
export function strict(parts: readonly CelClosure[], apply: Apply, isPartial: boolean): CelClosure {
  const [first, second, third] = parts
  if (first === undefined) return () => apply()
  if (isPartial) return partial(parts, apply)
  if (second === undefined) return (frame) => apply(first(frame))
  if (third === undefined) return (frame) => apply(first(frame), second(frame))
  if (parts.length === 3) return (frame) => apply(first(frame), second(frame), third(frame))
  return (frame) => apply(...parts.map((part) => part(frame)))
}
