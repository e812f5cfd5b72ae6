import type { Policy } from "../policy.ts"
import { anyText } from "../values/grammars.ts"
import { compileText } from "../values/text.ts"
import { valueKey } from "./cached-response.ts"

/** Removes a value. */
export const cacheRemove: Policy<"cache-remove"> = (plan, provision) => {
  const cache = provision.cache()
  const key = compileText(plan.key, provision, anyText)
  return (exchange) => {
    const removed = cache.remove(valueKey(key.of(exchange)))
    return removed instanceof Promise ? removed.then(() => undefined) : undefined
  }
}
