import { createHash } from "node:crypto"
import type { RedisConnection } from "../redis/redis-connection.ts"
import type { Limiter, SharedCounts, Taken } from "./limiter.ts"
import { SharedSlots } from "./shared-slots.ts"
import { takeScript } from "./take-script.ts"

/** Takes in one call of the script. It blocks the server for some microseconds each. */
const takesPerCall = 32

interface PendingTake {
  readonly key: string
  /** -1: counts in any case. */
  readonly callsMax: number
  readonly periodMs: number
  readonly amount: number
  readonly taken: (taken: Taken) => void
  /** Counts it in this process instead. */
  readonly locally: () => void
}

/**
 * Counters that all processes with one Redis share. The windows are those of sliding-windows.ts, by the clock of the server. The takes of one turn of the
 * event loop are sent together. While Redis is unavailable, each process counts on its own; the workers of one machine count together.
 */
export class SharedLimiter implements Limiter, SharedCounts {
  localTakes = 0
  readonly #connection: RedisConnection
  readonly #local: Limiter
  readonly #prefix: string
  readonly #slots: SharedSlots
  #pending: PendingTake[] = []

  /** `prefix`: of all keys on the server, the same in all processes that count together. */
  constructor(connection: RedisConnection, local: Limiter, prefix: string) {
    this.#connection = connection
    this.#local = local
    this.#prefix = prefix
    this.#slots = new SharedSlots(connection, local, `${prefix}slots/`)
  }

  get name(): string {
    return this.#connection.name
  }

  get away(): string | undefined {
    return this.#connection.away
  }

  take(
    counter: string,
    key: string,
    callsMax: number,
    periodSeconds: number,
    amount = 1,
  ): Taken | Promise<Taken> {
    const locally = () => this.#takeLocally(counter, key, callsMax, periodSeconds, amount)
    if (this.#connection.away !== undefined) return locally()
    return new Promise((taken) =>
      this.#enqueue({
        key: this.#keyOf(counter, key, periodSeconds),
        periodMs: periodSeconds * 1000,
        ...{ callsMax, amount, taken },
        locally: () => taken(locally()),
      }),
    )
  }

  add(counter: string, key: string, periodSeconds: number, amount: number): void {
    const locally = () => {
      this.localTakes += 1
      this.#local.add(counter, key, periodSeconds, amount)
    }
    if (this.#connection.away !== undefined) locally()
    else
      this.#enqueue({
        key: this.#keyOf(counter, key, periodSeconds),
        periodMs: periodSeconds * 1000,
        callsMax: -1,
        ...{ amount, locally },
        taken: () => undefined,
      })
  }

  enter(counter: string, key: string, max: number): ReturnType<Limiter["enter"]> {
    return this.#slots.enter(counter, key, max)
  }

  close(): void {
    this.#slots.close()
    this.#connection.close()
  }

  #enqueue(take: PendingTake): void {
    if (this.#pending.length === 0) setImmediate(() => this.#flush())
    this.#pending.push(take)
  }

  #flush(): void {
    const pending = this.#pending
    this.#pending = []
    // The keys of one call have to be on one node of a cluster.
    const perCall = this.#connection.isCluster ? 1 : takesPerCall
    for (let from = 0; from < pending.length; from += perCall)
      void this.#send(pending.slice(from, from + perCall))
  }

  async #send(takes: readonly PendingTake[]): Promise<void> {
    const keys = takes.map(({ key }) => key)
    const args = takes.flatMap(({ callsMax, periodMs, amount }) => [callsMax, periodMs, amount])
    let reply: unknown
    try {
      reply = await this.#connection.run((client) =>
        this.#connection.script(client, takeScript, keys, ["", ...args]),
      )
    } catch {
      // The connection has kept the reason, and calls for the state report it.
      for (const { locally } of takes) locally()
      return
    }
    const numbers = reply as readonly number[]
    takes.forEach(({ taken, callsMax }, index) => {
      const [allowed = 0, total = 0, waitMs = 0] = numbers.slice(index * 3, index * 3 + 3).map(Number)
      taken({
        allowed: allowed === 1,
        remaining: Math.max(0, callsMax - total),
        resetSeconds: Math.max(1, Math.ceil(waitMs / 1000)),
      })
    })
  }

  #takeLocally(
    counter: string,
    key: string,
    callsMax: number,
    periodSeconds: number,
    amount: number,
  ): Taken | Promise<Taken> {
    this.localTakes += 1
    const taken = this.#local.take(counter, key, callsMax, periodSeconds, amount)
    return taken instanceof Promise ? taken.then(asLocal) : asLocal(taken)
  }

  /** Callers' names do not leave the process, and keys have one length. */
  #keyOf(counter: string, key: string, periodSeconds: number): string {
    return `${this.#prefix}limit/${digestOf(`${periodSeconds} ${counter}\u0000${key}`)}`
  }
}

function asLocal(taken: Taken): Taken {
  return { ...taken, local: true }
}

function digestOf(text: string): string {
  return createHash("sha256").update(text).digest("base64url").slice(0, 22)
}
