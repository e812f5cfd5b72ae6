/** What a gateway does with a field of a request before any policy sees it. */
export type RequestRole =
  | "pass"
  /** Hop-by-hop (RFC 9110 §7.6.1 and the older list of RFC 2616 §13.5.1), or an expectation that the gateway answers itself. */
  | "hop"
  /** Says where a request came from: made anew, so that nobody can say it in our name. */
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
  /** May be given once: readers that take the first and readers that take the last must not disagree. */
  | "once"
  /** With an underscore: many servers (CGI, WSGI) can't tell it from the name with a dash, so it could pose as any field. */
  | "underscore"

export interface HeaderName {
  readonly lower: string
  readonly role: RequestRole
  /** Whether it is kept from clients in answers. */
  readonly hopInAnswer: boolean
}

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
  "x-request-id": "request-id",
  via: "via",
  authorization: "once",
  "content-type": "once",
}

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

/** By the name as sent: clients spell their few names alike, so one look-up replaces lower-casing and a second look-up. */
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
  // Names are the client's to choose: the memory of them is bounded, and long ones are not worth it.
  if (known.size < knownMax && sent.length <= 64) known.set(sent, made)
  return made
}

/** Fields named by a Connection header, lower case; the gateway's own may not be taken away by it. */
export function nominated(connection: string): string[] {
  return connection
    .toLowerCase()
    .split(",")
    .map((name) => name.trim())
    .filter((name) => name !== "")
}
