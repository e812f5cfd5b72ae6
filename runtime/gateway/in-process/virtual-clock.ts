import { AsyncResource } from "node:async_hooks"
import type { Clock } from "../../policies/clock.ts"
import { Deadlines } from "../backends/deadlines.ts"

interface Wait {
  readonly dueMs: number
  readonly run: () => void
}

/** Turns of the event loop without progress after which everything is taken to wait for the clock: results of other threads need a few. */
const quietTurns = 4

/**
 * A clock whose time passes only when something waits for it: a backend that takes its time, a pause before a retry. Then it jumps to the next
 * deadline or wait. Requests to silent backends end by their deadlines.
 */
export class VirtualClock implements Clock {
  readonly deadlines = new Deadlines(() => this.#elapsedMs, true)
  readonly #waits = new Set<Wait>()
  readonly #alarms = new Set<Wait>()
  #epochMs: number
  #elapsedMs = 0
  #seed = 1
  #holds = 0
  #busy = 0
  #isPumping = false
  /** Called when nothing will ever happen: requests wait, and the clock has no time at which they continue. */
  onStuck: () => void = () => undefined

  constructor(epochMs: number) {
    this.#epochMs = epochMs
  }

  readonly now = (): number => this.#epochMs + this.#elapsedMs

  readonly monotonic = (): number => this.#elapsedMs

  /** Numbers that look random and are the same in every run (Lehmer's generator, modulus 2³¹ − 1). */
  readonly random = (): number => {
    this.#seed = (this.#seed * 48_271) % 2_147_483_647
    return this.#seed / 2_147_483_647
  }

  readonly after = (ms: number, run: () => void): (() => void) => {
    // What runs later belongs to the request that waits, and not to the one that moved the clock.
    const wait = { dueMs: this.#elapsedMs + ms, run: AsyncResource.bind(run) }
    this.#waits.add(wait)
    this.#pump()
    return () => this.#waits.delete(wait)
  }

  readonly alarm = (ms: number, run: () => void): (() => void) => {
    const wait = { dueMs: this.#elapsedMs + ms, run: AsyncResource.bind(run) }
    this.#alarms.add(wait)
    return () => this.#alarms.delete(wait)
  }

  /** Sets the wall clock; what was waited for is forgotten. The monotonic clock is never set back. */
  restart(epochMs: number): void {
    this.#epochMs = epochMs - this.#elapsedMs
    this.#waits.clear()
    this.#alarms.clear()
    this.#holds = 0
    this.#seed = 1
  }

  /** Something waits for an event that the clock does not know. The returned function ends it. */
  hold(): () => void {
    this.#holds += 1
    this.#pump()
    let isOver = false
    return () => {
      if (isOver) return
      isOver = true
      this.#holds -= 1
    }
  }

  /** Time stands still until the promise has settled. */
  async during<T>(work: Promise<T>): Promise<T> {
    this.#busy += 1
    try {
      return await work
    } finally {
      this.#busy -= 1
    }
  }

  /** Lets time pass, with everything that is due meanwhile. */
  async advance(ms: number): Promise<void> {
    const end = this.#elapsedMs + ms
    for (let next = this.#next; next !== undefined && next <= end; next = this.#next) {
      this.#goTo(next)
      await turn()
    }
    this.#goTo(end)
  }

  /** Waits until everything that can happen at this moment has happened. */
  turn(): Promise<void> {
    return turn()
  }

  get #next(): number | undefined {
    let next = this.deadlines.nextMs
    for (const waits of [this.#waits, this.#alarms])
      for (const { dueMs } of waits) if (next === undefined || dueMs < next) next = dueMs
    return next
  }

  #goTo(ms: number): void {
    if (ms > this.#elapsedMs) this.#elapsedMs = ms
    this.deadlines.tick()
    const due = [...this.#waits, ...this.#alarms].filter(({ dueMs }) => dueMs <= this.#elapsedMs)
    for (const wait of due.sort((a, b) => a.dueMs - b.dueMs))
      if (this.#waits.delete(wait) || this.#alarms.delete(wait)) wait.run()
  }

  /** Moves the clock as long as something waits for it. */
  #pump(): void {
    if (this.#isPumping) return
    this.#isPumping = true
    void this.#pumpAll().finally(() => {
      this.#isPumping = false
    })
  }

  async #pumpAll(): Promise<void> {
    let quiet = 0
    while (this.#waits.size > 0 || this.#holds > 0) {
      await turn()
      quiet = this.#busy > 0 ? 0 : quiet + 1
      if (quiet < quietTurns) continue
      quiet = 0
      const next = this.#next
      if (next === undefined) {
        this.onStuck()
        return
      }
      this.#goTo(next)
    }
  }
}

/** The end of this turn of the event loop. */
function turn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve))
}
