import { randomUUID } from "node:crypto"
import { cookieValues } from "../../http/cookies.ts"
import { asHttp } from "../../plan/http-syntax.ts"
import type { StepOf } from "../../plan/steps.ts"
import type { BackendHandle, Exchange } from "../exchange.ts"
import { fractionOf } from "../fraction.ts"
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

type Weighted = Extract<Target, { weighted: unknown }>

/**
 * By weight, randomly or by a key: equal keys have equal backends. The backend with the highest score gets the request (weighted rendezvous hashing),
 * so a change of weights moves only the callers that it has to: those of a backend that gets less, to those that get more. A backend without a
 * healthy target is passed over; weight 0 gets nothing, not even then.
 */
function byWeight({ weighted, key, cookie }: Weighted, provision: Provision): Choose {
  const weights = new Map<string, number>()
  for (const { backend, weight } of weighted) weights.set(backend, (weights.get(backend) ?? 0) + weight)
  const shares = [...weights]
    .filter(([, weight]) => weight > 0)
    .map(([name, weight]) => ({ chosen: { backend: provision.backend(name) }, weight }))
  if (shares.length === 0) throw new Error("all weights are 0, so no backend could be chosen")
  const keyOf = compileKey(key, cookie, provision)
  const { clock } = provision
  return (exchange) => {
    const text = keyOf(exchange)
    let [best, most] = [undefined as Chosen | undefined, Number.NEGATIVE_INFINITY]
    let [preferred, highest] = [undefined as Chosen | undefined, Number.NEGATIVE_INFINITY]
    for (const { chosen, weight } of shares) {
      const { backend } = chosen
      const score = -weight / Math.log(text === "" ? clock.random() : fractionOf(`${backend.name}\n${text}`))
      if (score > highest) [preferred, highest] = [chosen, score]
      if (score > most && !backend.isAway) [best, most] = [chosen, score]
    }
    return best ?? preferred
  }
}

/** The text by which a caller keeps its backend; empty: by chance. */
function compileKey(
  key: Weighted["key"],
  cookie: Weighted["cookie"],
  provision: Provision,
): (exchange: Exchange) => string {
  if (cookie !== undefined) return (exchange) => cookieOf(exchange, cookie)
  const text = key === undefined ? undefined : compileText(key, provision, anyText)
  return text === undefined ? () => "" : (exchange) => text.of(exchange)
}

/** The caller's id. A caller without one gets it with the response. */
function cookieOf(exchange: Exchange, { name, seconds }: NonNullable<Weighted["cookie"]>): string {
  const [present] = cookieValues(exchange.headers.get("cookie"), name)
  if (present !== undefined && present !== "") return present
  const id = randomUUID()
  const age = seconds === undefined ? "" : `; Max-Age=${seconds}`
  const secure = exchange.scheme === "https" ? "; Secure" : ""
  exchange.answerWith("set-cookie", `${name}=${id}; Path=/${age}; HttpOnly; SameSite=Lax${secure}`)
  return id
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
