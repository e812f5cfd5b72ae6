import type { StepOf } from "../plan/steps.ts"
import { problem, Refused } from "./answer.ts"
import type { BackendHandle, Exchange } from "./exchange.ts"
import { anyText } from "./grammars.ts"
import type { Policy, Provision } from "./policy.ts"
import { compileText } from "./text.ts"
import { compileUrl } from "./url-text.ts"

type Choose = (exchange: Exchange) => BackendHandle | undefined

/** Chooses where the request is sent. A choice that names none leaves the route's own backend. */
export const setBackend: Policy<"set-backend"> = (plan, provision) => {
  const choose = chooser(plan.target, provision)
  return (exchange) => {
    const chosen = choose(exchange)
    if (chosen !== undefined) exchange.backend = chosen
    return undefined
  }
}

type Target = StepOf<"set-backend">["target"]

function chooser(target: Target, provision: Provision): Choose {
  if ("backend" in target) {
    const backend = provision.backend(target.backend)
    return () => backend
  }
  if ("weighted" in target) return byWeight(target, provision)
  if ("by" in target) return byValue(target, provision)
  const url = compileUrl(target.url, provision)
  if (url.hostVaries && !target.raw)
    throw new Error("what a request brings may not decide the host of a backend")
  const backends = provision.backendsByUrl()
  return (exchange) => {
    const made = url.of(exchange)
    try {
      return backends.at(made)
    } catch (error) {
      const cause = `what was made as the URL of a backend: ${error instanceof Error ? error.message : String(error)}`
      throw new Refused(problem("invalid-request", { cause }))
    }
  }
}

function byWeight({ weighted, key }: Extract<Target, { weighted: unknown }>, provision: Provision): Choose {
  const shares = weighted.map(({ backend, weight }) => ({ backend: provision.backend(backend), weight }))
  const sum = shares.reduce((total, { weight }) => total + weight, 0)
  if (sum === 0) throw new Error("all weights are 0: nothing could be chosen")
  const sticky = key === undefined ? undefined : compileText(key, provision, anyText)
  return (exchange) => {
    let left = (sticky === undefined ? Math.random() : fractionOf(sticky.of(exchange))) * sum
    for (const { backend, weight } of shares) {
      left -= weight
      if (left < 0) return backend
    }
    return shares.findLast(({ weight }) => weight > 0)?.backend
  }
}

function byValue({ by, cases, otherwise }: Extract<Target, { by: unknown }>, provision: Provision): Choose {
  const value = compileText(by, provision, anyText)
  const backends = new Map(cases.map((each) => [each.value, provision.backend(each.backend)]))
  const other = otherwise === null ? undefined : provision.backend(otherwise)
  return (exchange) => {
    const found = value.of(exchange)
    return backends.get(found) ?? other
  }
}

/** The same text gives the same number from 0 to 1, spread evenly (FNV-1a with a last mixing). */
export function fractionOf(text: string): number {
  let hash = 0x811c9dc5
  for (const byte of Buffer.from(text)) hash = Math.imul(hash ^ byte, 0x01000193)
  hash ^= hash >>> 16
  hash = Math.imul(hash, 0x85ebca6b)
  hash ^= hash >>> 13
  hash = Math.imul(hash, 0xc2b2ae35)
  hash ^= hash >>> 16
  return (hash >>> 0) / 0x1_0000_0000
}
