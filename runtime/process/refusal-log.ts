import type { RejectedRequest } from "../authz/ports.ts"
import type { Log } from "../telemetry/log.ts"
import { LogBudget } from "./log-budget.ts"

const pathMax = 200

/** Writes to the log whom the engine's listener did not let in, so that an operator sees who has the wrong key. Beyond the rate they are counted, and the next line says how many. */
export class RefusalLog {
  readonly #log: Log
  readonly #budget: LogBudget

  constructor(log: Log, now?: () => number) {
    this.#log = log
    this.#budget = new LogBudget(now)
  }

  refused({ requestId, path, message, caller, ...line }: RejectedRequest): void {
    if (!this.#budget.take()) {
      this.#budget.skip()
      return
    }
    const who = caller === undefined ? {} : { caller }
    const skipped = this.#budget.skipped()
    const more = skipped > 0 ? { not_told: skipped } : {}
    const fields = { request_id: requestId, ...line, path: path.slice(0, pathMax), reason: message }
    this.#log.warn({ ...fields, ...who, ...more }, "the engine refused a caller")
  }
}
