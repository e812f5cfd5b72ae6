import { type ProblemDetail, problem } from "./answer.ts"
import type { Exchange } from "./exchange.ts"
import type { Outcome } from "./policy.ts"
import type { TraceLog } from "./ports.ts"

/** What is done about a violation of a rule; see the plan's `violation`. */
export type Action = "ignore" | "detect" | "prevent"

/** Which rule was violated, in the words of Azure API Management. */
export type ViolatedRule = "SizeLimit" | "Unspecified" | "IncorrectMessage"

/** A violation as Azure API Management tells it in the variable of a policy. */
export interface ToldViolation {
  /** Of the parameter or field, the media type of a body, the status; empty where it is a matter of the whole. */
  readonly name: string
  readonly type: string
  readonly rule: ViolatedRule
  readonly details: string
  readonly action: Action
}

/** A longer line of the log is cut: many faults of one message are told by its first. */
const charactersMax = 4096

// Beside the lists in variables, which are plain data for native expressions.
const told = new WeakMap<object, readonly ToldViolation[]>()

/** What a list of violations in a variable tells policy documents; undefined for a value that is none. */
export function toldViolations(value: unknown): readonly ToldViolation[] | undefined {
  return typeof value === "object" && value !== null ? told.get(value) : undefined
}

/** Gathers violations while a message is judged. `judge`: the kind of step that judges, for the log. */
export class Violations {
  readonly #judge: string
  readonly #log: TraceLog
  readonly #found: ProblemDetail[] = []
  readonly #facts: { readonly name: string; readonly rule: ViolatedRule; readonly action: Action }[] = []
  #prevent = false

  constructor(judge: string, log: TraceLog) {
    this.#judge = judge
    this.#log = log
  }

  /** `name`: what it is about; see `ToldViolation`. */
  add(action: Action, detail: ProblemDetail, rule: ViolatedRule, name: string): void {
    if (action === "ignore") return
    this.#found.push(detail)
    this.#facts.push({ name, rule, action })
    if (action === "prevent") this.#prevent = true
  }

  /**
   * Leaves what was found in the variable. What must be prevented ends the section, 400 for the request, 502 for the response, and is the cause in
   * the log of requests; what was only detected is a line of the log.
   */
  settle(exchange: Exchange, of: "request" | "response", variable: string | undefined): Outcome {
    if (this.#found.length === 0) return undefined
    if (variable !== undefined) this.#leave(exchange, of, variable)
    const cause = this.#found.map((each) => `${each.in} ${each.pointer} ${each.message}`).join("; ")
    if (!this.#prevent) {
      this.#log.write({
        requestId: exchange.id,
        source: this.#judge,
        severity: "information",
        message: cause.slice(0, charactersMax),
        metadata: { message: of },
      })
      return undefined
    }
    // What a backend said wrong is for the log: its answers are not the client's to mend.
    return of === "request"
      ? problem("invalid-request", { errors: this.#found, cause, reason: "ValidationFailed" })
      : problem("bad-gateway", { cause, reason: "ValidationFailed" })
  }

  #leave(exchange: Exchange, of: "request" | "response", variable: string): void {
    const before = exchange.variables.get(variable)
    const earlier: readonly unknown[] = Array.isArray(before) ? before : []
    const list = [...earlier, ...this.#found.map((each) => ({ ...each }))]
    const own = this.#facts.map((fact, index): ToldViolation => {
      const { in: place, pointer, message } = this.#found[index] as ProblemDetail
      return { ...fact, type: typeOf(place, pointer, of), details: `${pointer || place} ${message}` }
    })
    told.set(list, [...(toldViolations(before) ?? []), ...own])
    exchange.variables.set(variable, list)
  }
}

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
