import { LRUCache } from "lru-cache"
import { type Cache, type Cached, type CacheStats, Flights } from "./cache.ts"
import { Vectors } from "./vectors.ts"

/** `bytesMax`: room for keys, bytes and what it costs to keep them (default 64 MiB); `now`: the wall clock in milliseconds. */
export interface MemoryCacheOptions {
  readonly bytesMax?: number
  readonly now?: () => number
}

const bytesMaxDefault = 64 * 1024 * 1024
/** What an entry costs besides key and bytes: about 290 in the heap, and 460 outside of it for a buffer of its own (test/cache/room.test.ts). */
const entryCost = 750
/** One entry may not push out all others. */
const largestPart = 8

/**
 * A cache in this process. When its room is used up, what was not read for the longest time leaves first. It belongs to the process and not
 * to a plan: a new plan whose steps use the same keys finds what the old one kept.
 */
export function createMemoryCache(options: MemoryCacheOptions = {}): MemoryCache {
  return new MemoryCache(options.bytesMax ?? bytesMaxDefault, options.now ?? Date.now)
}

class MemoryCache implements Cache {
  readonly flights = new Flights()
  readonly vectors = new Vectors()
  /** This class checks the expiry instead of the library's `ttl`: readers need the expiry of an entry, and tests set the clock. */
  readonly #entries: LRUCache<string, Cached>
  readonly #bytesMax: number
  readonly #now: () => number
  #hits = 0
  #misses = 0
  #stores = 0
  #evictions = 0

  constructor(bytesMax: number, now: () => number) {
    this.#bytesMax = bytesMax
    this.#now = now
    this.#entries = new LRUCache({
      maxSize: bytesMax,
      sizeCalculation: ({ bytes }, key) => costOf(key, bytes),
      dispose: (entry, _, reason) => {
        if (reason === "evict" && entry.expiresAtMs > this.#now()) this.#evictions += 1
      },
    })
  }

  get(key: string): Cached | undefined {
    const found = this.#entries.get(key)
    if (found !== undefined && found.expiresAtMs > this.#now()) {
      this.#hits += 1
      return found
    }
    if (found !== undefined) this.#entries.delete(key)
    this.#misses += 1
    return undefined
  }

  set(key: string, bytes: Buffer, forMs: number): boolean {
    this.#entries.delete(key)
    if (costOf(key, bytes) > this.#bytesMax / largestPart || forMs <= 0) return false
    const storedAtMs = this.#now()
    this.#entries.set(key, { bytes: ownBytes(bytes), storedAtMs, expiresAtMs: storedAtMs + forMs })
    this.#stores += 1
    return true
  }

  remove(key: string): void {
    this.#entries.delete(key)
  }

  stats(): CacheStats {
    return {
      hits: this.#hits,
      misses: this.#misses,
      stores: this.#stores,
      evictions: this.#evictions,
      entries: this.#entries.size,
      bytes: this.#entries.calculatedSize,
    }
  }
}

function costOf(key: string, bytes: Buffer): number {
  return entryCost + 2 * key.length + bytes.length
}

/** A small piece of a large buffer, or of Node's pool, would hold on to all of it. */
function ownBytes(bytes: Buffer): Buffer {
  if (bytes.length === bytes.buffer.byteLength) return bytes
  const own = Buffer.allocUnsafeSlow(bytes.length)
  bytes.copy(own)
  return own
}
