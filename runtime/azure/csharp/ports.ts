/** A certificate: of the client, or one of `context.Deployment.Certificates`. PEM or DER; `key` is PKCS#8 PEM. */
export interface PolicyCertificate {
  readonly raw: Uint8Array
  readonly key?: string | undefined
  /** Whether the chain leads to a trusted root; `online` also checks revocation. */
  verify(online: boolean): boolean
}

/** A URL in parts. Query values are decoded. */
export interface PolicyUrl {
  readonly scheme: string
  readonly host: string
  readonly port: number
  /** As sent, with a leading `/`. */
  readonly path: string
  /** With its `?`, or empty. */
  readonly queryString: string
  readonly query: PolicyLists
}

/** Headers or query parameters: lists of values by case-insensitive name; undefined if absent. Values are copied only on access. */
export interface PolicyLists {
  get(name: string): readonly string[] | undefined
  /** The values, joined by commas. */
  joined(name: string): string | undefined
  entries(): Iterable<readonly [string, readonly string[]]>
}

/** Texts by case-insensitive name; undefined if absent. */
export interface PolicyTexts {
  get(name: string): string | undefined
  entries(): Iterable<readonly [string, string]>
}

/** A complete body: it was loaded because the program's `needs` contain it. */
export interface PolicyBody {
  readonly present: boolean
  /** Decoded from its content encoding. */
  content(): Uint8Array
}

/** The request after the changes by policies, and the URL sent by the client (`originalUrl`). */
export interface PolicyRequest {
  readonly method: string
  readonly url: PolicyUrl
  readonly originalUrl: PolicyUrl
  readonly headers: PolicyLists
  readonly ipAddress: string
  readonly matchedParameters: PolicyTexts
  readonly body: PolicyBody
  readonly certificate: PolicyCertificate | undefined
}

/** A response: of the backend, or of a request sent by a policy. */
export interface PolicyResponse {
  readonly status: number
  readonly reason: string
  readonly headers: PolicyLists
  readonly body: PolicyBody
}

/** The error in on-error sections; unknown texts are empty. */
export interface PolicyError {
  readonly source: string
  readonly reason: string
  readonly message: string
  readonly scope: string
  readonly section: string
  readonly path: string
  readonly policyId: string
}

/** The API that matched the request. */
export interface PolicyApi {
  readonly id: string
  readonly name: string
  readonly path: string
  readonly protocols: readonly string[]
  readonly serviceUrl: PolicyUrl | undefined
  /** Where a subscription key can be; undefined if that place is not used. */
  readonly keyHeader: string | undefined
  readonly keyQuery: string | undefined
  readonly revision: string
  readonly version: string
}

/** The operation that matched the request. */
export interface PolicyOperation {
  readonly id: string
  readonly name: string
  readonly method: string
  readonly urlTemplate: string
}

/** The product of the request's subscription. */
export interface PolicyProduct {
  readonly id: string
  readonly name: string
  readonly state: string
  readonly approvalRequired: boolean
  readonly subscriptionRequired: boolean
  readonly subscriptionLimit: number | undefined
  readonly groups: readonly { readonly id: string; readonly name: string }[]
  readonly apis: readonly { readonly id: string; readonly name: string; readonly path: string }[]
}

/** The subscription of the request; times in milliseconds since 1970. */
export interface PolicySubscription {
  readonly id: string
  readonly name: string
  /** The key in the request. */
  readonly key: string
  /** Unknown values are undefined; programs see null. */
  readonly createdMs: number | undefined
  readonly startMs: number | undefined
  readonly endMs: number | undefined
}

/** The owner of the subscription; times in milliseconds since 1970. Unknown values are undefined; programs see null. */
export interface PolicyUser {
  readonly id: string
  readonly email: string | undefined
  readonly firstName: string | undefined
  readonly lastName: string | undefined
  readonly note: string | undefined
  readonly registeredMs: number | undefined
  readonly groups: readonly { readonly id: string; readonly name: string }[]
  readonly identities: readonly { readonly id: string; readonly provider: string }[]
}

/** The place and process of the gateway; certificates by declared name. */
export interface PolicyDeployment {
  readonly region: string
  readonly serviceId: string
  readonly serviceName: string
  readonly gatewayId: string
  readonly instanceId: string
  readonly certificates: ReadonlyMap<string, PolicyCertificate>
}

/** A token that a step has verified: its text and content. The header is empty for an opaque token. */
export interface PolicyToken {
  readonly text: string
  readonly header: Readonly<Record<string, unknown>>
  readonly claims: Readonly<Record<string, unknown>>
}

/** A violation that a validation policy stored in a variable, in the terms of Azure API Management. */
export interface PolicyViolation {
  readonly name: string
  readonly type: string
  readonly rule: string
  readonly details: string
  readonly action: string
}

/** The content of `context`, and everything else that an expression can access, including time and randomness. */
export interface PolicyContext {
  readonly requestId: string
  readonly api: PolicyApi | undefined
  readonly operation: PolicyOperation | undefined
  readonly product: PolicyProduct | undefined
  readonly subscription: PolicySubscription | undefined
  readonly user: PolicyUser | undefined
  readonly deployment: PolicyDeployment
  readonly request: PolicyRequest
  readonly response: PolicyResponse | undefined
  readonly error: PolicyError | undefined
  readonly tracing: boolean
  /** When the request arrived, in milliseconds since 1970. */
  readonly startedMs: number
  /** Shared with the other steps of the request. Values are plain data, or library objects of a program. */
  readonly variables: ReadonlyMap<string, unknown>
  /** The current time in milliseconds since 1970. */
  nowMs(): number
  /** Cryptographically secure random bytes. */
  randomBytes(count: number): Uint8Array
  trace(source: string, message: string): void
  /** A named value or secret of the plan. */
  namedValue(kind: "value" | "secret", name: string): string
  /** The response that another step stored in a variable; undefined for other values. */
  storedResponse(value: unknown): PolicyResponse | undefined
  /** The verified token that another step stored in a variable; undefined for other values. */
  storedToken(value: unknown): PolicyToken | undefined
  /** The token for a backend that another step obtained and stored in a variable; undefined for other values. */
  storedAccessToken(value: unknown): string | undefined
  /** The violations that another step stored in a variable; undefined for other values. */
  storedViolations(value: unknown): readonly PolicyViolation[] | undefined
}

/** A URL as text, with the port unless it is the scheme's default. */
export function urlText({ scheme, host, port, path, queryString }: PolicyUrl): string {
  const isUsual = port === (scheme === "https" ? 443 : 80)
  return `${scheme}://${host}${isUsual ? "" : `:${port}`}${path}${queryString}`
}
