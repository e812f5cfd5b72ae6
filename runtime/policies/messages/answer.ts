import type { Expression } from "../../plan/text.ts"

/**
 * Every failure a client can be told, by its stable name: the last part of `type` in the problem body. Status, title and text are rows of
 * runtime/gateway/exchange/problem.ts.
 */
export type ProblemName =
  | "invalid-request"
  | "invalid-path"
  | "invalid-header"
  | "unauthorized"
  | "insufficient-scope"
  | "forbidden"
  | "not-found"
  | "method-not-allowed"
  | "request-timeout"
  | "sunset"
  | "body-too-large"
  | "target-too-long"
  | "unsupported-coding"
  | "expectation-failed"
  | "header-too-large"
  | "rate-limited"
  | "internal-error"
  | "not-implemented"
  | "bad-gateway"
  | "backend-refused"
  | "permissions-unchanged"
  | "backend-unavailable"
  | "issuer-unavailable"
  | "authorization-unavailable"
  | "overloaded"
  | "gateway-timeout"
  | "version-not-supported"

/** An expression of the plan that had no value. `at`: where in its text, in UTF-16 units, where that is known. */
export interface FailedExpression {
  readonly expression: Expression
  readonly at: number | undefined
}

/** A failure. The client sees name, status and headers; `cause` is for the log alone. */
export interface Problem {
  readonly kind: "problem"
  readonly name: ProblemName
  /** Where it is not the status of the name's row. */
  readonly status?: number | undefined
  /** Names and values in turn. */
  readonly headers?: readonly string[] | undefined
  readonly cause?: string | undefined
  /** Stable word for `error.reason` of on-error sections; Azure API Management's where it has one (`TokenExpired`). */
  readonly reason?: string | undefined
  /** What the author of the configuration has the client told, in place of the name's own sentence. */
  readonly message?: string | undefined
  /** What on-error sections are told, where that is more than a client is. */
  readonly failure?: string | undefined
  /** What exactly was wrong with the message, for the client to mend: an extension member of the problem body. */
  readonly errors?: readonly ProblemDetail[] | undefined
  /** How many more there were, which are not told. */
  readonly errorsLeftOut?: number | undefined
  /** The expression that had no value, to tell where it stands. */
  readonly expression?: FailedExpression | undefined
  /** For `any-of`: whether the request brought the credential that was refused. */
  readonly presented?: boolean | undefined
}

/** An answer made by a policy. `headers`: names and values in turn, without Content-Length. */
export interface DirectAnswer {
  readonly kind: "answer"
  readonly status: number
  /** Reason phrase; undefined: the usual one. */
  readonly reason?: string | undefined
  readonly headers: readonly string[]
  readonly body: Buffer | undefined
  /** Why it is not what was asked for, where its status does not say so; for operators. */
  readonly cause?: string | undefined
}

/** The response of the exchange was found without asking a backend: outbound goes on behind the step that kept it. */
export interface CacheHit {
  readonly kind: "found"
}

/** What ends a section. */
export type Answer = Problem | DirectAnswer | CacheHit

/** What a problem may say besides its name; see `Problem`. */
export interface ProblemOptions {
  readonly status?: number | undefined
  readonly headers?: readonly string[] | undefined
  readonly cause?: string | undefined
  readonly reason?: string | undefined
  readonly message?: string | undefined
  readonly failure?: string | undefined
  readonly errors?: readonly ProblemDetail[] | undefined
  readonly errorsLeftOut?: number | undefined
  readonly presented?: boolean | undefined
  readonly expression?: FailedExpression | undefined
}

/** One thing that is wrong with a message. `pointer` is a JSON Pointer (RFC 6901) into the body, or the name of a parameter. */
export interface ProblemDetail {
  readonly in: "body" | "path" | "query" | "header" | "cookie"
  readonly pointer: string
  readonly message: string
}

// Beside the errors: they are made by the languages, which know nothing of plans.
const expressions = new WeakMap<object, Expression>()

/** Makes a problem. */
export function problem(name: ProblemName, options: ProblemOptions = {}): Problem {
  return { kind: "problem", name, ...options }
}

/** `reason` of a problem: a body is JSON of more values than are read. */
export const jsonTooLarge = "JsonTooLarge"

/** Thrown where a step meets something it must refuse deep inside an evaluation; whoever runs the steps turns it into its answer. */
export class Refused extends Error {
  override readonly name = "Refused"
  readonly answer: Answer

  constructor(answer: Answer) {
    super(answer.kind === "problem" ? (answer.cause ?? answer.name) : "answered")
    this.answer = answer
  }
}

/** Says of an error which expression of the plan threw it, and gives it back. The innermost one counts. */
export function blamed(error: unknown, expression: Expression): unknown {
  if (typeof error === "object" && error !== null && !expressions.has(error))
    expressions.set(error, expression)
  return error
}

/** The expression that threw an error; undefined where none did. */
export function failedExpression(error: object, at: number | undefined): FailedExpression | undefined {
  const expression = expressions.get(error)
  return expression === undefined ? undefined : { expression, at }
}
