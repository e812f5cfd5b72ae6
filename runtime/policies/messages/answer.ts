import type { Expression } from "../../plan/text.ts"

/**
 * All problems a client can get, by stable name: the last part of `type` in the problem body. Status, title and text are in
 * runtime/gateway/exchange/problem.ts.
 */
export type ProblemName =
  | "invalid-request"
  | "invalid-path"
  | "invalid-header"
  | "https-required"
  | "certificate-required"
  | "unauthorized"
  | "signature-missing"
  | "signature-malformed"
  | "signature-invalid"
  | "signature-expired"
  | "signature-replayed"
  | "login-required"
  | "login-invalid"
  | "login-refused"
  | "login-failed"
  | "session-too-large"
  | "sessions-unavailable"
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
  | "misdirected"
  | "header-too-large"
  | "rate-limited"
  | "internal-error"
  | "not-implemented"
  | "bad-gateway"
  | "backend-refused"
  | "permissions-unchanged"
  | "backend-unavailable"
  | "issuer-unavailable"
  | "limits-unavailable"
  | "authorization-unavailable"
  | "overloaded"
  | "gateway-timeout"
  | "version-not-supported"

/** An expression of the plan that failed. `at`: offset in its text, in UTF-16 units, when known. */
export interface FailedExpression {
  readonly expression: Expression
  readonly at: number | undefined
}

/** A failure. The client sees name, status and headers; `cause` goes only to the log. */
export interface Problem {
  readonly kind: "problem"
  readonly name: ProblemName
  /** Set when the status differs from the default of the name. */
  readonly status?: number | undefined
  /** Names and values alternate. */
  readonly headers?: readonly string[] | undefined
  readonly cause?: string | undefined
  /** Stable identifier for `error.reason` in on-error sections; that of Azure API Management where one exists (`TokenExpired`). */
  readonly reason?: string | undefined
  /** Text for the client, from the configuration; replaces the default text of the name. */
  readonly message?: string | undefined
  /** Text for clients of Azure API Management (`errors apim`) and for on-error sections, where it differs from `message`. */
  readonly apimMessage?: string | undefined
  /** Text for on-error sections, when they may see more than the client. */
  readonly failure?: string | undefined
  /** What exactly was wrong with the message, so that the client can correct it: an extension member of the problem body. */
  readonly errors?: readonly ProblemDetail[] | undefined
  /** Number of errors that are not listed. */
  readonly errorsLeftOut?: number | undefined
  /** The expression that failed, to report its place. */
  readonly expression?: FailedExpression | undefined
  /** For `any-of`: whether the request contained the credential that was refused. */
  readonly presented?: boolean | undefined
}

/** A response created by a policy. `headers`: names and values alternate, without Content-Length. */
export interface DirectAnswer {
  readonly kind: "answer"
  readonly status: number
  /** Reason phrase; undefined: the standard one. */
  readonly reason?: string | undefined
  readonly headers: readonly string[]
  readonly body: Buffer | undefined
  /** Why the response is not the requested one, when its status does not show it; for operators. */
  readonly cause?: string | undefined
  /** It refuses the credential of the request, for example by a redirect to a login: for `any-of`, which tries other credentials first. */
  readonly refuses?: true
}

/** The cache has set the response of the exchange; processing continues after the step that stored it. */
export interface CacheHit {
  readonly kind: "found"
}

/** A result that ends a section. */
export type Answer = Problem | DirectAnswer | CacheHit

/** The optional members of a problem; see `Problem`. */
export type ProblemOptions = Omit<Problem, "kind" | "name">

/** One error in a message. `pointer` is a JSON Pointer (RFC 6901) into the body, or the name of a parameter. */
export interface ProblemDetail {
  readonly in: "body" | "path" | "query" | "header" | "cookie"
  readonly pointer: string
  readonly message: string
}

// Kept outside the errors, because the expression languages that create them do not know plans.
const expressions = new WeakMap<object, Expression>()

/** Creates a problem. */
export function problem(name: ProblemName, options: ProblemOptions = {}): Problem {
  return { kind: "problem", name, ...options }
}

/** The challenge of a 401 for a client certificate; no scheme is registered for it (RFC 9110 §11.1). */
export const certificateChallenge = "Client-Certificate"

/** `reason` of a problem: the JSON of a body has too many values. */
export const jsonTooLarge = "JsonTooLarge"

/** Thrown deep inside an evaluation when the request must be refused; `runSteps` turns it into its answer. */
export class Refused extends Error {
  override readonly name = "Refused"
  readonly answer: Answer

  constructor(answer: Answer) {
    super(answer.kind === "problem" ? (answer.cause ?? answer.name) : "answered")
    this.answer = answer
  }
}

/** Records which expression of the plan threw an error, and returns the error. The innermost expression wins. */
export function blamed(error: unknown, expression: Expression): unknown {
  if (typeof error === "object" && error !== null && !expressions.has(error))
    expressions.set(error, expression)
  return error
}

/** The expression that threw an error; undefined when none did. */
export function failedExpression(error: object, at: number | undefined): FailedExpression | undefined {
  const expression = expressions.get(error)
  return expression === undefined ? undefined : { expression, at }
}
