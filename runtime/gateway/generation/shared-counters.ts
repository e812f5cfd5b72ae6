import type { SharedCache } from "../../cache/shared-cache.ts"
import type { SharedLimiter } from "../../limits/shared-limiter.ts"
import { RedisSessions } from "../../oidc/redis-sessions.ts"
import type { SessionStore } from "../../oidc/session-store.ts"
import { digestOf } from "../../plan/canonical.ts"
import type { PlanBody } from "../../plan/plan.ts"
import type { RedisConnection, RedisSettings } from "../../redis/redis-connection.ts"
import { readRedisUrl } from "../../redis/redis-url.ts"
import type { Held } from "./held.ts"
import type { References } from "./references.ts"

/** Opens what processes share in Redis, each with a connection of its own: a large entry of the cache must not delay a counter. `prefix`: of all keys. */
export interface OpenShared {
  readonly limiter: (settings: RedisSettings, prefix: string) => SharedLimiter
  readonly cache: (settings: RedisSettings, prefix: string, bytesMax: number) => SharedCache
  /** For sessions of `auth oidc`. */
  readonly sessions: (settings: RedisSettings, prefix: string) => RedisConnection
}

/** Where processes share sessions. `prefix`: of all keys. */
interface SharedSessionStore {
  readonly store: SessionStore
  readonly prefix: string
}

/** What the processes of a gateway share. Undefined: each process has its own. */
export interface SharedResources {
  readonly shared: Held<SharedLimiter> | undefined
  readonly sharedCache: Held<SharedCache> | undefined
  readonly sessions: Held<SharedSessionStore> | undefined
}

/** What opening shared counters needs. */
interface SharedMaker {
  readonly references: References
  /** Absent where nothing may be opened: each process then has its own. */
  readonly dependencies: {
    readonly openShared?: OpenShared | undefined
    /** Keeps sessions instead of Redis. */
    readonly sessionStore?: SessionStore | undefined
  }
  attemptLater(place: string, make: () => Promise<void>): Promise<void>
  readAuthorities(what: string, file: string): Promise<string>
  take<T>(before: Held<T> | undefined, key: string, make: () => { value: T; close: () => void }): Held<T>
}

/** Opens the counters and the cache that the processes of a gateway share, or keeps those of the previous plan. A server that is unavailable refuses no plan. */
export async function provisionShared(
  maker: SharedMaker,
  { gateway, oidcClients }: PlanBody,
  previous: SharedResources | undefined,
): Promise<SharedResources> {
  const { openShared, sessionStore } = maker.dependencies
  let found: SharedResources = { shared: undefined, sharedCache: undefined, sessions: undefined }
  if (sessionStore !== undefined) {
    const make = () => ({ value: { store: sessionStore, prefix: "" }, close: () => undefined })
    return { ...found, sessions: maker.take(previous?.sessions, "given", make) }
  }
  if (gateway?.shared === undefined || openShared === undefined) return found
  const { name, shared } = gateway
  await maker.attemptLater("gateway", async () => {
    const secret = `the secret \`${shared.redis}\``
    const address = readRedisUrl(maker.references.secrets.get(shared.redis) ?? "", secret)
    const { ca, insecure } = shared.tls
    if (!address.tls && (insecure || ca !== undefined))
      throw new Error(
        `${secret}: the URL has no TLS, so \`tls\` of \`shared redis\` has no effect; write \`rediss:\``,
      )
    const authorities = ca === undefined ? undefined : await maker.readAuthorities("`shared redis`", ca.file)
    const settings: RedisSettings = { address, ca: authorities, insecure, waitMs: shared.waitMs }
    const prefix = `sallyport/${name}/`
    const { cacheBytesMax } = shared
    const counters = maker.take(previous?.shared, digestOf({ ...settings, name }), () =>
      closing(openShared.limiter(settings, prefix)),
    )
    const cache =
      cacheBytesMax === undefined
        ? undefined
        : maker.take(previous?.sharedCache, digestOf({ ...settings, name, cacheBytesMax }), () =>
            closing(openShared.cache(settings, prefix, cacheBytesMax)),
          )
    const keepsSessions = Object.values(oidcClients ?? {}).some(({ store }) => store === "redis")
    const sessions = keepsSessions
      ? maker.take(previous?.sessions, digestOf({ ...settings, name }), () => {
          const connection = openShared.sessions(settings, prefix)
          return { value: { store: new RedisSessions(connection), prefix }, close: () => connection.close() }
        })
      : undefined
    found = { shared: counters, sharedCache: cache, sessions }
  })
  return found
}

function closing<T extends { close(): void }>(value: T): { value: T; close: () => void } {
  return { value, close: () => value.close() }
}
