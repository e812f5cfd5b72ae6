import { fromBase64, utf8Text } from "#platform"
import { CsDictionary } from "../collections.ts"
import { DateTime } from "../date-time.ts"
import { chargeText } from "../run.ts"
import { declareType } from "../table.ts"
import { CsObject } from "../values.ts"

/** The claims of a token for policies. Parsing does not verify the signature. */
export class Jwt extends CsObject {
  readonly typeName = "Jwt"
  readonly source: string
  readonly header: Readonly<Record<string, unknown>>
  readonly payload: Readonly<Record<string, unknown>>
  #claims: CsDictionary | undefined
  /** `source` is the compact form; header and payload are decoded and not verified here. `validate-jwt` verifies. */
  constructor(
    source: string,
    header: Readonly<Record<string, unknown>>,
    payload: Readonly<Record<string, unknown>>,
  ) {
    super()
    this.source = source
    this.header = header
    this.payload = payload
  }
  /** Computed on first access: most expressions use only one member. */
  get claims(): CsDictionary {
    if (this.#claims !== undefined) return this.#claims
    const claims = new CsDictionary("ignore-case")
    for (const [name, value] of Object.entries(this.payload))
      claims.set(name, (Array.isArray(value) ? value : [value]).map(claimText))
    this.#claims = claims
    return claims
  }
  override text(): string {
    return this.source
  }
  own(from: "header" | "payload", name: string): unknown {
    return Object.hasOwn(this[from], name) ? this[from][name] : undefined
  }
  date(name: string): DateTime | null {
    const value = this.own("payload", name)
    return typeof value === "number" && Number.isFinite(value) ? DateTime.fromMs(value * 1000, "utc") : null
  }
  string(from: "header" | "payload", name: string): string | null {
    const value = this.own(from, name)
    return value === undefined || value === null ? null : claimText(value)
  }
}

function claimText(value: unknown): string {
  if (typeof value === "string") return value
  return value === null ? "null" : typeof value === "object" ? JSON.stringify(value) : String(value)
}

const lengthMax = 65_536

/** A part of a token as an object. Undefined for other content, so that `AsJwt()` gives null instead of an exception. */
function decodePart(part: string): Readonly<Record<string, unknown>> | undefined {
  if (!isBase64url(part)) return undefined
  try {
    const value: unknown = JSON.parse(utf8Text(fromBase64(part)))
    return typeof value === "object" && value !== null && !Array.isArray(value)
      ? (value as Record<string, unknown>)
      : undefined
  } catch {
    return undefined
  }
}

/**
 * Cache of decoded token parts: all tokens of an issuer share one header, and all requests of a caller share one payload until the next token. The
 * signature is not cached, so that the cache contains no usable token.
 */
class Parts {
  readonly #known = new Map<string, Readonly<Record<string, unknown>>>()
  readonly #entriesMax: number
  readonly #lengthMax: number
  constructor(entriesMax: number, lengthMax: number) {
    this.#entriesMax = entriesMax
    this.#lengthMax = lengthMax
  }
  /** Undefined if it is not a JSON object. */
  decode(part: string): Readonly<Record<string, unknown>> | undefined {
    const known = this.#known.get(part)
    if (known !== undefined) return known
    const decoded = decodePart(part)
    if (decoded !== undefined && part.length <= this.#lengthMax) {
      if (this.#known.size >= this.#entriesMax) this.#known.clear()
      this.#known.set(part, decoded)
    }
    return decoded
  }
}

const headers = new Parts(64, 512)
const payloads = new Parts(1024, 4096)

/** `text.AsJwt()`: accepts a token with or without a `Bearer ` prefix; null for anything else. */
export function asJwt(text: string | null): Jwt | null {
  if (text === null || text.length > lengthMax) return null
  chargeText(text.length * 8)
  const bare = bearerless(text)
  const [first, second] = [bare.indexOf("."), bare.lastIndexOf(".")]
  if (first === second || bare.indexOf(".", first + 1) !== second || !isBase64url(bare.slice(second + 1)))
    return null
  const [header, payload] = [
    headers.decode(bare.slice(0, first)),
    payloads.decode(bare.slice(first + 1, second)),
  ]
  return header === undefined || payload === undefined ? null : new Jwt(bare, header, payload)
}

/** The text without `Bearer `. Most texts are a bare token, or have the prefix in its standard spelling. */
function bearerless(text: string): string {
  if (text.startsWith("eyJ")) return text.trimEnd()
  if (text.startsWith("Bearer eyJ")) return text.slice(7).trimEnd()
  return text.replace(/^\s*Bearer\s+/i, "").trim()
}

function isBase64url(part: string): boolean {
  return /^[A-Za-z0-9_-]*$/.test(part)
}

/** The credentials of a `Basic` header. */
class BasicCredentials extends CsObject {
  readonly typeName = "BasicAuthCredentials"
  readonly userId: string
  readonly password: string
  constructor(userId: string, password: string) {
    super()
    this.userId = userId
    this.password = password
  }
}

/** `text.AsBasic()`; null for anything except a `Basic` header with a colon in the credentials (RFC 7617). */
export function asBasic(text: string | null): BasicCredentials | null {
  const found = /^\s*Basic\s+([A-Za-z0-9+/_-]+={0,2})\s*$/i.exec(text ?? "")
  if (found === null) return null
  const decoded = utf8Text(fromBase64(found[1] as string))
  const colon = decoded.indexOf(":")
  return colon < 0 ? null : new BasicCredentials(decoded.slice(0, colon), decoded.slice(colon + 1))
}

/** A token that the gateway obtained for a backend. Other data of its provider is not kept. */
export class Authorization extends CsObject {
  readonly typeName = "Authorization"
  readonly accessToken: string
  constructor(accessToken: string) {
    super()
    this.accessToken = accessToken
  }
}

/** `Jwt` and `Authorization`, the result of `get-authorization-context`. */
export function declareTokens(): void {
  declareType(
    "Authorization",
    { holds: (value) => value instanceof Authorization },
    { "AccessToken: string": (self: Authorization) => self.accessToken },
  )
  declareType(
    "Jwt",
    { holds: (value) => value instanceof Jwt },
    {
      "Algorithm: string": (self: Jwt) => self.string("header", "alg"),
      "Type: string": (self: Jwt) => self.string("header", "typ"),
      "Id: string": (self: Jwt) => self.string("payload", "jti"),
      "Issuer: string": (self: Jwt) => self.string("payload", "iss"),
      "Subject: string": (self: Jwt) => self.string("payload", "sub"),
      "Audiences: IEnumerable<string>": (self: Jwt) => self.claims.find("aud")?.value ?? [],
      "Claims: Claims": (self: Jwt) => self.claims,
      "ExpirationTime: DateTime?": (self: Jwt) => self.date("exp"),
      "NotBefore: DateTime?": (self: Jwt) => self.date("nbf"),
      "IssuedAt: DateTime?": (self: Jwt) => self.date("iat"),
    },
  )
  declareType(
    "Claims",
    { bases: ["IReadOnlyDictionary<string, string[]>"], holds: (value) => value instanceof CsDictionary },
    joinedRows,
  )
  declareType(
    "BasicAuthCredentials",
    { holds: (value) => value instanceof BasicCredentials },
    {
      "UserId: string": (self: BasicCredentials) => self.userId,
      "Username: string": (self: BasicCredentials) => self.userId,
      "Password: string": (self: BasicCredentials) => self.password,
    },
  )
}

/** `GetValueOrDefault` of claims: several values are joined by commas. */
const joinedRows = {
  "GetValueOrDefault(string name): string": (self: CsDictionary, name: string) => joined(self, name, null),
  "GetValueOrDefault(string name, string fallback): string": joined,
  "ContainsKey(string name): bool": (self: CsDictionary, name: string) => self.has(name),
}

function joined(self: CsDictionary, name: string, fallback: string | null): string | null {
  const found = self.find(name)
  return found === undefined ? fallback : (found.value as readonly string[]).join(",")
}
