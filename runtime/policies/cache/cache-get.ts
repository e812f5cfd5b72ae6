import type { Cached } from "../../cache/cache.ts"
import type { Exchange } from "../exchange.ts"
import type { Policy } from "../policy.ts"
import { anyText } from "../values/grammars.ts"
import { compileText } from "../values/text.ts"
import { compileTextOrValue } from "../values/text-or-value.ts"
import { decodeValue, valueKey } from "./cached-response.ts"

/** Reads a value into a variable. When the value is absent, the variable gets the default; without a default it stays as it was. */
export const cacheGet: Policy<"cache-get"> = (plan, provision) => {
  const cache = provision.cache()
  const azure = provision.azure()
  const key = compileText(plan.key, provision, anyText)
  const otherwise = plan.default === undefined ? undefined : compileTextOrValue(plan.default, provision)
  const put = (exchange: Exchange, found: Cached | undefined): undefined => {
    const value = found === undefined ? otherwise?.(exchange) : decodeValue(found.bytes, azure)
    if (value !== undefined) exchange.variables.set(plan.variable, value)
    return undefined
  }
  return (exchange) => {
    const found = cache.get(valueKey(key.of(exchange)))
    return found instanceof Promise ? found.then((late) => put(exchange, late)) : put(exchange, found)
  }
}
