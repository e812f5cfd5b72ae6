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
    super(message)
    this.reason = reason
  }
}
