import type { Exchange } from "../exchange.ts"
import { type ProblemDetail, problem } from "../messages/answer.ts"
import type { Outcome } from "../policy.ts"
import type { TraceLog } from "../ports.ts"

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

/** Faults of one message that its sender is told. */
const toldMax = 100

// Of requests whose parameters were judged, until the next step has judged their bodies. The reader of plans sees to it that there is one.
const waiting = new WeakMap<Exchange, Violations>()

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
  readonly #before: Violations | undefined

  constructor(judge: string, log: TraceLog, before?: Violations) {
    this.#judge = judge
    this.#log = log
    this.#before = before
  }

  /** For the body of a request: what of its parameters must be prevented is told with it. */
  static behindParameters(exchange: Exchange, judge: string, log: TraceLog): Violations {
    const before = waiting.get(exchange)
    waiting.delete(exchange)
    return new Violations(judge, log, before)
  }

  /** `name`: what it is about; see `ToldViolation`. */
  add(action: Action, detail: ProblemDetail, rule: ViolatedRule, name: string): void {
    if (action === "ignore") return
    this.#found.push(detail)
    this.#facts.push({ name, rule, action })
  }

  /** As `settle` of a request, but what must be prevented waits for whoever judges the body in the next step. */
  settleWithBody(exchange: Exchange, variable: string | undefined): Outcome {
    if (this.#prevented().length === 0) return this.settle(exchange, "request", variable)
    if (variable !== undefined) this.#leave(exchange, "request", variable)
    waiting.set(exchange, this)
    return undefined
  }

  /**
   * Leaves what was found in the variable. What must be prevented ends the section, 400 for the request, 502 for the response: it alone is told, all that was found is
   * the cause in the log of requests. Where nothing must be, what was detected is a line of the log.
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
    // What a backend said wrong is for the log: its answers are not the client's to mend.
    if (of === "response") return problem("bad-gateway", { cause, reason: "ValidationFailed" })
    return problem("invalid-request", {
      errors: prevented.slice(0, toldMax),
      errorsLeftOut: Math.max(0, prevented.length - toldMax),
      cause,
      reason: "ValidationFailed",
    })
  }

  #prevented(): readonly ProblemDetail[] {
    const own = this.#found.filter((_, index) => this.#facts[index]?.action === "prevent")
    return this.#before === undefined ? own : [...this.#before.#prevented(), ...own]
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
