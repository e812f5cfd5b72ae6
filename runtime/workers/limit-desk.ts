import type { LocalLimiter } from "../limits/limiter.ts"
import type { ParentCalls, ToWorker } from "./calls.ts"
import { type AdvanceSettings, CounterAdvances } from "./counter-advances.ts"

/** Counters that were not used for this many of their periods are dropped. */
const idlePeriods = 2
const sweepEveryCalls = 4_096

/** The calls of a worker about limits. */
export type LimitCalls = Pick<ParentCalls, "take" | "passed" | "add">

/** The limits of all workers, counted by their parent. */
export class LimitDesk {
  readonly #settings: AdvanceSettings
  readonly #byName = new Map<string, CounterAdvances>()
  readonly #byId = new Map<number, CounterAdvances>()
  #lastId = 0
  /** When a call was last counted for a counter that is not here. */
  #strayMs = Number.NEGATIVE_INFINITY
  #calls = 0

  constructor(limiter: LocalLimiter, workers: number, now: () => number = () => performance.now()) {
    this.#settings = { limiter, workers, now }
  }

  /** The calls that one worker may make. `ended`: call it when the worker has ended. */
  open(worker: ToWorker): { readonly calls: LimitCalls; ended(): void } {
    return {
      calls: {
        take: (counter, key, callsMax, periodSeconds, amount) =>
          this.#counter(counter, periodSeconds, callsMax).take(worker, key, callsMax, amount),
        passed: (id, keys) => this.#byId.get(id)?.report(keys) ?? [],
        add: (counter, key, periodSeconds, amount) => {
          const known = this.#byName.get(nameOf(counter, periodSeconds))
          if (known !== undefined) known.add(key, amount)
          else {
            this.#strayMs = this.#settings.now()
            this.#settings.limiter.add(counter, key, periodSeconds, amount)
          }
        },
      },
      ended: () => {
        for (const counter of this.#byId.values()) counter.ended(worker)
      },
    }
  }

  #counter(counter: string, periodSeconds: number, callsMax: number): CounterAdvances {
    if (++this.#calls % sweepEveryCalls === 0) this.#sweep()
    const name = nameOf(counter, periodSeconds)
    let found = this.#byName.get(name)
    if (found === undefined) {
      const id = ++this.#lastId
      const countedMs = this.#strayMs + periodSeconds * 1000
      found = new CounterAdvances({ id, counter, periodSeconds }, callsMax, this.#settings, countedMs)
      this.#byName.set(name, found)
      this.#byId.set(id, found)
    }
    return found
  }

  #sweep(): void {
    const nowMs = this.#settings.now()
    for (const [name, counter] of this.#byName) {
      const { usedAtMs, id, periodMs } = counter
      // Then nothing is counted, and a new one may begin with allowances at once.
      if (nowMs - usedAtMs <= idlePeriods * periodMs || !counter.revoke()) continue
      this.#byName.delete(name)
      this.#byId.delete(id)
    }
  }
}

function nameOf(counter: string, periodSeconds: number): string {
  return `${periodSeconds} ${counter}`
}
