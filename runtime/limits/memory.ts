import { createHash } from "node:crypto"
import type { Limiter, Taken } from "./limiter.ts"
import { SlidingWindows } from "./sliding-windows.ts"

/** `keysMax`: keys with their own counts per counter (default: 100,000, about 260 bytes each). `now`: a monotonic clock in milliseconds. */
export interface MemoryLimiterOptions {
  readonly keysMax?: number
  readonly now?: () => number
}

/** Longer keys are counted by their digest, so that the memory per key is bounded for any claim. */
const keyLengthMax = 64
/** Tables of counters that were not used for this many of their periods are dropped. */
const idlePeriods = 2
const sweepEveryCalls = 65_536

interface Table {
  readonly windows: SlidingWindows
  readonly periodMs: number
  usedAtMs: number
}

/**
 * Counters in this process. The tables belong to the limiter and not to a plan: if a new plan keeps a counter's name and period, the counts continue.
 * Another period is another table.
 */
export function createMemoryLimiter(options: MemoryLimiterOptions = {}): Limiter {
  const keysMax = options.keysMax ?? 100_000
  const now = options.now ?? (() => performance.now())
  const tables = new Map<string, Table>()
  let calls = 0

  function sweep(nowMs: number): void {
    for (const [id, table] of tables) {
      if (nowMs - table.usedAtMs > idlePeriods * table.periodMs) tables.delete(id)
    }
  }

  function windowsOf(counter: string, periodSeconds: number, nowMs: number): SlidingWindows {
    if (++calls % sweepEveryCalls === 0) sweep(nowMs)
    const id = `${periodSeconds} ${counter}`
    let table = tables.get(id)
    if (table === undefined) {
      const periodMs = periodSeconds * 1000
      table = { windows: new SlidingWindows(periodMs, keysMax, nowMs), periodMs, usedAtMs: nowMs }
      tables.set(id, table)
    }
    table.usedAtMs = nowMs
    return table.windows
  }

  const places = new ConcurrencySlots()
  return {
    take(counter, key, callsMax, periodSeconds, amount = 1): Taken {
      const nowMs = now()
      return windowsOf(counter, periodSeconds, nowMs).take(shortKey(key), callsMax, nowMs, amount)
    },
    add(counter, key, periodSeconds, amount): void {
      const nowMs = now()
      windowsOf(counter, periodSeconds, nowMs).take(shortKey(key), Number.POSITIVE_INFINITY, nowMs, amount)
    },
    enter: (counter, key, max) => places.enter(counter, shortKey(key), max),
  }
}

function shortKey(key: string): string {
  return key.length > keyLengthMax ? digestOf(key) : key
}

function digestOf(key: string): string {
  return createHash("sha256").update(key).digest("base64url")
}

/** Slots of keys that are in use. Holds only keys with a taken slot. */
class ConcurrencySlots {
  readonly #inside = new Map<string, number>()

  /** Takes a slot; undefined if `max` are taken. The returned function releases it, once. */
  enter(counter: string, key: string, max: number): (() => void) | undefined {
    const id = JSON.stringify([counter, key])
    const inside = this.#inside.get(id) ?? 0
    if (inside >= max) return undefined
    this.#inside.set(id, inside + 1)
    let left = false
    return () => {
      if (left) return
      left = true
      const now = (this.#inside.get(id) ?? 1) - 1
      if (now === 0) this.#inside.delete(id)
      else this.#inside.set(id, now)
    }
  }

  /** Number of keys with a taken slot. */
  get size(): number {
    return this.#inside.size
  }
}
