import { isIP } from "node:net"
import { OutgoingError, type RequestSender } from "../http/client/http-client.ts"
import { shownUrl } from "../http/client/shown-url.ts"

/** Where the discovery document of an issuer is. */
export interface DiscoveryPlace {
  /** URL of the OpenID configuration, or of the issuer (the well-known part is added). */
  readonly url: string
  /** The document is at exactly this URL, and may name any issuer: the documents of Microsoft Entra ID and Azure AD B2C name another one. */
  readonly exact?: boolean
  readonly http: RequestSender
}

/** A discovery document, and the issuer that it names. */
export interface DiscoveryDocument {
  /** Where it was found. */
  readonly url: string
  readonly issuer: string
  readonly document: unknown
}

const wellKnown = "/.well-known/openid-configuration"
/** A discovery document has a few KiB, a key set of ten keys about 15 KiB; a larger response is broken or hostile. */
const bytesMax = 512 * 1024
const timeoutMs = 5_000

/**
 * Gets a discovery document (OpenID Connect Discovery 1.0). Its `issuer` must equal the URL where it was found (§4.3) unless `exact`. Rejects with a
 * message for logs.
 */
export async function readDiscovery({
  url: given,
  exact = false,
  http,
}: DiscoveryPlace): Promise<DiscoveryDocument> {
  const url = discoveryUrl(given, exact)
  const expected = exact ? undefined : url.slice(0, -wellKnown.length)
  const document = await fetchJson(url, "the discovery document", http)
  return { url, issuer: issuerOf(document, url, expected), document }
}

/** Where the document is: at `given` itself when it is `exact`, else below an issuer that was given. */
export function discoveryUrl(given: string, exact = false): string {
  return exact || given.endsWith(wellKnown) ? given : given.replace(/\/$/, "") + wellKnown
}

/** The issuer named in a discovery document. `expected` undefined: any. @throws an Error with the expected value */
function issuerOf(document: unknown, url: string, expected: string | undefined): string {
  const found = stringMember(document, "issuer")
  if (found === undefined) throw new Error(`the discovery document at ${url} has no \`issuer\``)
  // Some providers name their issuer with a trailing slash, but are found without it. Both are the same URL; tokens must carry the value of the
  // document.
  if (expected !== undefined && found.replace(/\/$/, "") !== expected.replace(/\/$/, ""))
    throw new Error(
      `the discovery document at ${url} names the issuer ${JSON.stringify(found)}, not ${JSON.stringify(expected)}; if this is intended, write \`discovery "${url}" exact\``,
    )
  return found
}

/**
 * Checks that a URL in a discovery document (its member `name`) does not lead from https to http, or from a public host to a private address.
 * @throws Error with the URL
 */
export function requireSafeStep(from: string, to: string, name: string): void {
  const source = new URL(from)
  const target = URL.canParse(to) ? new URL(to) : undefined
  if (target === undefined || (target.protocol !== "https:" && target.protocol !== "http:")) {
    throw new Error(`\`${name}\` is not an http(s) URL: ${JSON.stringify(to)}`)
  }
  if (source.protocol === "https:" && target.protocol !== "https:") {
    throw new Error(`\`${name}\` of an https issuer is not https: ${to}`)
  }
  if (isPrivateHost(target.hostname) && !isPrivateHost(source.hostname)) {
    throw new Error(`\`${name}\` of a public issuer is a private address: ${to}`)
  }
}

/** Private literal addresses and internal names. This suffices against a document that points inwards; addresses behind other names are not resolved here. */
function isPrivateHost(hostname: string): boolean {
  const host = hostname.replace(/^\[|\]$/g, "").toLowerCase()
  if (host === "localhost" || host.endsWith(".localhost")) return true
  const version = isIP(host)
  if (version === 4)
    return /^(0|10|127)\.|^169\.254\.|^192\.168\.|^172\.(1[6-9]|2\d|3[01])\.|^100\.(6[4-9]|[7-9]\d|1[01]\d|12[0-7])\./.test(
      host,
    )
  return version === 6 && /^(::1?$|f[cd]|fe[89ab]|::ffff:)/.test(host)
}

/** Gets JSON of a bounded size. Rejects with a message that names `what`. */
export async function fetchJson(url: string, what: string, http: RequestSender): Promise<unknown> {
  try {
    const headers = ["accept", "application/json", "user-agent", "sallyport"]
    const { status, body } = await http.send({
      ...{ url, method: "GET", headers, body: undefined, timeoutMs, responseBytesMax: bytesMax },
    })
    if (status >= 300 && status < 400) throw new Error(`it responds with a redirect (${status})`)
    if (status !== 200) throw new Error(`it responds with ${status}`)
    return parseJson(body.toString("utf8"), "the response")
  } catch (error) {
    throw new Error(`${what} at ${shownUrl(url)} is not available: ${reasonOf(error)}`)
  }
}

/** @throws Error that names `what` */
export function parseJson(text: string, what: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw new Error(`${what} is not JSON${/^\s*</.test(text) ? " but looks like HTML" : ""}`)
  }
}

/** A member of a JSON object, if it is text. */
export function stringMember(json: unknown, member: string): string | undefined {
  const value =
    typeof json === "object" && json !== null ? (json as Record<string, unknown>)[member] : undefined
  return typeof value === "string" ? value : undefined
}

function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  if (error instanceof OutgoingError && error.reason === "too-large")
    return `it is larger than ${bytesMax} bytes`
  const { cause } = error
  const code = cause instanceof Error && "code" in cause ? `${String(cause.code)}: ` : ""
  return code + error.message
}
