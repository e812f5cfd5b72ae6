import { randomBytes } from "node:crypto"
import type {
  PolicyBody,
  PolicyContext,
  PolicyDeployment,
  PolicyError,
  PolicyHeaders,
  PolicyRequest,
  PolicyResponse,
  PolicySubscription,
  PolicyUrl,
} from "../csharp/ports.ts"
import type { Exchange, MessageBody } from "./exchange.ts"
import { HeaderList } from "./header-list.ts"

/** What an expression sees that is no part of the exchange: the API and operation of the route, the gateway, and what the plan names. */
export interface CsharpSurroundings {
  readonly api: PolicyContext["api"]
  readonly operation: PolicyContext["operation"]
  readonly product: PolicyContext["product"]
  readonly deployment: PolicyDeployment
  trace(source: string, message: string): void
  namedValue(kind: "value" | "secret", name: string): string
}

/** `context` of a policy expression, over one request. The bodies its program needs have been loaded. */
export function csharpContext(exchange: Exchange, around: CsharpSurroundings): PolicyContext {
  return {
    ...around,
    requestId: exchange.id,
    subscription: subscription(exchange),
    user: undefined,
    request: request(exchange),
    // Read when it is asked for: the response comes while the steps run.
    get response() {
      return response(exchange)
    },
    get error() {
      return failure(exchange)
    },
    tracing: false,
    startedMs: exchange.startedAtMs,
    variables: exchange.variables,
    nowMs: Date.now,
    randomBytes,
    storedResponse,
    trace: (source, message) => around.trace(source, message),
    namedValue: (kind, name) => around.namedValue(kind, name),
  }
}

function request(exchange: Exchange): PolicyRequest {
  return {
    get method() {
      return exchange.sentMethod ?? exchange.method
    },
    get url() {
      return url(exchange, exchange.rewritten ?? exchange.path)
    },
    get originalUrl() {
      return url(exchange, exchange.path)
    },
    headers: headers(exchange.headers),
    ipAddress: exchange.ip,
    matchedParameters: new Map(Object.entries(exchange.parameters)),
    get body() {
      return body(exchange.requestBody)
    },
    certificate: undefined,
  }
}

function url(exchange: Exchange, path: string): PolicyUrl {
  const { scheme, authority, query } = exchange
  const [, host = authority, port] = /^(.*?)(?::(\d+))?$/.exec(authority) ?? []
  const text = query.text.replace(/^\?/, "")
  const values = new Map<string, string[]>()
  for (const [name, value] of new URLSearchParams(text)) {
    const known = values.get(name)
    if (known === undefined) values.set(name, [value])
    else known.push(value)
  }
  return {
    scheme,
    host,
    port: port === undefined ? (scheme === "https" ? 443 : 80) : Number(port),
    path,
    queryString: text === "" ? "" : `?${text}`,
    query: values,
  }
}

function headers(list: HeaderList): PolicyHeaders {
  return {
    get: (name) => valuesOf(list, name.toLowerCase()),
    entries: () => {
      const names = new Set(list.flat.filter((_, index) => index % 2 === 0))
      return [...names].map((name) => [name, valuesOf(list, name) ?? []] as const)
    },
  }
}

function valuesOf({ flat }: HeaderList, name: string): readonly string[] | undefined {
  const found: string[] = []
  for (let at = 0; at < flat.length; at += 2) if (flat[at] === name) found.push(flat[at + 1] as string)
  return found.length === 0 ? undefined : found
}

function body(message: MessageBody): PolicyBody {
  return { present: message.present, content: () => message.content }
}

function response({ response: pending }: Exchange): PolicyResponse | undefined {
  if (pending === undefined) return undefined
  return {
    status: pending.status,
    reason: pending.reason ?? "",
    headers: headers(pending.headers),
    // Only programs that need it have it loaded, and only they ask.
    get body() {
      return body(pending.body)
    },
  }
}

/** A response of a request a policy sent, as variables hold it. */
function storedResponse(value: unknown): PolicyResponse | undefined {
  if (
    typeof value !== "object" ||
    value === null ||
    !("status" in value && "body" in value && "headers" in value)
  )
    return undefined
  const { status, headers: list, body: content } = value
  if (!(list instanceof HeaderList && Buffer.isBuffer(content))) return undefined
  const reason = "reason" in value ? String(value.reason) : ""
  return {
    status: Number(status),
    reason,
    headers: headers(list),
    body: { present: content.length > 0, content: () => content },
  }
}

function subscription({ subscriber }: Exchange): PolicySubscription | undefined {
  if (subscriber === undefined) return undefined
  const { name, sinceMs } = subscriber
  // Keys are kept as digests: none can be shown.
  return {
    id: name,
    name,
    key: "",
    primaryKey: "",
    secondaryKey: "",
    createdMs: sinceMs ?? 0,
    startMs: sinceMs,
    endMs: undefined,
  }
}

function failure({ error }: Exchange): PolicyError | undefined {
  if (error === undefined) return undefined
  const { source, reason, message, section, policyId } = error
  return { source, reason, message, section, scope: "", path: "", policyId: policyId ?? "" }
}
