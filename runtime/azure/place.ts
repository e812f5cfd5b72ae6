import { hostname } from "node:os"
import type { Exchange } from "../policies/exchange.ts"
import type {
  PolicyApi,
  PolicyDeployment,
  PolicyError,
  PolicyLists,
  PolicyOperation,
  PolicyProduct,
  PolicySubscription,
  PolicyUrl,
  PolicyUser,
} from "./csharp/ports.ts"
import { declaredCertificates } from "./declared-certificates.ts"

/** `context.Api`; undefined before a route is known. There is one revision of an API: the plan's. */
export function api({ route, scheme, facts }: Exchange): PolicyApi | undefined {
  if (route === undefined) return undefined
  const { api: name, version, stripPrefix } = route.plan
  const { header, query } = facts.keyPlaces(route.plan)
  return {
    id: name,
    name,
    // With its slash: published documents put it behind a host.
    path: `/${stripPrefix.replace(/^\//, "")}`,
    protocols: [scheme],
    serviceUrl: route.backendUrl === undefined ? undefined : serviceUrl(route.backendUrl),
    keyHeader: header,
    keyQuery: query,
    revision: "1",
    version: version ?? "",
  }
}

/** The address of a backend, in parts. */
export function serviceUrl(text: string): PolicyUrl {
  const { protocol, hostname, port, pathname } = new URL(text)
  const scheme = protocol.slice(0, -1)
  return {
    scheme,
    host: hostname,
    port: port === "" ? (scheme === "https" ? 443 : 80) : Number(port),
    path: pathname,
    queryString: "",
    query: noQuery,
  }
}

const noQuery: PolicyLists = { get: () => undefined, joined: () => undefined, entries: () => [] }

/** `context.Operation`; undefined before a route is known. */
export function operation({ route }: Exchange): PolicyOperation | undefined {
  if (route === undefined) return undefined
  const { operation: name, method, path, stripPrefix, queryParameters = [] } = route.plan
  const query = queryParameters.map((each) => `${each}={${each}}`).join("&")
  const urlTemplate = `${path.slice(stripPrefix.length) || "/"}${query === "" ? "" : `?${query}`}`
  return { id: name, name, method, urlTemplate }
}

/** `context.Product`: of the caller's subscription. There are no groups of callers. */
export function product({ subscriber, facts }: Exchange): PolicyProduct | undefined {
  const name = subscriber?.product
  const found = name === undefined ? undefined : facts.product(name)
  if (name === undefined || found === undefined) return undefined
  const { published, ...rest } = found
  return { id: name, name, state: published ? "Published" : "NotPublished", groups: [], ...rest }
}

/** Which process this is, by its machine and number as `status` lists them. */
const instanceId = `${hostname()}-${process.pid}`

/** `context.Deployment`: the gateway by its name. It knows no region. */
export function deployment({ gatewayName: name, facts }: Exchange): PolicyDeployment {
  const ids = { region: "", serviceId: name, serviceName: name, gatewayId: name, instanceId }
  return { ...ids, certificates: declaredCertificates(facts.certificates) }
}

/** `context.User`: who holds the caller's subscription; undefined where nobody was named. Of users the gateway knows what they are called, no more. */
export function user({ subscriber }: Exchange): PolicyUser | undefined {
  const owner = subscriber?.owner
  if (owner === undefined) return undefined
  const unknown = { firstName: undefined, lastName: undefined, note: undefined, registeredMs: undefined }
  const email = /^[^\s@]+@[^\s@]+$/.test(owner) ? owner : undefined
  return { id: owner, email, ...unknown, groups: [], identities: [] }
}

/** `context.Subscription`; none for calls of an open product without a key. */
export function subscription({ subscriber, subscriptionKey: key }: Exchange): PolicySubscription | undefined {
  if (subscriber === undefined || subscriber.name === "") return undefined
  const { name, sinceMs, untilMs } = subscriber
  return { id: name, name, key: key ?? "", createdMs: sinceMs, startMs: sinceMs, endMs: untilMs }
}

/** What Azure API Management calls a statement of gateway.conf that fails, where it has another word for it. */
const sources: ReadonlyMap<string, string> = new Map([
  ["validate-key", "authorization"],
  ["any-of", "authorization"],
  ["forward", "forward-request"],
  ["set-backend", "set-backend-service"],
  ["set-query", "set-query-parameter"],
  ["rewrite", "rewrite-uri"],
  ["find-replace", "find-and-replace"],
  ["mask-urls", "redirect-content-urls"],
  ["when", "choose"],
  ["parallel", "wait"],
  ["respond", "return-response"],
  ["validate-status", "validate-status-code"],
])

/** `context.LastError`. */
export function failure({ error }: Exchange): PolicyError | undefined {
  if (error === undefined) return undefined
  if (error.scope === "") return { ...error, source: sources.get(error.source) ?? error.source }
  return error
}
