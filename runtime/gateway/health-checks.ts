import type { HealthPlan } from "../plan/backend.ts"
import type { Target } from "./target.ts"

/** Nothing in the body of a health check is read; beyond this the connection is given up. */
const bodyBytesMax = 64 * 1024

/** Asks the targets of a backend by itself whether they are well, until it is closed. */
export class HealthChecks {
  readonly #plan: HealthPlan
  readonly #timers: NodeJS.Timeout[] = []
  #closed = false

  constructor(plan: HealthPlan, targets: readonly Target[]) {
    this.#plan = plan
    for (const [index, target] of targets.entries()) {
      // Spread over the period: many targets are not asked in the same moment.
      const first = setTimeout(() => this.#watch(target), (plan.everyMs * index) / targets.length / 2)
      this.#timers.push(first.unref())
    }
  }

  close(): void {
    this.#closed = true
    for (const timer of this.#timers) clearTimeout(timer)
  }

  #watch(target: Target): void {
    const { downAfter, upAfter, everyMs } = this.#plan
    let good = 0
    let bad = 0
    let asking = false
    const ask = async () => {
      if (asking) return
      asking = true
      const well = await this.#ask(target)
      asking = false
      if (this.#closed) return
      good = well ? good + 1 : 0
      bad = well ? 0 : bad + 1
      if (bad >= downAfter) target.down = true
      else if (good >= upAfter) target.down = false
      target.checked = true
    }
    this.#timers.push(setInterval(() => void ask(), everyMs).unref())
    void ask()
  }

  async #ask({ pool, place }: Target): Promise<boolean> {
    const { method, path, timeoutMs, statuses } = this.#plan
    try {
      const { statusCode, body } = await pool.request({
        method,
        path: place.basePath + path,
        headers: { "user-agent": "sallyport-health" },
        signal: AbortSignal.timeout(timeoutMs),
      })
      await body.dump({ limit: bodyBytesMax })
      return statuses.includes(statusCode)
    } catch {
      return false
    }
  }
}
