import { LRUCache } from "lru-cache"
import type { Commit } from "../ports.ts"
import type { Memory, Tenant } from "./memory.ts"

/** What was found at one revision of one store, for questions that ask the same at the same revision. */
export interface KeptAt {
  /** What was put under this key; the key says what kind of thing that is. */
  get(key: string): unknown
  /** `value` takes so many bytes. It must hang on nothing but the key and the store's tuples at this revision. */
  put(key: string, value: object, bytes: number): void
  /** Somebody is about to find it: others better wait. False when somebody is already. */
  claim(key: string): boolean
  /** Whether it was found or not. */
  unclaim(key: string): void
}

/** Of all memory, what may be used for it; and the part of that which one of them may take. */
const shareOfMemory = 8
const shareOfOne = 2
/** What an entry takes beside its key and value. */
const bytesBeside = 200

let eras = 0

/** Tells one history of a store's tuples from another: within one, a revision always means the same tuples. */
export function newEra(): number {
  return ++eras
}

/**
 * What questions of a process found and others will ask for again, the least used giving way. It is found again only at exactly the revision it was found at, so that a
 * write makes all of its store unreachable; nothing is ever out of date. It is the first to go when memory is short.
 */
export class Kept implements Tenant {
  /** Counts as asked for at any time: it goes before idle graphs do, not as one of them. */
  readonly usedMs = Number.POSITIVE_INFINITY
  /** How often something was found here. */
  hits = 0
  readonly #memory: Memory
  /** How much it may hold changes with the memory, so that `put` evicts and the library only counts. */
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
