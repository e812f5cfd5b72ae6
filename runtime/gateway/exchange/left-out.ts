import type { RecordPlan } from "../../plan/resources.ts"
import type { CredentialPlaces } from "../../policies/exchange.ts"
import { QueryString } from "../../policies/messages/query-string.ts"
import type { RecordedField } from "../../record/recorded-request.ts"
import type { LiveExchange } from "./live-exchange.ts"

/** Fields that say how a message is to be read, and have no credentials. Others are recorded if the plan reads or lists them. */
const usualFields: ReadonlySet<string> = new Set([
  ...["accept", "accept-charset", "accept-encoding", "accept-language", "access-control-request-headers"],
  ...["access-control-request-method", "cache-control", "content-disposition", "content-encoding"],
  ...["content-language", "content-location", "content-range", "content-type", "date", "depth", "dnt"],
  ...[
    "if-match",
    "if-modified-since",
    "if-none-match",
    "if-range",
    "if-unmodified-since",
    "origin",
    "pragma",
  ],
  ...["prefer", "range", "referer", "sec-fetch-dest", "sec-fetch-mode", "sec-fetch-site", "user-agent"],
  ...["x-http-method-override", "x-requested-with"],
  ...["accept-ranges", "access-control-allow-credentials", "access-control-allow-headers"],
  ...["access-control-allow-methods", "access-control-allow-origin", "access-control-expose-headers"],
  ...["access-control-max-age", "age", "allow", "content-security-policy", "deprecation", "etag", "expires"],
  ...["last-modified", "link", "location", "retry-after", "server", "strict-transport-security", "sunset"],
  ...["vary", "warning", "www-authenticate", "x-content-type-options", "x-frame-options"],
])

/** Fields of one connection or of proxies: a replay has others. */
const neverRecorded: ReadonlySet<string> = new Set([
  ...["connection", "keep-alive", "proxy-connection", "te", "trailer", "transfer-encoding", "upgrade"],
  ...["content-length", "expect", "host", "via", "forwarded", "x-real-ip", "true-client-ip"],
  ...["cf-connecting-ip", "x-forwarded-for", "x-forwarded-host", "x-forwarded-port", "x-forwarded-proto"],
])

/** Fields with credentials, whatever the plan says. */
const credentialFields: ReadonlySet<string> = new Set([
  ...["authorization", "proxy-authorization", "cookie", "set-cookie", "authentication-info"],
  ...["proxy-authentication-info", "x-forwarded-client-cert", "client-cert", "client-cert-chain"],
])

/** Names that announce a credential, of fields and of query parameters: `x-api-key`, `access_token`, `sig`, `X-Amz-Signature`. */
const credentialName =
  /(?:^|[-_.]|x)(?:api-?)?(?:keys?|tokens?|secrets?|auth\w*|passw(?:or)?d|pwd|pass|sess(?:ion)?(?:id)?|sig(?:nature)?|credentials?|jwt|csrf|xsrf|cookies?|code|otp|pin|assertion|ticket)(?:$|[-_.])/i
const camelCredentialName =
  /(?:Key|Token|Secret|Password|Session|SessionId|Signature|Credential|Jwt)$|^apikey$/i

/** Values that are credentials under any name: an authentication scheme with its credentials (RFC 9110 §11.4), a JWT. */
const credentialValue =
  /^(?:bearer|basic|digest|negotiate|hmac|aws4-hmac-sha256)\s+\S|^eyJ[\w-]+\.[\w-]+\.[\w-]*/i

/** Decides what of a request is not recorded. */
export class LeftOut {
  /** Texts that must not be recorded wherever they occur. */
  readonly hidden: string[] = []
  readonly #names = new Set<string>()
  readonly #places: CredentialPlaces
  readonly #rules: Pick<RecordPlan, "headers" | "redact">
  readonly #headersRead: ReadonlySet<string>
  readonly #queries: ReadonlySet<string>

  constructor({ facts, subscriptionKey }: LiveExchange, rules: Pick<RecordPlan, "headers" | "redact">) {
    const { redact } = rules
    this.#places = facts.everyCredentialPlace
    this.#headersRead = facts.headersRead
    this.#rules = rules
    this.#queries = new Set([...this.#places.queries, ...redact.queries].map((name) => name.toLowerCase()))
    if (subscriptionKey !== undefined) this.#hide(subscriptionKey)
  }

  /** `header:NAME`, `query:NAME`, and `response:NAME` for headers of responses, of everything that was left out. */
  get names(): readonly string[] {
    return [...this.#names]
  }

  /** The fields that may be recorded, of the request (`header`) or of a response. */
  fields(fields: readonly RecordedField[], of: "header" | "response"): RecordedField[] {
    return fields.flatMap(([name, value]): RecordedField[] => {
      if (neverRecorded.has(name)) return []
      const isCredential =
        credentialFields.has(name) ||
        this.#places.headers.has(name) ||
        isCredentialName(name) ||
        credentialValue.test(value)
      if (isCredential) for (const secret of secretsIn(value)) this.#hide(secret)
      if (!isCredential && this.#mayHave(name)) return [[name, withoutQueries(value)]]
      this.#names.add(`${of}:${name}`)
      return []
    })
  }

  #mayHave(name: string): boolean {
    const { headers, redact } = this.#rules
    const isListed = usualFields.has(name) || this.#headersRead.has(name) || headers.includes(name)
    return isListed && !redact.headers.includes(name)
  }

  /** The target without the parameters that may not be recorded. */
  target(target: string): string {
    const at = target.indexOf("?")
    if (at === -1) return target
    const kept = target
      .slice(at + 1)
      .split("&")
      .filter((pair) => this.#keeps(pair))
    return kept.length === 0 ? target.slice(0, at) : `${target.slice(0, at)}?${kept.join("&")}`
  }

  #keeps(pair: string): boolean {
    for (const [name, value] of new QueryString(pair).pairs()) {
      const isCredential = isCredentialName(name) || credentialValue.test(value)
      if (!isCredential && !this.#queries.has(name.toLowerCase())) continue
      this.#names.add(`query:${name}`)
      this.#hide(value)
      this.#hide(pair.slice(pair.indexOf("=") + 1))
      return false
    }
    return true
  }

  #hide(text: string): void {
    if (text !== "") this.hidden.push(text)
  }
}

function isCredentialName(name: string): boolean {
  return credentialName.test(name) || camelCredentialName.test(name)
}

/** The parts of a field with credentials that could occur elsewhere: the whole, what follows the scheme, the values of cookies, a password. */
function secretsIn(value: string): string[] {
  const [, credentials = ""] = /^\S+\s+(.*)$/s.exec(value) ?? []
  const cookies = value.split(/[;,]\s*/).map((pair) => pair.slice(pair.indexOf("=") + 1))
  const password = /^basic /i.test(value)
    ? Buffer.from(credentials, "base64")
        .toString("utf8")
        .replace(/^[^:]*:/, "")
    : ""
  return [value, credentials, ...cookies, password].map((each) => each.replace(/^"|"$/g, ""))
}

/** URLs in a value without their queries and credentials: they may contain codes and tokens. */
function withoutQueries(value: string): string {
  if (!value.includes("/")) return value
  return value.replaceAll(/(\w:\/\/)[^/@\s"'<>]*@/g, "$1").replaceAll(/([\w/.~%-])[?#][^\s"'<>,]*/g, "$1")
}
