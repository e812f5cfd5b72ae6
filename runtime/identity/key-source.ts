import { readFile } from "node:fs/promises"
import { isIP } from "node:net"
import { OutgoingError, type RequestSender } from "../http/client/http-client.ts"
import { fileReason } from "../plan/file-reason.ts"
import { type IssuerKey, readInlineKeys } from "./inline-keys.ts"
import { type KeySet, readKeySet } from "./key-set.ts"

/** Keys, and the exact `iss` of tokens of this issuer; null: any. `fixed`: a key without an id is also tried for tokens with a `kid`. */
export interface IssuerKeys {
  readonly issuer: string | null
  readonly keys: KeySet
  readonly fixed?: boolean
}

/** Gets the current keys. Rejects with a message for logs and status if they are unavailable or unusable. */
export type KeySource = () => Promise<IssuerKeys>

export interface DiscoverySettings {
  /** URL of the OpenID configuration, or of the issuer (the well-known part is added). */
  readonly url: string
  /** The document is at exactly this URL, and may name any issuer: the documents of Microsoft Entra ID and Azure AD B2C name another one. */
  readonly exact?: boolean
  readonly algorithms: readonly string[]
  readonly http: RequestSender
}

const wellKnown = "/.well-known/openid-configuration"
/** A discovery document has a few KiB, a key set of ten keys about 15 KiB; a larger response is broken or hostile. */
const bytesMax = 512 * 1024
const timeoutMs = 5_000

/**
 * Keys by OpenID Connect Discovery 1.0. `issuer` of the document must equal the URL where it was found (§4.3) unless the settings have `exact`.
 * Redirects are rejected. `jwks_uri` must not lead from https to http, or from a public host to a private address.
 */
export function discoverySource(settings: DiscoverySettings): KeySource {
  const { exact = false } = settings
  const isWhole = exact || settings.url.endsWith(wellKnown)
  const url = isWhole ? settings.url : settings.url.replace(/\/$/, "") + wellKnown
  const expected = exact ? undefined : url.slice(0, -wellKnown.length)
  return async () => {
    const document = await fetchJson(url, "the discovery document", settings)
    const found = issuerOf(document, url, expected)
    const jwksUri = stringMember(document, "jwks_uri")
    if (jwksUri === undefined) throw new Error(`the discovery document at ${url} has no \`jwks_uri\``)
    requireSafeStep(url, jwksUri)
    const keys = await readKeySet(await fetchJson(jwksUri, "the key set", settings), settings.algorithms)
    return { issuer: found, keys }
  }
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

/** Keys from a JWKS file. */
export function fileSource(path: string, issuer: string | null, algorithms: readonly string[]): KeySource {
  return async () => {
    const text = await readFile(path, "utf8").catch((error: unknown) => {
      throw new Error(`the key file ${path} cannot be read: ${fileReason(error)}`)
    })
    return { issuer, keys: await readKeySet(parseJson(text, `the key file ${path}`), algorithms) }
  }
}

/** Keys written in the plan. */
export function inlineSource(
  keys: readonly IssuerKey[],
  issuer: string | null,
  algorithms: readonly string[],
): KeySource {
  return async () => ({ issuer, keys: await readInlineKeys(keys, algorithms), fixed: true })
}

function requireSafeStep(from: string, to: string): void {
  const source = new URL(from)
  const target = URL.canParse(to) ? new URL(to) : undefined
  if (target === undefined || (target.protocol !== "https:" && target.protocol !== "http:")) {
    throw new Error(`\`jwks_uri\` is not an http(s) URL: ${JSON.stringify(to)}`)
  }
  if (source.protocol === "https:" && target.protocol !== "https:") {
    throw new Error(`\`jwks_uri\` of an https issuer is not https: ${to}`)
  }
  if (isPrivateHost(target.hostname) && !isPrivateHost(source.hostname)) {
    throw new Error(`\`jwks_uri\` of a public issuer is a private address: ${to}`)
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

async function fetchJson(url: string, what: string, { http }: DiscoverySettings): Promise<unknown> {
  try {
    const headers = ["accept", "application/json", "user-agent", "sallyport"]
    const { status, body } = await http.send({
      ...{ url, method: "GET", headers, body: undefined, timeoutMs, responseBytesMax: bytesMax },
    })
    if (status >= 300 && status < 400) throw new Error(`it responds with a redirect (${status})`)
    if (status !== 200) throw new Error(`it responds with ${status}`)
    return parseJson(body.toString("utf8"), "the response")
  } catch (error) {
    throw new Error(`${what} at ${url} is not available: ${reasonOf(error)}`)
  }
}

function parseJson(text: string, what: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw new Error(`${what} is not JSON${/^\s*</.test(text) ? " but looks like HTML" : ""}`)
  }
}

function stringMember(json: unknown, member: string): string | undefined {
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
