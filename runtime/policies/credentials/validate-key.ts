import type { KeyTable } from "../../identity/keys.ts"
import { type StepOf, shownTo } from "../../plan/steps.ts"
import type { Exchange } from "../exchange.ts"
import { problem } from "../messages/answer.ts"
import type { Outcome, Policy } from "../policy.ts"
import { dropCredential } from "./credential.ts"

/**
 * Verifies a subscription key, from the header or else the query. Without a key, a call of an open product passes as a call of that product; a key
 * that is present must be valid nevertheless. The key is removed from the request unless the plan forwards it.
 */
export const validateKey: Policy<"validate-key"> = (plan, provision) => {
  const keys = provision.keys()
  const shown = shownTo(plan)
  const products = provision.productsOf(plan.api)
  const open = provision.openProductOf(plan.api)
  const keyless = open === undefined ? undefined : { name: "", product: open, api: undefined }
  const missing = refusal(plan, false, "no subscription key")
  const unknown = refusal(plan, true, "the subscription key is unknown")
  const uncovered = refusal(plan, true, `the subscription does not cover \`${plan.api}\``)
  const unavailable = problem("authorization-unavailable", {
    headers: ["retry-after", "1"],
    cause: "subscriptions have not been read from the database yet",
  })
  const doubled = problem("invalid-header", { presented: true, cause: "the subscription key is given twice" })
  return (exchange) => {
    const found = readKey(plan, exchange)
    if (found === undefined) {
      if (keyless === undefined) return missing
      exchange.subscriber = keyless
      return undefined
    }
    if (found === twice) return doubled
    const subscriber = keys.find(found)
    if (subscriber === undefined) return keys.complete ? unknown : unavailable
    if (typeof subscriber === "string") return refusal(plan, true, subscriber)
    const { product, api, all } = subscriber
    if (!all && api !== plan.api && (product === undefined || !products.has(product))) return uncovered
    exchange.subscriber = subscriber
    exchange.subscriptionKey = found
    dropCredential(shown, exchange)
    return undefined
  }
}

/**
 * Identifies the subscription of a call that was refused before its key was checked: a valid key, in the place where the route reads it, names its
 * subscription.
 */
export function nameSubscriber(exchange: Exchange, keys: KeyTable): void {
  const { route, facts } = exchange
  const key = route === undefined ? undefined : readKey(facts.keyPlaces(route.plan), exchange)
  if (route === undefined || key === undefined || key === twice) return
  const found = keys.find(key)
  if (found === undefined || typeof found === "string") return
  const { api } = route.plan
  const covered = found.product === undefined ? undefined : facts.product(found.product)
  if (found.all || found.api === api || covered?.apis.some(({ name }) => name === api) === true)
    exchange.subscriber = found
}

const twice = Symbol("twice")

/** The key of a request: the header comes before the query. Two of one kind are refused. */
function readKey(
  { header, query }: { readonly [Place in "header" | "query"]: string | null | undefined },
  exchange: Exchange,
): string | typeof twice | undefined {
  if (header !== null && header !== undefined) {
    const inHeader = exchange.headers.get(header)
    if (inHeader !== undefined) return exchange.headers.count(header) > 1 ? twice : inHeader
  }
  if (query === null || query === undefined) return undefined
  const inQuery = exchange.query.get(query)
  return inQuery !== undefined && exchange.query.count(query) > 1 ? twice : inQuery
}

/** RFC 9110 §15.5.2 requires a challenge in every 401; no registered scheme describes a key in a custom header. */
function refusal(plan: StepOf<"validate-key">, presented: boolean, cause: string): Outcome {
  const places = [
    ...(plan.header === null ? [] : [`header="${plan.header}"`]),
    ...(plan.query === null ? [] : [`query="${plan.query.replace(/[^\w.~-]/g, "")}"`]),
  ]
  return problem("unauthorized", {
    status: plan.status,
    headers: plan.status === 401 ? ["www-authenticate", `Subscription-Key ${places.join(", ")}`] : [],
    reason: presented ? "SubscriptionKeyInvalid" : "SubscriptionKeyNotFound",
    presented,
    cause,
  })
}
