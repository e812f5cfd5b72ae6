import type { Vectors } from "./vectors.ts"

/** What is kept under a key. The bytes are shared by all who read them: nobody writes into them. */
export interface Cached {
  readonly bytes: Buffer
  /** Wall clock, milliseconds since the epoch. */
  readonly storedAtMs: number
  readonly expiresAtMs: number
}

/** Counts since the process started, and what is held now. */
export interface CacheStats {
  readonly hits: number
  readonly misses: number
  readonly stores: number
  /** Entries that left because others needed their room. */
  readonly evictions: number
  readonly entries: number
  readonly bytes: number
}

/**
 * Bytes kept for a time under keys. Answers at once where it can; a store behind a network answers with promises. It never throws or rejects
 * for want of an answer: what cannot be read is a miss, what cannot be kept is not kept.
 */
export interface Cache {
  get(key: string): Cached | undefined | Promise<Cached | undefined>
  /** Keeps bytes for so many milliseconds. False: there is no room for them. */
  set(key: string, bytes: Buffer, forMs: number): boolean | Promise<boolean>
  remove(key: string): void | Promise<void>
  /** One at a time for each key: see `Flights`. */
  readonly flights: Flights
  /** Keys of entries by what they are like: see `Vectors`. */
  readonly vectors: Vectors
  stats(): CacheStats
}

/** What `Flights.board` says: go and make it (and say when it is made), or wait for the one who does. */
export type Boarding =
  | { readonly leads: true; readonly land: () => void }
  /** Resolves when the leader has landed, or when the time is up. */
  | { readonly leads: false; readonly landed: Promise<void> }

/**
 * Many who miss the same key at the same time: the first makes the value, the others wait for it. In this process only, also for a cache
 * that is shared: one process each is few enough.
 */
export class Flights {
  readonly #waiting = new Map<string, Set<() => void>>()

  /** How many keys are being made. */
  get size(): number {
    return this.#waiting.size
  }

  /** The first to come leads and must call `land` however it ends; later ones wait, at most `waitMs`. */
  board(key: string, waitMs: number): Boarding {
    const waiting = this.#waiting.get(key)
    if (waiting !== undefined) return { leads: false, landed: this.#wait(waiting, waitMs) }
    const passengers = new Set<() => void>()
    this.#waiting.set(key, passengers)
    return {
      leads: true,
      land: () => {
        if (this.#waiting.get(key) !== passengers) return
        this.#waiting.delete(key)
        for (const tell of passengers) tell()
      },
    }
  }

  #wait(passengers: Set<() => void>, waitMs: number): Promise<void> {
    return new Promise((resolve) => {
      const tell = () => {
        clearTimeout(timer)
        passengers.delete(tell)
        resolve()
      }
      const timer = setTimeout(tell, waitMs)
      passengers.add(tell)
    })
  }
}
