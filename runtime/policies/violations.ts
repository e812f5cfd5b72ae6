import { type ProblemDetail, problem } from "./answer.ts"
import type { Exchange } from "./exchange.ts"
import type { Outcome } from "./policy.ts"

/** What is done about a violation of a rule; see the plan's `violation`. */
export type Action = "ignore" | "detect" | "prevent"

/** Gathers violations while a message is judged. */
export class Violations {
  readonly #found: ProblemDetail[] = []
  #prevent = false

  add(action: Action, detail: ProblemDetail): void {
    if (action === "ignore") return
    this.#found.push(detail)
    if (action === "prevent") this.#prevent = true
  }

  /** Leaves what was found in the variable; one that must be prevented ends the section: 400 for the request, 502 for the response. */
  settle(exchange: Exchange, of: "request" | "response", variable: string | undefined): Outcome {
    if (this.#found.length === 0) return undefined
    if (variable !== undefined) {
      const before = exchange.variables.get(variable)
      const found = this.#found.map((each) => ({ ...each }))
      exchange.variables.set(variable, Array.isArray(before) ? [...before, ...found] : found)
    }
    if (!this.#prevent) return undefined
    const cause = this.#found.map(({ pointer, message }) => `${pointer} ${message}`).join("; ")
    // What a backend said wrong is for the log: its answers are not the client's to mend.
    return of === "request"
      ? problem("invalid-request", { errors: this.#found, cause, reason: "ValidationFailed" })
      : problem("bad-gateway", { cause, reason: "ValidationFailed" })
  }
}
