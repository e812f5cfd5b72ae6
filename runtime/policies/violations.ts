import { type ProblemDetail, problem } from "./answer.ts"
import type { Exchange } from "./exchange.ts"
import type { Outcome } from "./policy.ts"
import type { TraceLog } from "./ports.ts"

/** What is done about a violation of a rule; see the plan's `violation`. */
export type Action = "ignore" | "detect" | "prevent"

/** A longer line of the log is cut: many faults of one message are told by its first. */
const charactersMax = 4096

/** Gathers violations while a message is judged. `judge`: the kind of step that judges, for the log. */
export class Violations {
  readonly #judge: string
  readonly #log: TraceLog
  readonly #found: ProblemDetail[] = []
  #prevent = false

  constructor(judge: string, log: TraceLog) {
    this.#judge = judge
    this.#log = log
  }

  add(action: Action, detail: ProblemDetail): void {
    if (action === "ignore") return
    this.#found.push(detail)
    if (action === "prevent") this.#prevent = true
  }

  /**
   * Leaves what was found in the variable. What must be prevented ends the section, 400 for the request, 502 for the response, and is the cause in
   * the log of requests; what was only detected is a line of the log.
   */
  settle(exchange: Exchange, of: "request" | "response", variable: string | undefined): Outcome {
    if (this.#found.length === 0) return undefined
    if (variable !== undefined) {
      const before = exchange.variables.get(variable)
      const found = this.#found.map((each) => ({ ...each }))
      exchange.variables.set(variable, Array.isArray(before) ? [...before, ...found] : found)
    }
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
}
