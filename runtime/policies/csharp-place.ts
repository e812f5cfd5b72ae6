import type {
  PolicyApi,
  PolicyDeployment,
  PolicyError,
  PolicyLists,
  PolicyOperation,
  PolicyProduct,
  PolicySubscription,
  PolicyUrl,
} from "../csharp/ports.ts"
import type { Exchange } from "./exchange.ts"

/** `context.Api`; undefined before a route is known. */
export function api({ route }: Exchange): PolicyApi | undefined {
  if (route === undefined) return undefined
  const { api: name, version, stripPrefix } = route.plan
  return {
    id: name,
    name,
    path: stripPrefix.replace(/^\//, ""),
    protocols: ["http", "https"],
    serviceUrl: route.backendUrl === undefined ? undefined : serviceUrl(route.backendUrl),
    keyHeader: "Ocp-Apim-Subscription-Key",
    keyQuery: "subscription-key",
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
  const { operation: name, method, path, stripPrefix } = route.plan
  return { id: name, name, method, urlTemplate: path.slice(stripPrefix.length) || "/" }
}

/** `context.Product`: of the caller's subscription. */
export function product({ subscriber }: Exchange): PolicyProduct | undefined {
  const name = subscriber?.product
  if (name === undefined) return undefined
  return {
    id: name,
    name,
    state: "Published",
    approvalRequired: false,
    subscriptionRequired: true,
    subscriptionLimit: undefined,
    groups: [],
    apis: [],
  }
}

const noCertificates: ReadonlyMap<string, never> = new Map<string, never>()

/** `context.Deployment`. */
export function deployment({ gatewayName: name }: Exchange): PolicyDeployment {
  return { region: "", serviceId: name, serviceName: name, gatewayId: name, certificates: noCertificates }
}

/** `context.Subscription`; none for calls of an open product without a key. */
export function subscription({ subscriber, subscriptionKey: key }: Exchange): PolicySubscription | undefined {
  if (subscriber === undefined || subscriber.name === "") return undefined
  const { name, sinceMs } = subscriber
  return { id: name, name, key: key ?? "", createdMs: sinceMs ?? 0, startMs: sinceMs, endMs: undefined }
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
