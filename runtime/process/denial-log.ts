import { explanationSummary, explanationText } from "../check/explain-text.ts"
import type { CheckAnswer, CheckRequest } from "../check/ports.ts"
import type { Decision } from "../policies/exchange.ts"
import type { Log } from "../telemetry/log.ts"
import { LogBudget } from "./log-budget.ts"

const treeMax = 4_000

/** What a `DenialLog` needs. `ask` is the engine as the running plan knows its stores. */
export interface DenialLogParts {
  readonly ask: (store: string, request: CheckRequest) => CheckAnswer | Promise<CheckAnswer>
  readonly log: Log
  /** Milliseconds of a clock that never goes back. */
  readonly now?: (() => number) | undefined
}

/**
 * Writes to the log why `require` refused, under the request's id: a line of its own, made after the client has its answer, one at a time. With a log that
 * does not take `info` nothing is asked. Refusals beyond the rate are counted, and the next line says how many.
 */
export class DenialLog {
  readonly #ask: DenialLogParts["ask"]
  readonly #log: Log
  readonly #budget: LogBudget
  #busy = false

  constructor({ ask, log, now }: DenialLogParts) {
    this.#ask = ask
    this.#log = log
    this.#budget = new LogBudget(now)
  }

  /** A request was refused. Returns at once. */
  refused(requestId: string, decision: Decision): void {
    if (!this.#log.isLevelEnabled("info")) return
    if (this.#busy || !this.#budget.take()) {
      this.#budget.skip()
      return
    }
    this.#busy = true
    setImmediate(() => {
      void this.#explain(requestId, decision).finally(() => {
        this.#busy = false
      })
    })
  }

  async #explain(requestId: string, { store, user, relation, object }: Decision): Promise<void> {
    // A decision point has said what it says.
    if (store === undefined) return
    const line = { request_id: requestId, decision: { store, user, relation, object } }
    try {
      const question = { user, relation, object, explain: true, ternary: true }
      const { explanation, revision, allowed } = await this.#ask(store, question)
      if (explanation === undefined) return
      const why = allowed ? "allowed by now" : explanationSummary(explanation)
      const text = explanationText(explanation)
      const explained = text.length <= treeMax ? text : `${text.slice(0, treeMax - 1)}…`
      const count = this.#budget.skipped()
      const skipped = count > 0 ? { not_explained: count } : {}
      this.#log.info({ ...line, revision, why, explanation: explained, ...skipped }, "refused")
    } catch (error) {
      this.#log.info(
        { ...line, why: `not known: ${error instanceof Error ? error.message : error}` },
        "refused",
      )
    }
  }
}
