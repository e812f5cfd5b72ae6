/** How the gateway treats a field of a request before any policy sees it. */
export type RequestRole =
  | "pass"
  /** Hop-by-hop (RFC 9110 §7.6.1 and the older list of RFC 2616 §13.5.1), or an expectation that the gateway handles itself. */
  | "hop"
  /** Origin of the request: the gateway writes it, so that a client cannot forge it. */
  | "forwarding"
  | "connection"
  | "host"
  | "content-length"
  | "transfer-encoding"
  | "te"
  | "expect"
  | "upgrade"
  | "forwarded-for"
  | "forwarded-proto"
  | "forwarded-host"
  | "request-id"
  | "via"
  /** Position of the request in a trace. */
  | "trace-context"
  /** Allowed only once: readers that use the first value and readers that use the last one must agree. */
  | "once"
  /** With an underscore: many servers (CGI, WSGI) treat it like the name with a dash, so it could replace any field. */
  | "underscore"

export interface HeaderName {
  readonly lower: string
  readonly role: RequestRole
  /** Whether responses to clients omit it. */
  readonly hopInAnswer: boolean
}

/** What each header of a request means for the gateway. Hop-by-hop fields (RFC 9110, section 7.6.1) are never passed on. */
const roles: Readonly<Record<string, RequestRole>> = {
  connection: "connection",
  "keep-alive": "hop",
  "proxy-connection": "hop",
  "proxy-authorization": "hop",
  "proxy-authenticate": "hop",
  te: "te",
  trailer: "hop",
  "http2-settings": "hop",
  "transfer-encoding": "transfer-encoding",
  upgrade: "upgrade",
  expect: "expect",
  host: "host",
  "content-length": "content-length",
  "x-forwarded-for": "forwarded-for",
  "x-forwarded-proto": "forwarded-proto",
  "x-forwarded-host": "forwarded-host",
  "x-forwarded-port": "forwarding",
  "x-forwarded-server": "forwarding",
  "x-forwarded-prefix": "forwarding",
  "x-real-ip": "forwarding",
  forwarded: "forwarding",
  "client-cert": "forwarding",
  "client-cert-chain": "forwarding",
  "x-request-id": "request-id",
  via: "via",
  traceparent: "trace-context",
  tracestate: "trace-context",
  baggage: "trace-context",
  authorization: "once",
  "content-type": "once",
}

/** Fields of a response that belong to one connection. */
const hopInAnswer: ReadonlySet<string> = new Set([
  "connection",
  "keep-alive",
  "proxy-connection",
  "proxy-authenticate",
  "proxy-authorization",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade",
])

/** By the name as sent: clients spell their few names alike, so one lookup replaces lower-casing and a second lookup. */
const known = new Map<string, HeaderName>()
const knownMax = 2048

/** Lower-case name and role of a field. */
export function headerNameOf(sent: string): HeaderName {
  const found = known.get(sent)
  if (found !== undefined) return found
  const lower = sent.toLowerCase()
  const role = Object.hasOwn(roles, lower)
    ? (roles[lower] as RequestRole)
    : lower.includes("_")
      ? "underscore"
      : "pass"
  const made: HeaderName = { lower, role, hopInAnswer: hopInAnswer.has(lower) }
  // Clients choose the names: the cache is bounded and does not keep long ones.
  if (known.size < knownMax && sent.length <= 64) known.set(sent, made)
  return made
}

/** The field names in a Connection header, in lower case. */
export function nominated(connection: string): string[] {
  return connection
    .toLowerCase()
    .split(",")
    .map((name) => name.trim())
    .filter((name) => name !== "")
}
