import { explanationSummary, explanationText } from "../check/explain-text.ts"
import type { CheckAnswer, CheckRequest } from "../check/ports.ts"
import type { Decision } from "../policies/exchange.ts"
import type { Log } from "../telemetry/log.ts"
import { LogBudget } from "./log-budget.ts"

const treeMax = 4_000

/** The dependencies of a `DenialLog`. `ask` is the engine, by the store names of the running plan. */
export interface DenialLogParts {
  readonly ask: (store: string, request: CheckRequest) => CheckAnswer | Promise<CheckAnswer>
  readonly log: Log
  /** Milliseconds of a monotonic clock. */
  readonly now?: (() => number) | undefined
}

/**
 * Logs why `require` refused a request: one line under the request's id, after the response was sent, one explanation at a time. When the
 * log omits `info`, it does not ask the engine. Refusals above the rate are counted, and the next line contains their number.
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

  /** Records a refused request. Returns at once. */
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

  /** Asks the engine for the reason of a refusal, after the response was sent, and logs it. */
  async #explain(requestId: string, { store, user, relation, object }: Decision): Promise<void> {
    // A decision point gives its own reason.
    if (store === undefined) return
    const line = { request_id: requestId, decision: { store, user, relation, object } }
    try {
      const question = { user, relation, object, explain: true, ternary: true }
      const { explanation, revision, allowed } = await this.#ask(store, question)
      if (explanation === undefined) return
      const why = allowed ? "allowed in the meantime" : explanationSummary(explanation)
      const text = explanationText(explanation)
      const explained = text.length <= treeMax ? text : `${text.slice(0, treeMax - 1)}…`
      const count = this.#budget.skipped()
      const skipped = count > 0 ? { not_explained: count } : {}
      this.#log.info({ ...line, revision, why, explanation: explained, ...skipped }, "refused")
    } catch (error) {
      this.#log.info(
        { ...line, why: `unknown: ${error instanceof Error ? error.message : error}` },
        "refused",
      )
    }
  }
}
