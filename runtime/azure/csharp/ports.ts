/** What a certificate gives: of the client, or one of `context.Deployment.Certificates`. PEM or DER; `key` is PKCS#8 PEM. */
export interface PolicyCertificate {
  readonly raw: Uint8Array
  readonly key?: string | undefined
  /** Whether the chain leads to a trusted root; `online` also asks for revocation. */
  verify(online: boolean): boolean
}

/** An address, in parts. Query values are decoded. */
export interface PolicyUrl {
  readonly scheme: string
  readonly host: string
  readonly port: number
  /** As it was sent, beginning with `/`. */
  readonly path: string
  /** With its `?`, or empty. */
  readonly queryString: string
  readonly query: PolicyLists
}

/** Headers, or parameters of a query: lists of values, found by name in any case; undefined when absent. Nothing is copied until it is asked for. */
export interface PolicyLists {
  get(name: string): readonly string[] | undefined
  /** The values with commas between them. */
  joined(name: string): string | undefined
  entries(): Iterable<readonly [string, readonly string[]]>
}

/** Texts, found by name in any case; undefined when absent. */
export interface PolicyTexts {
  get(name: string): string | undefined
  entries(): Iterable<readonly [string, string]>
}

/** A body that is there in full: whoever runs a program has loaded what its `needs` say. */
export interface PolicyBody {
  readonly present: boolean
  /** Decoded from its content encoding. */
  content(): Uint8Array
}

/** The request as policies have made it, and as the client sent it (`originalUrl`). */
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

/** A response: of the backend, or of a request a policy sent. */
export interface PolicyResponse {
  readonly status: number
  readonly reason: string
  readonly headers: PolicyLists
  readonly body: PolicyBody
}

/** What went wrong, in on-error sections; empty texts where nothing is known. */
export interface PolicyError {
  readonly source: string
  readonly reason: string
  readonly message: string
  readonly scope: string
  readonly section: string
  readonly path: string
  readonly policyId: string
}

/** The API the request was matched to. */
export interface PolicyApi {
  readonly id: string
  readonly name: string
  readonly path: string
  readonly protocols: readonly string[]
  readonly serviceUrl: PolicyUrl | undefined
  /** Where a subscription key may be; undefined where it is not looked for. */
  readonly keyHeader: string | undefined
  readonly keyQuery: string | undefined
  readonly revision: string
  readonly version: string
}

/** The operation the request was matched to. */
export interface PolicyOperation {
  readonly id: string
  readonly name: string
  readonly method: string
  readonly urlTemplate: string
}

/** The product the request is made in. */
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

/** The subscription the request is made with; times in milliseconds since 1970. */
export interface PolicySubscription {
  readonly id: string
  readonly name: string
  /** The key the request came with. */
  readonly key: string
  /** What is not known is undefined, and null for programs. */
  readonly createdMs: number | undefined
  readonly startMs: number | undefined
  readonly endMs: number | undefined
}

/** The owner of the subscription; times in milliseconds since 1970. What is not known is undefined, and null for programs. */
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

/** Where the gateway runs, and which of its processes this is; certificates by the name they are declared under. */
export interface PolicyDeployment {
  readonly region: string
  readonly serviceId: string
  readonly serviceName: string
  readonly gatewayId: string
  readonly instanceId: string
  readonly certificates: ReadonlyMap<string, PolicyCertificate>
}

/** A token a step has verified: its text, and what it says. The header is empty for an opaque one. */
export interface PolicyToken {
  readonly text: string
  readonly header: Readonly<Record<string, unknown>>
  readonly claims: Readonly<Record<string, unknown>>
}

/** What a policy that judges messages found and left in a variable, in the words of Azure API Management. */
export interface PolicyViolation {
  readonly name: string
  readonly type: string
  readonly rule: string
  readonly details: string
  readonly action: string
}

/** What `context` is, and the world an expression may see: time and chance come from here too. */
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
  /** When the request came in, in milliseconds since 1970. */
  readonly startedMs: number
  /** Shared with the other steps of the request. Values are plain data, or objects a program left there. */
  readonly variables: ReadonlyMap<string, unknown>
  /** Now, in milliseconds since 1970. */
  nowMs(): number
  /** Random bytes fit for keys. */
  randomBytes(count: number): Uint8Array
  trace(source: string, message: string): void
  /** A named value or secret of the plan. */
  namedValue(kind: "value" | "secret", name: string): string
  /** The response another step of the request left in a variable, if the value is one. */
  storedResponse(value: unknown): PolicyResponse | undefined
  /** The token another step of the request verified and left in a variable, if the value is one. */
  storedToken(value: unknown): PolicyToken | undefined
  /** The token another step of the request got for a request of ours and left in a variable, if the value is one. */
  storedAccessToken(value: unknown): string | undefined
  /** What another step of the request found wrong with a message and left in a variable, if the value is that. */
  storedViolations(value: unknown): readonly PolicyViolation[] | undefined
}

/** A URL as a text, with the port where it is not the scheme's. */
export function urlText({ scheme, host, port, path, queryString }: PolicyUrl): string {
  const isUsual = port === (scheme === "https" ? 443 : 80)
  return `${scheme}://${host}${isUsual ? "" : `:${port}`}${path}${queryString}`
}
