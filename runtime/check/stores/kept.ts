import { LRUCache } from "lru-cache"
import type { Commit } from "../ports.ts"
import type { Memory, Tenant } from "./memory.ts"

/** Results at one revision of one store, for equal questions at the same revision. */
export interface KeptAt {
  /** The value under this key; the key determines the type of the value. */
  get(key: string): unknown
  /** Stores a value of this many bytes. It must depend only on the key and the store's tuples at this revision. */
  put(key: string, value: object, bytes: number): void
  /** Announces that the caller computes the value, so that others wait. False when another question already computes it. */
  claim(key: string): boolean
  /** Ends the claim, whether the value was found or not. */
  unclaim(key: string): void
}

/** Divisors: the part of all memory that kept results may use, and the part of that for one result. */
const shareOfMemory = 8
const shareOfOne = 2
/** Bytes of an entry in addition to its key and value. */
const bytesBeside = 200

let eras = 0

/** A number for one history of a store's tuples: within it, a revision always means the same tuples. */
export function newEra(): number {
  return ++eras
}

/**
 * Results of a process for later questions; the least used are evicted. A result is found only at exactly its revision, so a write makes
 * all results of its store unreachable, and no result is ever out of date. Kept results are the first to be dropped when memory is short.
 */
export class Kept implements Tenant {
  /** Infinity, because it is not an idle graph: `Memory` evicts it first, as `spare`. */
  readonly usedMs = Number.POSITIVE_INFINITY
  /** Number of results that were reused. */
  hits = 0
  readonly #memory: Memory
  /** Its maximum changes with the memory limit, so `put` evicts and the library only counts. */
  readonly #entries = new LRUCache<string, object>({ maxSize: Number.MAX_SAFE_INTEGER })
  readonly #claimed = new Set<string>()

  constructor(memory: Memory) {
    this.#memory = memory
    memory.spare = this
  }

  at(era: number, { revision, stamp }: Commit): KeptAt {
    return new RevisionKept(this, `${era}@${revision}${stamp} `)
  }

  get(key: string): unknown {
    const value = this.#entries.get(key)
    if (value !== undefined) this.hits++
    return value
  }

  put(key: string, value: object, valueBytes: number): void {
    const most = this.#memory.limit / shareOfMemory
    const bytes = valueBytes + 2 * key.length + bytesBeside
    if (bytes > most / shareOfOne) return
    this.#entries.set(key, value, { size: bytes })
    this.#report()
    while (this.#entries.calculatedSize > most || this.#memory.total > this.#memory.limit)
      if (!this.evict()) return
  }

  claim(key: string): boolean {
    if (this.#claimed.has(key)) return false
    this.#claimed.add(key)
    return true
  }

  unclaim(key: string): void {
    this.#claimed.delete(key)
  }

  evict(): boolean {
    const evicted = this.#entries.pop() !== undefined
    if (evicted) this.#report()
    return evicted
  }

  giveWay(): boolean {
    return false
  }

  forget(): void {
    this.#entries.clear()
    this.#report()
  }

  #report(): void {
    this.#memory.report(this, this.#entries.calculatedSize)
  }
}

class RevisionKept implements KeptAt {
  readonly #kept: Kept
  readonly #prefix: string

  constructor(kept: Kept, prefix: string) {
    this.#kept = kept
    this.#prefix = prefix
  }

  get(key: string): unknown {
    return this.#kept.get(this.#prefix + key)
  }

  put(key: string, value: object, bytes: number): void {
    this.#kept.put(this.#prefix + key, value, bytes)
  }

  claim(key: string): boolean {
    return this.#kept.claim(this.#prefix + key)
  }

  unclaim(key: string): void {
    this.#kept.unclaim(this.#prefix + key)
  }
}
