/** Why an evaluation has no value. */
export type ExpressionErrorReason = "no-such-key" | "type" | "overflow" | "divide-by-zero" | "cost" | "other"

/**
 * An evaluation without a value, thrown by compiled expressions and by the result converters. `message` is for logs: lower case, without a final stop.
 * It may contain keys of the data, never values.
 */
export class ExpressionError extends Error {
  override readonly name = "ExpressionError"
  readonly reason: ExpressionErrorReason

  constructor(reason: ExpressionErrorReason, message: string) {
    // Without a stack: a missing claim is common, the frames would be meaningless closures, and collecting them takes ten times as long as the
    // evaluation.
    const { stackTraceLimit } = Error
    Error.stackTraceLimit = 0
    super(message)
    Error.stackTraceLimit = stackTraceLimit
    this.reason = reason
  }
}

/**
 * A C# program without a value. `reason` is an exception of C# (`FormatException`) or `limit`. `message` is for logs and may contain request data. `at`
 * is an offset in the source of the expression, if known.
 */
export class CsharpError extends Error {
  override readonly name = "CsharpError"
  readonly reason: string
  readonly at: number | undefined

  constructor(reason: string, message: string, at: number | undefined) {
    const { stackTraceLimit } = Error
    Error.stackTraceLimit = 0
    super(message)
    Error.stackTraceLimit = stackTraceLimit
    this.reason = reason
    this.at = at
  }
}
