import { createHash } from "node:crypto"
import type { RedisConnection, RedisScript } from "../redis/redis-connection.ts"
import type { ListedSession, SessionStore } from "./session-store.ts"

/**
 * A sorted set of the sessions with one name: their keys, each with the time of its end in milliseconds. The member `ended` has the time of the last logout
 * as a negative number. Arguments: now, end and name of the session, `iat` of its ID token in seconds. Returns 0 if the logout was not earlier than the ID token.
 */
const addScript = scriptOf(`
local ended = redis.call('ZSCORE', KEYS[1], 'ended')
if ended and tonumber(ARGV[4]) <= -tonumber(ended) then return 0 end
redis.call('ZREMRANGEBYSCORE', KEYS[1], 0, ARGV[1])
redis.call('ZADD', KEYS[1], ARGV[2], ARGV[3])
local left = tonumber(ARGV[2]) - tonumber(ARGV[1])
if redis.call('PTTL', KEYS[1]) < left then redis.call('PEXPIRE', KEYS[1], left) end
return 1
`)

/** Arguments: `iat` of the logout token in seconds, and for how many milliseconds it is remembered. */
const endScript = scriptOf(`
redis.call('ZADD', KEYS[1], -tonumber(ARGV[1]), 'ended')
if redis.call('PTTL', KEYS[1]) < tonumber(ARGV[2]) then redis.call('PEXPIRE', KEYS[1], ARGV[2]) end
return redis.call('ZRANGEBYSCORE', KEYS[1], 0, '+inf')
`)

/** Sessions in Redis. Scripts make adding to a list and ending it one step each. */
export class RedisSessions implements SessionStore {
  readonly #connection: RedisConnection

  constructor(connection: RedisConnection) {
    this.#connection = connection
  }

  get(key: string): Promise<string | null> {
    return this.#connection.run((client) => client.get(key))
  }

  async set(key: string, text: string, ms: number, only?: "absent" | "present"): Promise<boolean> {
    const kept = await this.#connection.run((client) => {
      if (only === undefined) return client.set(key, text, "PX", ms)
      return only === "absent" ? client.set(key, text, "PX", ms, "NX") : client.set(key, text, "PX", ms, "XX")
    })
    return kept !== null
  }

  remove(key: string): Promise<number> {
    return this.#connection.run((client) => client.del(key))
  }

  async list(key: string, { session, now, untilMs, issuedSeconds }: ListedSession): Promise<boolean> {
    return (await this.#script(addScript, key, [now, untilMs, session, issuedSeconds].map(String))) === 1
  }

  async end(key: string, issuedSeconds: number, rememberedMs: number): Promise<readonly string[]> {
    return (await this.#script(endScript, key, [issuedSeconds, rememberedMs].map(String))) as string[]
  }

  async unlist(key: string, session: string): Promise<void> {
    await this.#connection.run((client) => client.zrem(key, session))
  }

  #script(script: RedisScript, key: string, values: readonly string[]): Promise<unknown> {
    return this.#connection.run((client) => this.#connection.script(client, script, [key], values))
  }
}

function scriptOf(text: string): RedisScript {
  return { text, sha: createHash("sha1").update(text).digest("hex") }
}
