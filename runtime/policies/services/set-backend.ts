import { asHttp } from "../../plan/http-syntax.ts"
import type { StepOf } from "../../plan/steps.ts"
import type { BackendHandle, Exchange } from "../exchange.ts"
import { problem, Refused } from "../messages/answer.ts"
import { compileUrl } from "../messages/url-text.ts"
import type { Policy, Provision } from "../policy.ts"
import { anyText } from "../values/grammars.ts"
import { compileText } from "../values/text.ts"

interface Chosen {
  readonly backend: BackendHandle
  /** Query of the URL that names it. */
  readonly query?: string
}

type Choose = (exchange: Exchange) => Chosen | undefined

/** Maximum number of names in a message. */
const namesShown = 10

/** Chooses the backend. A choice without a result keeps the route's own backend, or is an error if the plan says so. */
export const setBackend: Policy<"set-backend"> = (plan, provision) => {
  const choose = chooser(plan.target, provision)
  return (exchange) => {
    const chosen = choose(exchange)
    if (chosen === undefined) return undefined
    exchange.backend = chosen.backend
    exchange.backendQuery = chosen.query ?? ""
    return undefined
  }
}

type Target = StepOf<"set-backend">["target"]

/** How the backend is chosen. The host of a URL must not come from the request unless the plan says so (`raw`). */
function chooser(target: Target, provision: Provision): Choose {
  if ("backend" in target) {
    const chosen = { backend: provision.backend(target.backend) }
    return () => chosen
  }
  if ("weighted" in target) return byWeight(target, provision)
  if ("by" in target) return byValue(target, provision)
  const url = compileUrl(target.url, provision, asHttp)
  if (url.hostVaries && !target.raw)
    throw new Error("a value from the request must not choose the host of a backend")
  const backends = provision.backendsByUrl()
  return (exchange) => {
    const made = url.of(exchange)
    try {
      return { backend: backends.at(made), query: made.includes("?") ? new URL(made).search.slice(1) : "" }
    } catch (error) {
      const cause = `the expression did not yield a valid backend URL:  ${error instanceof Error ? error.message : String(error)}`
      throw new Refused(problem("invalid-request", { cause }))
    }
  }
}

/** By weight, randomly or by a key: equal keys have equal backends. */
function byWeight({ weighted, key }: Extract<Target, { weighted: unknown }>, provision: Provision): Choose {
  const shares = weighted.map(({ backend, weight }) => ({
    chosen: { backend: provision.backend(backend) },
    weight,
  }))
  const sum = shares.reduce((total, { weight }) => total + weight, 0)
  if (sum === 0) throw new Error("all weights are 0, so no backend could be chosen")
  const sticky = key === undefined ? undefined : compileText(key, provision, anyText)
  return (exchange) => {
    let left = (sticky === undefined ? Math.random() : fractionOf(sticky.of(exchange))) * sum
    for (const { chosen, weight } of shares) {
      left -= weight
      if (left < 0) return chosen
    }
    return shares.findLast(({ weight }) => weight > 0)?.chosen
  }
}

/** By a value. Without a matching case the API's own backend is used, unless `strict`. */
function byValue(
  { by, cases, otherwise, strict }: Extract<Target, { by: unknown }>,
  provision: Provision,
): Choose {
  const value = compileText(by, provision, anyText)
  const backends = new Map(cases.map((each) => [each.value, { backend: provision.backend(each.backend) }]))
  const other = otherwise === null ? undefined : { backend: provision.backend(otherwise) }
  return (exchange) => {
    const found = value.of(exchange)
    const chosen = backends.get(found) ?? other
    if (chosen === undefined && strict === true)
      throw new Refused(
        problem("internal-error", { reason: "BackendNotFound", cause: unknown(found, cases) }),
      )
    return chosen
  }
}

function unknown(found: string, cases: readonly { readonly value: string }[]): string {
  const known = cases.slice(0, namesShown).map(({ value }) => JSON.stringify(value))
  const more = cases.length > namesShown ? ", …" : ""
  const all = known.length === 0 ? "the plan has none" : `the backends are ${known.join(", ")}${more}`
  return `unknown backend ${JSON.stringify(found.slice(0, 100))}; ${all}`
}

/** Maps a text to a number from 0 to 1, evenly distributed (FNV-1a with a final mixing step). */
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
