import type { Cached } from "../../cache/cache.ts"
import type { Exchange } from "../exchange.ts"
import type { Outcome, Policy } from "../policy.ts"
import { runSteps } from "../run-steps.ts"
import { anyText } from "../values/grammars.ts"
import { compileText } from "../values/text.ts"
import { compileTextOrValue } from "../values/text-or-value.ts"
import { compileCount } from "../values/value.ts"
import { decodeValue, encodeValue, valueKey } from "./cached-response.ts"

/** Maximum wait for the value of another exchange; after that it is better to compute the value. */
const waitMs = 30_000

/**
 * Reads a value into a variable. When it is absent, one exchange runs the steps that compute it, and the others wait. After `refreshAfterSeconds` one
 * exchange computes the new value while the others use the old one.
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
  const { now } = provision.clock

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
    const name = valueKey(key.of(exchange))
    const found = cache.get(name)
    return found instanceof Promise
      ? found.then((late) => settle(exchange, name, late))
      : settle(exchange, name, found)
  }
}
