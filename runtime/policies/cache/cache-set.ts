import type { Policy } from "../policy.ts"
import { anyText } from "../values/grammars.ts"
import { compileText } from "../values/text.ts"
import { compileTextOrValue } from "../values/text-or-value.ts"
import { compileCount } from "../values/value.ts"
import { encodeValue, valueKey } from "./cached-response.ts"

/** Stores a value. */
export const cacheSet: Policy<"cache-set"> = (plan, provision) => {
  const cache = provision.cache()
  const azure = provision.azure()
  const key = compileText(plan.key, provision, anyText)
  const value = compileTextOrValue(plan.value, provision)
  const seconds = compileCount(plan.seconds, provision)
  return (exchange) => {
    const kept = cache.set(
      valueKey(key.of(exchange)),
      encodeValue(value(exchange), azure),
      seconds(exchange) * 1000,
    )
    return kept instanceof Promise ? kept.then(() => undefined) : undefined
  }
}
