import { ExpressionError } from "./expression-error.ts"
import { charge } from "./meter.ts"
import { kindOf } from "./values.ts"

/** What one evaluation works on: the values of the variables, and a place for each loop variable. */
export interface Frame {
  readonly values: unknown
  readonly locals: unknown[]
}

export type Closure = (frame: Frame) => unknown

/** A variable without a value, where the caller wants to know all such names. Thrown only by conditions. */
export class MissingError extends ExpressionError {
  readonly names: ReadonlySet<string>

  constructor(names: Iterable<string>) {
    super("no-such-key", "a parameter is missing")
    this.names = new Set(names)
  }
}

// An error costs some microseconds (its stack), much more than the steps around it.
const failureCost = 50

/** Takes note of a failure that the other operand may make irrelevant. Throws what nothing absorbs: the cost limit and our own mistakes. */
function absorbed(error: unknown): ExpressionError {
  if (!(error instanceof ExpressionError) || error.reason === "cost") throw error
  charge(failureCost)
  return error
}

/** The failure of two parts: what is missing counts more than what is wrong, and all missing names are wanted. */
export function mergeFailures(first: ExpressionError | undefined, second: unknown): ExpressionError {
  const other = absorbed(second)
  if (first instanceof MissingError && other instanceof MissingError) {
    return new MissingError([...first.names, ...other.names])
  }
  return other instanceof MissingError ? other : (first ?? other)
}

export function notBool(value: unknown): ExpressionError {
  return new ExpressionError("type", `bool is expected, not ${kindOf(value)}`)
}

/** What `&&` and `||` give when the left side failed: the right side, if it decides alone. */
function afterFailure(failure: ExpressionError, right: Closure, frame: Frame, deciding: boolean): boolean {
  let value: unknown
  try {
    value = right(frame)
  } catch (error) {
    throw mergeFailures(failure, error)
  }
  if (value === deciding) return deciding
  throw failure
}

/** `||` (`deciding` true) or `&&` (false): one side that decides makes a failure of the other irrelevant, in both orders. */
export function logic(left: Closure, right: Closure, deciding: boolean): Closure {
  return (frame) => {
    let value: unknown
    try {
      value = left(frame)
    } catch (error) {
      return afterFailure(absorbed(error), right, frame, deciding)
    }
    if (value === deciding) return deciding
    if (typeof value !== "boolean") return afterFailure(notBool(value), right, frame, deciding)
    const other = right(frame)
    if (typeof other === "boolean") return other
    throw notBool(other)
  }
}

export function conditional(condition: Closure, whenTrue: Closure, whenFalse: Closure): Closure {
  return (frame) => {
    const value = condition(frame)
    if (value === true) return whenTrue(frame)
    if (value === false) return whenFalse(frame)
    throw notBool(value)
  }
}

type Apply = (...values: unknown[]) => unknown

/** Evaluates every part even after a failure, so that all missing names are found. */
function collecting(parts: readonly Closure[], apply: Apply): Closure {
  return (frame) => {
    let failure: ExpressionError | undefined
    const values = parts.map((part) => {
      try {
        return part(frame)
      } catch (error) {
        failure = mergeFailures(failure, error)
        return undefined
      }
    })
    if (failure !== undefined) throw failure
    return apply(...values)
  }
}

/** A call that needs all its parts. */
export function strict(parts: readonly Closure[], apply: Apply, collect: boolean): Closure {
  const [first, second, third] = parts
  if (first === undefined) return () => apply()
  if (collect) return collecting(parts, apply)
  if (second === undefined) return (frame) => apply(first(frame))
  if (third === undefined) return (frame) => apply(first(frame), second(frame))
  if (parts.length === 3) return (frame) => apply(first(frame), second(frame), third(frame))
  return (frame) => apply(...parts.map((part) => part(frame)))
}
