/** Why an evaluation gave no value. */
export type ExpressionErrorReason = "no-such-key" | "type" | "overflow" | "divide-by-zero" | "cost" | "other"

/**
 * An evaluation that has no value: thrown by compiled expressions and by the result converters.
 * `message` is lower-case, without a final stop and made for logs: it may name keys of the data, never values.
 */
export class ExpressionError extends Error {
  override readonly name = "ExpressionError"
  readonly reason: ExpressionErrorReason

  constructor(reason: ExpressionErrorReason, message: string) {
    // Without a stack: a missing claim is an everyday outcome, the frames would be closures that say nothing, and collecting
    // them costs ten times as much as the evaluation.
    const { stackTraceLimit } = Error
    Error.stackTraceLimit = 0
    super(message)
    Error.stackTraceLimit = stackTraceLimit
    this.reason = reason
  }
}

/**
 * A program in C# that came to no value. `reason` is an exception of C# (`FormatException`) or `limit`; `message` is for logs and may hold data
 * of the request; `at` is an offset in the source of the expression, where one is known.
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
