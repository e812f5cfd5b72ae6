import { randomBytes } from "node:crypto"
import { STATUS_CODES } from "node:http"
import { accessTokenText, tokenText, type VerifiedToken } from "../policies/credentials/verified-token.ts"
import type { Exchange, MessageBody } from "../policies/exchange.ts"
import { HeaderList } from "../policies/messages/header-list.ts"
import { isStoredResponse } from "../policies/messages/stored-response.ts"
import { reportedViolations } from "../policies/validation/violations.ts"
import type {
  PolicyApi,
  PolicyBody,
  PolicyCertificate,
  PolicyContext,
  PolicyDeployment,
  PolicyError,
  PolicyLists,
  PolicyOperation,
  PolicyProduct,
  PolicyRequest,
  PolicyResponse,
  PolicySubscription,
  PolicyTexts,
  PolicyToken,
  PolicyUrl,
  PolicyUser,
  PolicyViolation,
} from "./csharp/ports.ts"
import { askedUrl, sentUrl } from "./exchange-url.ts"
import { Headers, RequestHeaders } from "./headers.ts"
import { api, deployment, failure, operation, product, subscription, user } from "./place.ts"

/** What a program can access outside the exchange. */
export interface CsharpSurroundings {
  trace(exchange: Exchange, source: string, message: string): void
  namedValue(kind: "value" | "secret", name: string): string
}

/**
 * `context` of a policy expression, over one request. The bodies that its program needs are loaded. Each member is computed on access, because the
 * exchange changes while its steps run, and most programs use only one member.
 */
export function csharpContext(exchange: Exchange, around: CsharpSurroundings): PolicyContext {
  return new ExchangeContext(exchange, around)
}

class ExchangeContext implements PolicyContext {
  readonly #exchange: Exchange
  readonly #around: CsharpSurroundings

  constructor(exchange: Exchange, around: CsharpSurroundings) {
    this.#exchange = exchange
    this.#around = around
  }
  get requestId(): string {
    return this.#exchange.id
  }
  get api(): PolicyApi | undefined {
    return api(this.#exchange)
  }
  get operation(): PolicyOperation | undefined {
    return operation(this.#exchange)
  }
  get product(): PolicyProduct | undefined {
    return product(this.#exchange)
  }
  get subscription(): PolicySubscription | undefined {
    return subscription(this.#exchange)
  }
  get user(): PolicyUser | undefined {
    return user(this.#exchange)
  }
  get deployment(): PolicyDeployment {
    return deployment(this.#exchange)
  }
  get request(): PolicyRequest {
    return new ExchangeRequest(this.#exchange)
  }
  get response(): PolicyResponse | undefined {
    const { response, section } = this.#exchange
    if (response !== undefined) return new Answer(response)
    // In `backend`, programs may read the response of the last attempt, of which there is none yet.
    return section === "backend" ? unanswered : undefined
  }
  get error(): PolicyError | undefined {
    return failure(this.#exchange)
  }
  get tracing(): boolean {
    // Tracing of APIM is switched on per subscription in its portal; there is none here.
    return false
  }
  get startedMs(): number {
    return this.#exchange.startedAtMs
  }
  get variables(): ReadonlyMap<string, unknown> {
    return this.#exchange.variables
  }
  nowMs(): number {
    return this.#exchange.nowMs
  }
  randomBytes(count: number): Uint8Array {
    return randomBytes(count)
  }
  storedResponse(value: unknown): PolicyResponse | undefined {
    return storedResponse(value)
  }
  storedToken(value: unknown): PolicyToken | undefined {
    const text = tokenText(value)
    return text === undefined ? undefined : { text, ...(value as VerifiedToken) }
  }
  storedAccessToken(value: unknown): string | undefined {
    return accessTokenText(value)
  }
  storedViolations(value: unknown): readonly PolicyViolation[] | undefined {
    return reportedViolations(value)
  }
  trace(source: string, message: string): void {
    this.#around.trace(this.#exchange, source, message)
  }
  namedValue(kind: "value" | "secret", name: string): string {
    return this.#around.namedValue(kind, name)
  }
}

class ExchangeRequest implements PolicyRequest {
  readonly #exchange: Exchange

  constructor(exchange: Exchange) {
    this.#exchange = exchange
  }
  get method(): string {
    // What the backend gets, if a policy has changed it.
    return this.#exchange.sentMethod ?? this.#exchange.method
  }
  get url(): PolicyUrl {
    return sentUrl(this.#exchange)
  }
  get originalUrl(): PolicyUrl {
    return askedUrl(this.#exchange)
  }
  get headers(): PolicyLists {
    return new RequestHeaders(this.#exchange)
  }
  get ipAddress(): string {
    return this.#exchange.ip
  }
  get matchedParameters(): PolicyTexts {
    const { parameters, route, query } = this.#exchange
    // The template of the operation has parameters in its query, too.
    const names = route?.plan.queryParameters
    if (names === undefined) return new Parameters(parameters)
    const found = names.flatMap((name) => {
      const value = query.get(name)
      return value === undefined ? [] : [[name, value] as const]
    })
    // Path parameters last: they win over query parameters of the same name.
    return new Parameters({ ...Object.fromEntries(found), ...parameters })
  }
  get body(): PolicyBody {
    return body(this.#exchange.requestBody)
  }
  /** One that the listener could not verify does not exist for programs: many compare only its names. */
  get certificate(): PolicyCertificate | undefined {
    const { peer } = this.#exchange
    if (peer === undefined || peer.fault !== undefined) return undefined
    const { leaf, checkedForRevocation } = peer.certificate
    return { raw: leaf.raw, key: undefined, verify: (online) => !online || checkedForRevocation }
  }
}

class Parameters implements PolicyTexts {
  readonly #values: Readonly<Record<string, string>>

  constructor(values: Readonly<Record<string, string>>) {
    this.#values = values
  }
  get(name: string): string | undefined {
    if (Object.hasOwn(this.#values, name)) return this.#values[name]
    const folded = name.toUpperCase()
    // Path parameters in gateway.conf have no `-` in their names: `blob-name` in a document is `{blob_name}` there.
    const plain = folded.replaceAll(/[^A-Z0-9_]/g, "_")
    for (const known of Object.keys(this.#values)) {
      const name = known.toUpperCase()
      if (name === folded || name === plain) return this.#values[known]
    }
    return undefined
  }
  entries(): Iterable<readonly [string, string]> {
    return Object.entries(this.#values)
  }
}

function body(message: MessageBody): PolicyBody {
  return { present: message.present, content: () => message.content }
}

class Answer implements PolicyResponse {
  readonly #pending: NonNullable<Exchange["response"]>

  constructor(pending: NonNullable<Exchange["response"]>) {
    this.#pending = pending
  }
  get status(): number {
    return this.#pending.status
  }
  get reason(): string {
    const { reason, status } = this.#pending
    // HTTP/2 has no reason phrase; programs expect the usual one.
    return reason ?? STATUS_CODES[status] ?? ""
  }
  get headers(): PolicyLists {
    return new Headers(this.#pending.headers)
  }
  // Only programs that declare the need read the body, and for these it is loaded.
  get body(): PolicyBody {
    return body(this.#pending.body)
  }
}

/** The response of `backend` before the first response: the condition of a `retry` in a document may read it before there is any. */
const unanswered: PolicyResponse = {
  status: 200,
  reason: "OK",
  headers: new Headers(new HeaderList([])),
  body: { present: false, content: () => Buffer.alloc(0) },
}

/** The response of a request sent by a policy, as stored in a variable. */
function storedResponse(value: unknown): PolicyResponse | undefined {
  if (!isStoredResponse(value)) return undefined
  const { status, reason, headers, body: content } = value
  return {
    status,
    reason,
    headers: new Headers(headers),
    body: { present: content.length > 0, content: () => content },
  }
}
