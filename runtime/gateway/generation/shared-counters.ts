import type { SharedLimiter } from "../../limits/shared-limiter.ts"
import { digestOf } from "../../plan/canonical.ts"
import type { PlanBody } from "../../plan/plan.ts"
import type { RedisSettings } from "../../redis/redis-connection.ts"
import { readRedisUrl } from "../../redis/redis-url.ts"
import type { Held } from "./held.ts"
import type { References } from "./references.ts"

/** Opens counters in Redis. `prefix`: of their keys. */
export type OpenShared = (settings: RedisSettings, prefix: string) => SharedLimiter

/** What opening shared counters needs. */
interface SharedMaker {
  readonly references: References
  /** Absent where nothing may be opened: each process then counts on its own. */
  readonly dependencies: { readonly openShared?: OpenShared | undefined }
  attemptLater(place: string, make: () => Promise<void>): Promise<void>
  readAuthorities(what: string, file: string): Promise<string>
  take<T>(before: Held<T> | undefined, key: string, make: () => { value: T; close: () => void }): Held<T>
}

/** Opens the counters that the processes of a gateway share, or keeps those of the previous plan. A server that is unavailable refuses no plan. */
export async function provisionShared(
  maker: SharedMaker,
  { gateway }: PlanBody,
  previous: { readonly shared: Held<SharedLimiter> | undefined } | undefined,
): Promise<Held<SharedLimiter> | undefined> {
  const { openShared } = maker.dependencies
  let found: Held<SharedLimiter> | undefined
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
    found = maker.take(previous?.shared, digestOf({ ...settings, name }), () => {
      const value = openShared(settings, `sallyport/${name}/`)
      return { value, close: () => value.close() }
    })
  })
  return found
}
