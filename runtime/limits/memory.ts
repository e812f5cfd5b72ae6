import { createHash, randomBytes } from "node:crypto"
import { limitKeysDefault } from "../plan/resources.ts"
import type { LimiterStats, LocalLimiter, Taken } from "./limiter.ts"
import { SlidingWindows } from "./sliding-windows.ts"

/** `keysMax`: see `LocalLimiter` (default: `limitKeysDefault`). `now`: a monotonic clock in milliseconds. */
export interface MemoryLimiterOptions {
  readonly keysMax?: number
  readonly now?: () => number
}

/** Longer keys are kept as their digest, so that the memory per key is bounded for any claim. */
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
export function createMemoryLimiter(options: MemoryLimiterOptions = {}): LocalLimiter {
  return new MemoryLimiter(options.keysMax ?? limitKeysDefault, options.now ?? (() => performance.now()))
}

class MemoryLimiter implements LocalLimiter {
  keysMax: number
  resetMs = 0
  readonly #now: () => number
  /** By counter; one for each period. */
  readonly #tables = new Map<string, Table[]>()
  readonly #slots = new ConcurrencySlots()
  readonly #secret = randomPair()
  #calls = 0
  #evictedBefore = 0

  constructor(keysMax: number, now: () => number) {
    this.keysMax = keysMax
    this.#now = now
  }

  take(counter: string, key: string, callsMax: number, periodSeconds: number, amount = 1): Taken {
    const nowMs = this.#now()
    const windows = this.#windowsOf(counter, periodSeconds, nowMs)
    const taken = windows.take(key, callsMax, nowMs, amount, this.keysMax)
    this.resetMs = windows.resetMs
    return taken
  }

  add(counter: string, key: string, periodSeconds: number, amount: number): void {
    this.take(counter, key, Number.POSITIVE_INFINITY, periodSeconds, amount)
  }

  enter(counter: string, key: string, max: number): (() => void) | undefined {
    return this.#slots.enter(counter, shortKey(key), max)
  }

  stats(): LimiterStats {
    let [keys, evicted, bytes] = [0, this.#evictedBefore, 0]
    for (const { windows } of [...this.#tables.values()].flat()) {
      keys += windows.size
      evicted += windows.evicted
      bytes += windows.bytes
    }
    return { keys, evicted, bytes }
  }

  #windowsOf(counter: string, periodSeconds: number, nowMs: number): SlidingWindows {
    if (++this.#calls % sweepEveryCalls === 0) this.#sweep(nowMs)
    const periodMs = periodSeconds * 1000
    let tables = this.#tables.get(counter)
    if (tables === undefined) {
      tables = []
      this.#tables.set(counter, tables)
    }
    let table = tables.find((each) => each.periodMs === periodMs)
    if (table === undefined) {
      table = { windows: new SlidingWindows(periodMs, nowMs, this.#secret), periodMs, usedAtMs: nowMs }
      tables.push(table)
    }
    table.usedAtMs = nowMs
    return table.windows
  }

  #sweep(nowMs: number): void {
    for (const [counter, tables] of this.#tables) {
      const isIdle = ({ periodMs, usedAtMs }: Table) => nowMs - usedAtMs > idlePeriods * periodMs
      const idle = tables.filter(isIdle)
      if (idle.length === 0) continue
      for (const { windows } of idle) this.#evictedBefore += windows.evicted
      if (idle.length === tables.length) this.#tables.delete(counter)
      else
        this.#tables.set(
          counter,
          tables.filter((each) => !idle.includes(each)),
        )
    }
  }
}

/** A secret for the hashes of keys: callers must not be able to choose keys with the same hash. */
function randomPair(): readonly [number, number] {
  const bytes = randomBytes(8)
  return [bytes.readInt32LE(0), bytes.readInt32LE(4)]
}

/** The key, or its digest if it is long. */
export function shortKey(key: string): string {
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
