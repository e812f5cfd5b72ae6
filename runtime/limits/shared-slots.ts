import { createHash, randomUUID } from "node:crypto"
import type { RedisConnection } from "../redis/redis-connection.ts"
import type { Limiter } from "./limiter.ts"

/** A slot that is not renewed for this long is free again: its process is gone. */
export const leaseMs = 15_000
const renewEveryMs = 5_000

/** The first argument of both scripts is the time in milliseconds, for tests (empty: the server's clock, which all processes share). */
const clock = `
local now = tonumber(ARGV[1])
if not now then
  local t = redis.call('TIME')
  now = t[1] * 1000 + math.floor(t[2] / 1000)
end
`

/** A sorted set per key: a member for each taken slot, by the time its lease ends. Arguments: time, lease in milliseconds, slots, name of the member. */
export const enterScript = scriptOf(`${clock}
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', now)
if redis.call('ZCARD', KEYS[1]) >= tonumber(ARGV[3]) then return 0 end
redis.call('ZADD', KEYS[1], now + ARGV[2], ARGV[4])
redis.call('PEXPIRE', KEYS[1], ARGV[2])
return 1
`)

/** Arguments: time, lease, then the members. A server that lost its data learns of them again. */
export const renewScript = scriptOf(`${clock}
for i = 3, #ARGV do redis.call('ZADD', KEYS[1], now + ARGV[2], ARGV[i]) end
redis.call('PEXPIRE', KEYS[1], ARGV[2])
return 1
`)

type Leave = () => void

/** Slots of concurrency limits that all processes share, as leases: those of a process that was killed are free after 15 seconds. */
export class SharedSlots {
  readonly #connection: RedisConnection
  readonly #local: Limiter
  readonly #prefix: string
  /** The members of this process, by key. */
  readonly #held = new Map<string, Set<string>>()
  #renewal: NodeJS.Timeout | undefined

  constructor(connection: RedisConnection, local: Limiter, prefix: string) {
    this.#connection = connection
    this.#local = local
    this.#prefix = prefix
  }

  /** See `Limiter.enter`. */
  enter(counter: string, key: string, max: number): ReturnType<Limiter["enter"]> {
    if (this.#connection.away !== undefined) return this.#local.enter(counter, key, max)
    return this.#lease(counter, key, max)
  }

  close(): void {
    clearInterval(this.#renewal)
    for (const [key, members] of this.#held) this.#release(key, [...members])
  }

  async #lease(counter: string, key: string, max: number): Promise<Leave | undefined> {
    const name = createHash("sha256")
      .update(JSON.stringify([counter, key]))
      .digest("base64url")
      .slice(0, 22)
    const shared = `${this.#prefix}${name}`
    const member = randomUUID()
    let entered: unknown
    try {
      entered = await this.#connection.run((client) =>
        this.#connection.script(client, enterScript, [shared], ["", leaseMs, max, member]),
      )
    } catch {
      // The lease may have been given; without renewal it ends by itself.
      return await this.#local.enter(counter, key, max)
    }
    if (Number(entered) !== 1) return undefined
    const members = this.#held.get(shared) ?? new Set()
    this.#held.set(shared, members.add(member))
    this.#renewal ??= setInterval(() => this.#renew(), renewEveryMs).unref()
    let left = false
    return () => {
      if (left) return
      left = true
      members.delete(member)
      if (members.size === 0 && this.#held.get(shared) === members) this.#held.delete(shared)
      this.#release(shared, [member])
    }
  }

  #release(key: string, members: readonly string[]): void {
    if (this.#connection.away !== undefined) return
    this.#connection.run((client) => client.zrem(key, ...members)).catch(() => undefined)
  }

  #renew(): void {
    if (this.#connection.away !== undefined) return
    for (const [key, members] of this.#held)
      this.#connection
        .run((client) => this.#connection.script(client, renewScript, [key], ["", leaseMs, ...members]))
        .catch(() => undefined)
  }
}

function scriptOf(text: string): { readonly text: string; readonly sha: string } {
  return { text, sha: createHash("sha1").update(text).digest("hex") }
}
