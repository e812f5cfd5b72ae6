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

/** `context.Api`; undefined before a route is known. An API has only the revision in the plan. */
export function api({ route, scheme, facts }: Exchange): PolicyApi | undefined {
  if (route === undefined) return undefined
  const { api: name, version, stripPrefix } = route.plan
  const { header, query } = facts.keyPlaces(route.plan)
  return {
    id: name,
    name,
    // With a leading slash: published documents append it to a host.
    path: `/${stripPrefix.replace(/^\//, "")}`,
    protocols: [scheme],
    serviceUrl: route.backendUrl === undefined ? undefined : serviceUrl(route.backendUrl),
    keyHeader: header,
    keyQuery: query,
    revision: "1",
    version: version ?? "",
  }
}

/** The URL of a backend in parts. */
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

/** `context.Product`: of the caller's subscription. Groups are not supported. */
export function product({ subscriber, facts }: Exchange): PolicyProduct | undefined {
  const name = subscriber?.product
  const found = name === undefined ? undefined : facts.product(name)
  if (name === undefined || found === undefined) return undefined
  const { published, ...rest } = found
  return { id: name, name, state: published ? "Published" : "NotPublished", groups: [], ...rest }
}

/** The id of this process by machine and process number, as in `status`. */
const instanceId = `${hostname()}-${process.pid}`

/** `context.Deployment`: the name of the gateway. There is no region. */
export function deployment({ gatewayName: name, facts }: Exchange): PolicyDeployment {
  const ids = { region: "", serviceId: name, serviceName: name, gatewayId: name, instanceId }
  return { ...ids, certificates: declaredCertificates(facts.certificates) }
}

/** `context.User`: the owner of the caller's subscription; undefined if it has none. Only the name is known. */
export function user({ subscriber }: Exchange): PolicyUser | undefined {
  const owner = subscriber?.owner
  if (owner === undefined) return undefined
  const unknown = { firstName: undefined, lastName: undefined, note: undefined, registeredMs: undefined }
  const email = /^[^\s@]+@[^\s@]+$/.test(owner) ? owner : undefined
  return { id: owner, email, ...unknown, groups: [], identities: [] }
}

/** `context.Subscription`; undefined for calls of an open product without a key. */
export function subscription({ subscriber, subscriptionKey: key }: Exchange): PolicySubscription | undefined {
  if (subscriber === undefined || subscriber.name === "") return undefined
  const { name, sinceMs, untilMs } = subscriber
  return { id: name, name, key: key ?? "", createdMs: sinceMs, startMs: sinceMs, endMs: untilMs }
}

/** Azure API Management's names for statements of gateway.conf that fail, if they differ. */
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
