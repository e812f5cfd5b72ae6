import { createHash } from "node:crypto"
import type { RedisConnection } from "../redis/redis-connection.ts"
import { type Cache, type Cached, type CacheStats, Flights } from "./cache.ts"
import { cacheParts, dropScript, keepScript } from "./shared-cache-scripts.ts"

/** What an entry costs in Redis besides its bytes: its key, its rows in the index of its part, and lost space (test/cache/shared-cache.test.ts). */
const entryCost = 540
/** One entry takes an eighth of its part of the room at most, and never keeps the connection busy for long. */
const largestPart = 8
const largestBytes = 1024 * 1024
/** Before the bytes of an entry: when it was stored and when it expires, both as a double in milliseconds since the epoch. */
const headBytes = 16

/** Settings of a shared cache. */
export interface SharedCacheSettings {
  readonly connection: RedisConnection
  /** The cache of this process, for times without Redis. Its vectors are used too: they are not shared. */
  readonly local: Cache
  /** Of all keys on the server, the same in all processes that share the cache. */
  readonly prefix: string
  /** Room of all entries together. */
  readonly bytesMax: number
  /** The wall clock in milliseconds. */
  readonly now?: () => number
}

/**
 * A cache that all processes with one Redis share. Its entries are in 16 parts, each on one node of a cluster and with its own index: when a part is full, its
 * entries that were not read for the longest time leave first. While Redis is unavailable, each process uses the cache of its own.
 */
export class SharedCache implements Cache {
  readonly flights = new Flights()
  readonly #settings: SharedCacheSettings
  readonly #now: () => number
  #hits = 0
  #misses = 0
  #stores = 0
  #evictions = 0

  constructor(settings: SharedCacheSettings) {
    this.#settings = settings
    this.#now = settings.now ?? Date.now
  }

  /** `host:port` of the server. */
  get name(): string {
    return this.#settings.connection.name
  }

  /** Why Redis is unavailable; undefined: it is available. */
  get away(): string | undefined {
    return this.#settings.connection.away
  }

  get vectors(): Cache["vectors"] {
    return this.#settings.local.vectors
  }

  get(key: string): ReturnType<Cache["get"]> {
    const { connection, local } = this.#settings
    return connection.away === undefined ? this.#get(key) : local.get(key)
  }

  async #get(key: string): Promise<Cached | undefined> {
    const { connection, local } = this.#settings
    const place = this.#placeOf(key)
    let value: Buffer | null
    try {
      value = await connection.run((client) => client.getBuffer(place.entry))
    } catch {
      // The connection has kept the reason, and calls for the state report it.
      return local.get(key)
    }
    const found = value === null ? undefined : decoded(value)
    if (found === undefined || found.expiresAtMs <= this.#now()) {
      this.#misses += 1
      return undefined
    }
    this.#hits += 1
    // Nobody waits for the note that the entry was read; without it the entry only leaves earlier.
    connection
      .run((client) => client.zadd(place.order, "XX", this.#now(), place.member))
      .catch(() => undefined)
    return found
  }

  set(key: string, bytes: Buffer, forMs: number): ReturnType<Cache["set"]> {
    const { connection, local, bytesMax } = this.#settings
    if (connection.away !== undefined) return local.set(key, bytes, forMs)
    const cost = entryCost + bytes.length
    if (forMs <= 0) return this.#refused(key)
    if (cost > Math.min(largestBytes, bytesMax / cacheParts / largestPart)) return this.#refused(key)
    return this.#set(key, bytes, forMs, cost)
  }

  /** An entry that is not kept must not leave an older one of the same key. */
  async #refused(key: string): Promise<boolean> {
    await this.remove(key)
    return false
  }

  async #set(key: string, bytes: Buffer, forMs: number, cost: number): Promise<boolean> {
    const { connection, local, bytesMax } = this.#settings
    const place = this.#placeOf(key)
    const storedAtMs = this.#now()
    const value = encoded({ bytes, storedAtMs, expiresAtMs: storedAtMs + forMs })
    const args = [
      place.prefix,
      place.member,
      value,
      Math.ceil(forMs),
      cost,
      Math.floor(bytesMax / cacheParts),
    ]
    try {
      const evicted = Number(
        await connection.run((client) =>
          connection.script(client, keepScript, [place.entry, ...place.index], args),
        ),
      )
      this.#evictions += evicted < 0 ? -evicted - 1 : evicted
      if (evicted < 0) return false
      this.#stores += 1
      // An older one from a time without Redis must not come back at the next such time.
      await local.remove(key)
      return true
    } catch {
      return local.set(key, bytes, forMs)
    }
  }

  async remove(key: string): Promise<void> {
    const { connection, local } = this.#settings
    await local.remove(key)
    if (connection.away !== undefined) return
    const { prefix, member, entry, index } = this.#placeOf(key)
    await connection
      .run((client) => connection.script(client, dropScript, [entry, ...index], [prefix, member]))
      .catch(() => undefined)
  }

  /** Counts of this process, with those of its own cache; `entries` and `bytes` are of its own cache only. */
  stats(): CacheStats {
    const { hits, misses, stores, evictions, entries, bytes } = this.#settings.local.stats()
    return {
      hits: hits + this.#hits,
      misses: misses + this.#misses,
      stores: stores + this.#stores,
      evictions: evictions + this.#evictions,
      ...{ entries, bytes },
    }
  }

  close(): void {
    this.#settings.connection.close()
  }

  /** Where an entry is. Its key contains the digest of what the plan calls its key, so keys have one length and say nothing. */
  #placeOf(key: string) {
    const digest = createHash("sha256").update(key).digest()
    const part = (digest[31] as number) % cacheParts
    // A cluster puts keys with the same text in braces on one node.
    const place = `${this.#settings.prefix}cache/{${part}}`
    const member = digest.toString("base64url").slice(0, 22)
    const prefix = `${place}/entry/`
    const order = `${place}/order`
    const index = [order, `${place}/ends`, `${place}/sizes`] as const
    return { prefix, member, entry: `${prefix}${member}`, order, index }
  }
}

function encoded({ bytes, storedAtMs, expiresAtMs }: Cached): Buffer {
  const value = Buffer.allocUnsafe(headBytes + bytes.length)
  value.writeDoubleBE(storedAtMs, 0)
  value.writeDoubleBE(expiresAtMs, 8)
  bytes.copy(value, headBytes)
  return value
}

/** Undefined for bytes that no process of this version stored. */
function decoded(value: Buffer): Cached | undefined {
  if (value.length < headBytes) return undefined
  return {
    bytes: value.subarray(headBytes),
    storedAtMs: value.readDoubleBE(0),
    expiresAtMs: value.readDoubleBE(8),
  }
}
