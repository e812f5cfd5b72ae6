import { createHash } from "node:crypto"
import type { RedisConnection, RedisScript } from "../redis/redis-connection.ts"

/** How a provider names what ends: its own session, or its user, or both. Texts of a verified token. */
export interface ProviderNames {
  readonly sid: string | undefined
  readonly sub: string | undefined
}

/** A logout is remembered this long, for a login that is being finished at the same time. */
const rememberedMs = 60_000

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

/** Remembers a logout and returns the sessions. They stay in the set until they have ended, so that a logout that failed half-way can be repeated. Arguments: `iat` of the logout token in seconds, and for how many milliseconds. */
const endScript = scriptOf(`
redis.call('ZADD', KEYS[1], -tonumber(ARGV[1]), 'ended')
if redis.call('PTTL', KEYS[1]) < tonumber(ARGV[2]) then redis.call('PEXPIRE', KEYS[1], ARGV[2]) end
return redis.call('ZRANGEBYSCORE', KEYS[1], 0, '+inf')
`)

/** Finds the sessions in Redis that a provider means. `digests`: of a text, one for each key; the first one is for new entries. */
export class SessionIndex {
  readonly #connection: RedisConnection
  readonly #prefix: string
  readonly #digests: (text: string) => readonly string[]

  constructor(connection: RedisConnection, prefix: string, digests: (text: string) => readonly string[]) {
    this.#connection = connection
    this.#prefix = prefix
    this.#digests = digests
  }

  /** Adds a session. False: the provider has ended it meanwhile. `issuedSeconds`: `iat` of its ID token. Rejects while Redis is unavailable. */
  async add(
    { sid, sub }: ProviderNames,
    session: string,
    { now, untilMs, issuedSeconds }: { now: number; untilMs: number; issuedSeconds: number },
  ): Promise<boolean> {
    // A logout that names a session of the provider must also end those whose ID token does not name theirs.
    const texts = [sid === undefined ? `without sid ${sub}` : `sid ${sid}`, `sub ${sub}`]
    for (const text of texts) {
      const key = this.#keyOf(this.#digests(text)[0] ?? "")
      const args = [now, untilMs, session, issuedSeconds].map(String)
      const added = await this.#connection.run((client) =>
        this.#connection.script(client, addScript, [key], args),
      )
      if (added !== 1) return false
    }
    return true
  }

  /**
   * The sessions of a logout, each with the places where it is listed. `sid` alone determines them if it is given: the same user may have sessions in other
   * browsers. Rejects while Redis is unavailable.
   */
  async find({ sid, sub }: ProviderNames, issuedSeconds: number): Promise<Map<string, string[]>> {
    const texts =
      sid === undefined
        ? [`sub ${sub}`]
        : [`sid ${sid}`, ...(sub === undefined ? [] : [`without sid ${sub}`])]
    const found = new Map<string, string[]>()
    for (const place of texts.flatMap((text) => this.#digests(text)).map((each) => this.#keyOf(each))) {
      const sessions = await this.#connection.run((client) =>
        this.#connection.script(client, endScript, [place], [issuedSeconds, rememberedMs].map(String)),
      )
      for (const session of sessions as string[]) found.set(session, [...(found.get(session) ?? []), place])
    }
    return found
  }

  /** Removes an ended session from the places where `find` has found it. */
  async forget(session: string, places: readonly string[]): Promise<void> {
    for (const place of places) await this.#connection.run((client) => client.zrem(place, session))
  }

  #keyOf(digest: string): string {
    return `${this.#prefix}of/${digest}`
  }
}

function scriptOf(text: string): RedisScript {
  return { text, sha: createHash("sha1").update(text).digest("hex") }
}
