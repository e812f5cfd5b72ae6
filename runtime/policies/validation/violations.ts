import type { Exchange } from "../exchange.ts"
import { type ProblemDetail, problem } from "../messages/answer.ts"
import type { Outcome } from "../policy.ts"
import type { TraceLog } from "../ports.ts"

/** How a violation is handled; see `violation` in the plan. */
export type Action = "ignore" | "detect" | "prevent"

/** The violated rule, in the terms of Azure API Management. */
export type ViolatedRule = "SizeLimit" | "Unspecified" | "IncorrectMessage"

/** A violation in the form of Azure API Management, for the variable of a policy. */
export interface ReportedViolation {
  /** Name of the parameter or field, media type of a body, or status; empty when it concerns the whole message. */
  readonly name: string
  readonly type: string
  readonly rule: ViolatedRule
  readonly details: string
  readonly action: Action
}

/** Longer log lines are truncated. */
const charactersMax = 4096

/** Maximum number of errors that the client gets. */
const reportedMax = 100

// Violations in the parameters of requests, until the next step has validated their bodies. The reader of plans ensures that there is one.
const waiting = new WeakMap<Exchange, Violations>()

// Kept outside the lists in variables, which are plain data for native expressions.
const reported = new WeakMap<object, readonly ReportedViolation[]>()

/** A list of violations in a variable, in the form for policy documents; undefined for any other value. */
export function reportedViolations(value: unknown): readonly ReportedViolation[] | undefined {
  return typeof value === "object" && value !== null ? reported.get(value) : undefined
}

/** Collects violations while a message is validated. `judge`: the kind of the validating step, for the log. */
export class Violations {
  readonly #judge: string
  readonly #log: TraceLog
  readonly #found: ProblemDetail[] = []
  readonly #facts: { readonly name: string; readonly rule: ViolatedRule; readonly action: Action }[] = []
  readonly #before: Violations | undefined

  constructor(judge: string, log: TraceLog, before?: Violations) {
    this.#judge = judge
    this.#log = log
    this.#before = before
  }

  /** For the body of a request: reports violations of its parameters together with those of the body. */
  static behindParameters(exchange: Exchange, judge: string, log: TraceLog): Violations {
    const before = waiting.get(exchange)
    waiting.delete(exchange)
    return new Violations(judge, log, before)
  }

  /** `name`: what the violation concerns; see `ReportedViolation`. */
  add(action: Action, detail: ProblemDetail, rule: ViolatedRule, name: string): void {
    if (action === "ignore") return
    this.#found.push(detail)
    this.#facts.push({ name, rule, action })
  }

  /** As `settle` for a request, but leaves violations to prevent to the next step, which validates the body. */
  settleWithBody(exchange: Exchange, variable: string | undefined): Outcome {
    if (this.#prevented().length === 0) return this.settle(exchange, "request", variable)
    if (variable !== undefined) this.#leave(exchange, "request", variable)
    waiting.set(exchange, this)
    return undefined
  }

  /**
   * Stores the violations in the variable. Violations to prevent end the section with 400 for the request, 502 for the response; the client gets only
   * those, the log gets all as the cause. Without any to prevent, the detected ones become a line in the log.
   */
  settle(exchange: Exchange, of: "request" | "response", variable: string | undefined): Outcome {
    const found = this.#before === undefined ? this.#found : [...this.#before.#found, ...this.#found]
    if (found.length === 0) return undefined
    if (variable !== undefined && this.#found.length > 0) this.#leave(exchange, of, variable)
    const prevented = this.#prevented()
    const cause = found
      .map((each) => `${each.in} ${each.pointer} ${each.message}`)
      .join("; ")
      .slice(0, charactersMax)
    if (prevented.length === 0) {
      this.#log.write({
        requestId: exchange.id,
        source: this.#judge,
        severity: "information",
        message: cause,
        metadata: { message: of },
      })
      return undefined
    }
    // Errors of a backend go only to the log, because the client cannot correct them.
    if (of === "response") return problem("bad-gateway", { cause, reason: "ValidationFailed" })
    return problem("invalid-request", {
      errors: prevented.slice(0, reportedMax),
      errorsLeftOut: Math.max(0, prevented.length - reportedMax),
      cause,
      reason: "ValidationFailed",
    })
  }

  #prevented(): readonly ProblemDetail[] {
    const own = this.#found.filter((_, index) => this.#facts[index]?.action === "prevent")
    return this.#before === undefined ? own : [...this.#before.#prevented(), ...own]
  }

  /** Adds the violations to a variable, after those of earlier steps. */
  #leave(exchange: Exchange, of: "request" | "response", variable: string): void {
    const before = exchange.variables.get(variable)
    const earlier: readonly unknown[] = Array.isArray(before) ? before : []
    const list = [...earlier, ...this.#found.map((each) => ({ ...each }))]
    const own = this.#facts.map((fact, index): ReportedViolation => {
      const { in: place, pointer, message } = this.#found[index] as ProblemDetail
      return { ...fact, type: typeOf(place, pointer, of), details: `${pointer || place} ${message}` }
    })
    reported.set(list, [...(reportedViolations(before) ?? []), ...own])
    exchange.variables.set(variable, list)
  }
}

/** The type of a violation, as Azure API Management names it. */
function typeOf(place: ProblemDetail["in"], pointer: string, of: "request" | "response"): string {
  const side = of === "request" ? "Request" : "Response"
  switch (place) {
    case "body":
      return `${side}Body`
    case "header":
      return pointer === "status" ? "StatusCode" : `${side}Header`
    case "query":
      return "QueryParameter"
    case "path":
      return "PathParameter"
    case "cookie":
      return "Cookie"
  }
}
