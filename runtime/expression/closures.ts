import { ExpressionError } from "./expression-error.ts"
import { charge } from "./meter.ts"
import { UnknownValue } from "./unknown.ts"
import { kindOf } from "./values.ts"

/** The data of one evaluation: the values of the variables, and a slot for each loop variable. */
export interface CelFrame {
  readonly values: unknown
  readonly locals: unknown[]
}

/** The slots of an expression without loop variables. */
export const noLocals: unknown[] = []

/** Returns a value or, in partial evaluation of a condition, an `UnknownValue`. */
export type CelClosure = (frame: CelFrame) => unknown

/** Why a part cannot decide: it failed, or it depends on an unknown parameter. */
export type Undecided = ExpressionError | UnknownValue

// An error takes some microseconds, much more than a normal step.
const failureCost = 50

/** Catches a failure that another part may make irrelevant. Rethrows what must not be absorbed: the cost limit and bugs. */
export function absorbed(error: unknown): ExpressionError {
  if (!(error instanceof ExpressionError) || error.reason === "cost") throw error
  charge(failureCost)
  return error
}

export function notBool(value: unknown): ExpressionError {
  return new ExpressionError("type", `bool is expected, not ${kindOf(value)}`)
}

/** The meaning of a value other than true and false where a bool is needed. */
export function undecidedBy(value: unknown): Undecided {
  return value instanceof UnknownValue ? value : notBool(value)
}

/**
 * Combines two parts, either of which could have decided. An unknown takes precedence over an error, because it may turn out to decide. Of two errors
 * the first takes precedence.
 */
export function bothUndecided(first: Undecided | undefined, second: Undecided): Undecided {
  if (first === undefined) return second
  if (second instanceof UnknownValue) return first instanceof UnknownValue ? first.and(second) : second
  return first
}

/** @throws ExpressionError if the argument is one. */
export function unknownOrThrow(undecided: Undecided): UnknownValue {
  if (undecided instanceof UnknownValue) return undecided
  throw undecided
}

/** The result of `&&` and `||` if the left side does not decide: the right side, if that decides. */
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

/**
 * Evaluates every part before it applies the function, so that all names on which the result depends are found. An error remains an error, whatever the
 * other parts are.
 */
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

/** A call that needs the values of all its parts. */
export function strict(parts: readonly CelClosure[], apply: Apply, isPartial: boolean): CelClosure {
  const [first, second, third] = parts
  if (first === undefined) return () => apply()
  if (isPartial) return partial(parts, apply)
  if (second === undefined) return (frame) => apply(first(frame))
  if (third === undefined) return (frame) => apply(first(frame), second(frame))
  if (parts.length === 3) return (frame) => apply(first(frame), second(frame), third(frame))
  return (frame) => apply(...parts.map((part) => part(frame)))
}
