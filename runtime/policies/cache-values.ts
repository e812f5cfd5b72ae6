import type { Cached } from "../cache/cache.ts"
import { decodeValue, encodeValue } from "./cached-response.ts"
import type { Exchange } from "./exchange.ts"
import { anyText } from "./grammars.ts"
import type { Outcome, Policy } from "./policy.ts"
import { runSteps } from "./run-steps.ts"
import { compileTextOrValue } from "./set-variable.ts"
import { compileText } from "./text.ts"
import { compileCount } from "./value.ts"

/** Values stand beside answers under keys that no answer has. */
const keyOf = (key: string) => `value ${key}`
/** Waiting for somebody else's value longer than this is worse than making it oneself. */
const waitMs = 30_000

/** Reads a value into a variable; absent, the default, else the variable stays as it was. */
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
    const found = cache.get(keyOf(key.of(exchange)))
    return found instanceof Promise ? found.then((late) => put(exchange, late)) : put(exchange, found)
  }
}

/** Keeps a value. */
export const cacheSet: Policy<"cache-set"> = (plan, provision) => {
  const cache = provision.cache()
  const azure = provision.azure()
  const key = compileText(plan.key, provision, anyText)
  const value = compileTextOrValue(plan.value, provision)
  const seconds = compileCount(plan.seconds, provision)
  return (exchange) => {
    const kept = cache.set(
      keyOf(key.of(exchange)),
      encodeValue(value(exchange), azure),
      seconds(exchange) * 1000,
    )
    return kept instanceof Promise ? kept.then(() => undefined) : undefined
  }
}

/** Forgets a value. */
export const cacheRemove: Policy<"cache-remove"> = (plan, provision) => {
  const cache = provision.cache()
  const key = compileText(plan.key, provision, anyText)
  return (exchange) => {
    const removed = cache.remove(keyOf(key.of(exchange)))
    return removed instanceof Promise ? removed.then(() => undefined) : undefined
  }
}

/**
 * Reads a value into a variable; absent, its steps make it and set the variable, once for all who wait. From `refreshAfterSeconds` on the old
 * value is used by all but the one exchange that makes the new.
 */
export const cacheValue: Policy<"cache-value"> = (plan, provision) => {
  const cache = provision.cache()
  const azure = provision.azure()
  const key = compileText(plan.key, provision, anyText)
  const seconds = compileCount(plan.seconds, provision)
  const refresh =
    plan.refreshAfterSeconds === undefined ? undefined : compileCount(plan.refreshAfterSeconds, provision)
  const otherwise = plan.default === undefined ? undefined : compileTextOrValue(plan.default, provision)
  const steps = plan.steps.map((id) => provision.step(id))
  const { variable } = plan
  const { now } = provision

  const make = async (exchange: Exchange, name: string): Promise<Outcome> => {
    exchange.variables.delete(variable)
    const outcome = await runSteps(steps, exchange)
    if (outcome !== undefined) return outcome
    const made = exchange.variables.get(variable) ?? otherwise?.(exchange)
    if (made === undefined) return undefined
    exchange.variables.set(variable, made)
    await cache.set(name, encodeValue(made, azure), seconds(exchange) * 1000)
    return undefined
  }

  const use = (exchange: Exchange, found: Cached): undefined =>
    void exchange.variables.set(variable, decodeValue(found.bytes, azure) ?? null)

  const obtain = async (exchange: Exchange, name: string, found: Cached | undefined): Promise<Outcome> => {
    const boarding = cache.flights.board(name, waitMs)
    if (boarding.leads) {
      exchange.whenOver(boarding.land)
      try {
        return await make(exchange, name)
      } finally {
        boarding.land()
      }
    }
    if (found !== undefined) return use(exchange, found)
    await boarding.landed
    const late = await cache.get(name)
    return late === undefined ? make(exchange, name) : use(exchange, late)
  }

  const settle = (
    exchange: Exchange,
    name: string,
    found: Cached | undefined,
  ): Outcome | Promise<Outcome> => {
    const isOld =
      found !== undefined && refresh !== undefined && now() - found.storedAtMs >= refresh(exchange) * 1000
    return found === undefined || isOld ? obtain(exchange, name, found) : use(exchange, found)
  }

  return (exchange) => {
    const name = keyOf(key.of(exchange))
    const found = cache.get(name)
    return found instanceof Promise
      ? found.then((late) => settle(exchange, name, late))
      : settle(exchange, name, found)
  }
}
