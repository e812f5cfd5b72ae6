import type { Bindings } from "../expression/compile.ts"
import type { PeerCertificate } from "../http/server/peer-certificate.ts"
import type { Subscriber } from "../identity/keys.ts"
import type { TokenSource } from "../identity/token-client.ts"
import type { Claims } from "../identity/verifier.ts"
import type { OwnCookies } from "../oidc/own-cookies.ts"
import type { Route } from "../plan/resources.ts"
import type { StepId, StepKind, StepOf } from "../plan/steps.ts"
import type { RequestTrace } from "../tracing/request-trace.ts"
import type { Problem } from "./messages/answer.ts"
import type { HeaderList } from "./messages/header-list.ts"
import type { QueryString } from "./messages/query-string.ts"

/** A set of bodies: `requestBody`, `responseBody`, `requestBytes`, several of them, or 0 for none. */
export type Needs = number
/** The body of the request. */
export const requestBody: Needs = 1
/** The body of the response. */
export const responseBody: Needs = 2
/** The bytes of the request's body as they were sent, with their codings. */
export const requestBytes: Needs = 4

/**
 * The body of a message. It is read when a step needs it (`Exchange.load`); otherwise it is streamed. A body that was only read goes on byte for byte
 * as it came, with its coding.
 */
export interface MessageBody {
  /** Whether there is a body that is not empty. */
  readonly present: boolean
  /**
   * The content without codings (gzip, deflate, br); empty when there is no body.
   * @throws Error when it was not loaded
   */
  readonly content: Buffer
  /**
   * The bytes as they were sent, with their codings; empty when there is no body.
   * @throws Error when they were not loaded, or when a step replaced the body before
   */
  readonly sentBytes: Buffer
  /** The content as text, in the charset of Content-Type (default: UTF-8). */
  text(): string
  /**
   * The content as JSON, parsed once; null when there is no body.
   * @throws Refused for invalid JSON: 400 for a request, 502 for a response
   */
  json(): unknown
  /** Replaces the content. `media` is the new Content-Type; null keeps the old one. Removes the fields that describe the old body. */
  replace(content: Buffer, media: string | null): void
}

/** A certificate the gateway presents, and its key, as PEM. */
export interface ClientCertificate {
  readonly cert: string
  readonly key: string
}

/** An API of the plan. `path` is its base path, with the leading slash. */
export interface ApiFacts {
  readonly id: string
  readonly name: string
  readonly path: string
}

/** A product of the plan. */
export interface ProductFacts {
  readonly published: boolean
  readonly approvalRequired: boolean
  readonly subscriptionRequired: boolean
  /** Maximum number of subscriptions of one owner; undefined: unlimited. */
  readonly subscriptionLimit: number | undefined
  readonly apis: readonly ApiFacts[]
}

/** Where a subscription key is read from; undefined: not read there. */
export interface KeyPlaces {
  readonly header: string | undefined
  readonly query: string | undefined
}

/** Header fields and query parameters with credentials; names of fields are in lower case. */
export interface CredentialPlaces {
  readonly headers: ReadonlySet<string>
  readonly queries: readonly string[]
}

/** The contents of a plan other than the steps of routes. */
export interface PlanFacts {
  product(name: string): ProductFacts | undefined
  keyPlaces(route: Route): KeyPlaces
  /** Where requests of a route have credentials: those that it asks for, and those that its steps set. */
  credentialPlaces(route: Route): CredentialPlaces
  /** Those of all routes together. */
  readonly everyCredentialPlace: CredentialPlaces
  /** Header fields of requests and responses that steps read by name, in lower case. */
  readonly headersRead: ReadonlySet<string>
  /** By declared name. */
  readonly certificates: ReadonlyMap<string, ClientCertificate>
}

/** A token of the gateway in the request, and its source. */
export interface SentToken {
  readonly source: TokenSource
  readonly token: string
}

/** A backend that the gateway has prepared: policies refer to it, only the gateway uses its contents. */
export interface BackendHandle {
  readonly name: string
  /** URL of its first target. */
  readonly url: string
  /** URLs of all its targets. */
  readonly urls: readonly string[]
  /** No target is healthy: requests get 503. */
  readonly isAway: boolean
  /** How a request that the gateway itself makes to the backend authenticates. Rejects with NoToken when there is no token. */
  credentials(): Promise<{
    readonly authorization: string | undefined
    readonly certificate: ClientCertificate | undefined
  }>
}

/** The response of the backend, or the problem in an on-error section, before it is sent. */
export interface PendingResponse {
  status: number
  /** Reason phrase; undefined: the standard one. */
  reason: string | undefined
  readonly headers: HeaderList
  readonly body: MessageBody
}

/** A content coding for responses. */
export type AnswerCoding = StepOf<"compress">["codings"][number]

/** How the response is compressed, if its type and size allow it. */
export interface AnswerCompression {
  /** Undefined: the response is sent as it is, but would be compressed for other clients. */
  readonly coding: AnswerCoding | undefined
  /** Smaller bodies are sent as they are. */
  readonly bytesMin: number
  /** Whether a Content-Type is meant. */
  covers(contentType: string): boolean
}

/** A response that is held in memory, for example of a request the gateway made. */
export interface StoredResponse {
  readonly status: number
  readonly reason: string
  readonly headers: HeaderList
  /** Without codings. */
  readonly body: Buffer
}

/** What failed, for on-error steps. Names and values follow `LastError` of Azure API Management. */
export interface ExchangeError {
  /**
   * The failed policy by its name in the document, otherwise the kind of the step. When no step failed, the part of the gateway, for example
   * `configuration`.
   */
  readonly source: string
  /** Scope of the document that contains the policy: `global`, `product`, `api`, `operation`; empty for statements of gateway.conf. */
  readonly scope: string
  /** Position in its section: `choose[1]/when[2]/set-header[1]`; empty for statements of gateway.conf. */
  readonly path: string
  /** Stable identifier, e.g. `TokenExpired`. */
  readonly reason: string
  readonly message: string
  readonly section: Section
  /** `id` of the policy; empty when it has none. */
  readonly policyId: string
  readonly status: number
}

/** A step whose response ended a section. */
export interface AnsweringStep {
  readonly id: StepId
  readonly kind: StepKind
}

/** A list of steps and the index of the one that responded. */
export interface AnswerPlace {
  readonly steps: readonly AnsweringStep[]
  readonly at: number
}

/** One phase of an exchange. */
export type Section = "inbound" | "backend" | "outbound" | "on-error"

/**
 * A decision of the authorization engine about a store, or of a decision point, for the log. `revision` is absent when there was no answer, and for
 * decision points.
 */
export interface Decision {
  readonly store?: string | undefined
  readonly pdp?: string | undefined
  readonly user: string
  readonly relation: string
  readonly object: string
  readonly allowed: boolean
  readonly revision?: number | undefined
  /** Stamp of that revision's commit. */
  readonly stamp?: string | undefined
  /** The reason that the decision point gave for operators. */
  readonly reason?: string | undefined
}

/**
 * What became of a copy of a request.
 * - `answered`: it has a response. `failed`: it has none. `timeout`: not in time.
 * - `unavailable`: no target is healthy, or too many requests wait for it.
 * - `busy`: too many copies run. `body-too-large`: over the limit of the step. `incomplete`: the request ended before its body was read.
 * - `unsupported`: a WebSocket or a call of gRPC.
 */
export type MirrorOutcome =
  | "answered"
  | "failed"
  | "timeout"
  | "unavailable"
  | "busy"
  | "body-too-large"
  | "incomplete"
  | "unsupported"

/** A copy of a request that has ended, or that was not made. */
export interface MirroredRequest {
  /** Id of the request that was copied. */
  readonly requestId: string
  readonly traceId: string | undefined
  readonly api: string
  readonly backend: string
  readonly target: string | undefined
  readonly outcome: MirrorOutcome
  /** Status of the response. */
  readonly status: number | undefined
  /** From sending until the end of the response. */
  readonly durationMs: number | undefined
  readonly cause: string | undefined
}

/** Copies of requests for another backend, as a plan wants them. */
export interface Mirror {
  readonly backend: BackendHandle
  /** A request with a larger body is not copied. */
  readonly bodyBytesMax: number
  readonly timeoutMs: number
  /** Credentials of the caller, and those that steps set, are sent as well. */
  readonly credentials: boolean
  /** Counts a copy that begins; false: too many run. */
  enter(): boolean
  /** A copy that was counted has ended. */
  leave(): void
  /** Reports a copy that has ended, or that was not made. */
  ended(request: MirroredRequest): void
}

/** How a request is sent to its backend. */
export interface SendOptions {
  /** Timeout of the whole exchange with the backend, in milliseconds; null: no timeout; undefined: the backend's own. */
  readonly timeoutMs: number | null | undefined
  /** The key by which the backend chooses a target, when its balancing uses one. */
  readonly key?: string | undefined
}

/** Keeps the answers to questions about relations, for the record of a request. */
export interface AnswerNotes {
  /** `asked`: the store, or `pdp NAME`. `allowed` undefined: there was no answer. */
  answered(
    asked: string,
    question: { readonly user: string; readonly relation: string; readonly object: string },
    allowed: boolean | undefined,
  ): void
}

/** One request and its response, as policies see them. */
export interface Exchange {
  readonly id: string
  /** As the client sent it. */
  readonly method: string
  /** In canonical form, as it was matched. */
  readonly path: string
  /** The client's address after `gateway { trust }`, in canonical form. */
  readonly ip: string
  /** The address that limits count as one caller: `ip`, or the network of an IPv6 address (`limits { ipv6-prefix }`). */
  readonly caller: string
  readonly scheme: string
  /** Arrival of the request, in milliseconds since the epoch. */
  readonly startedAtMs: number
  /** The wall clock now, in milliseconds. */
  readonly nowMs: number
  /** The route that was matched. */
  readonly route: { readonly plan: Route; readonly backendUrl: string | undefined } | undefined
  /** The trace of the request; undefined: it has none. */
  readonly trace: RequestTrace | undefined
  /** Absent: the request is not recorded. */
  readonly recording?: AnswerNotes | undefined
  readonly gatewayName: string
  readonly facts: PlanFacts
  /** Parameters of the route's path, decoded. */
  readonly parameters: Readonly<Record<string, string>>
  /** Fields of the request to the backend: the client's without hop-by-hop and forwarding fields, with the changes of policies. */
  readonly headers: HeaderList
  /** The cookies of sessions of `auth oidc`: `headers` does not have them. */
  readonly ownCookies: OwnCookies
  /** Query of the request to the backend. */
  readonly query: QueryString
  /** As the client sent it, without the question mark. */
  readonly originalQuery: string
  /** Path and query as the client sent them. */
  readonly originalTarget: string
  /** Host as the client sent it, with its port. */
  readonly authority: string
  /** Content-Length as the client sent it. */
  readonly sentLength: number | undefined
  readonly requestBody: MessageBody
  /** Method for the backend, replaces the client's. */
  sentMethod: string | undefined
  /** Path for the backend, replaces the client's. */
  rewritten: string | undefined
  /** Host for the backend, replaces the target's. */
  host: string | undefined
  /** The backend that `forward` uses, replaces the route's own. */
  backend: BackendHandle | undefined
  /** Query of that backend's URL, placed before the request's own. Empty: none. */
  backendQuery: string
  /** The gateway's token that a step put into Authorization. When the backend refuses it, the gateway gets a new one. */
  sentToken: SentToken | undefined
  /** The client certificate for the backend, replaces the backend's own. */
  certificate: ClientCertificate | undefined
  /** The certificate that the client presented in TLS, and why it is not valid now. Undefined: it presented none. */
  readonly peer: { readonly certificate: PeerCertificate; readonly fault: string | undefined } | undefined
  claims: Claims | undefined
  subscriber: Subscriber | undefined
  /** The key that identified the subscription, for expressions that read it. Never logged. */
  subscriptionKey: string | undefined
  /** Variables that steps set for later steps: `var.NAME`, `context.Variables["NAME"]`. */
  readonly variables: Map<string, unknown>
  readonly section: Section
  /** Set once the backend has responded, or an on-error section runs. */
  readonly response: PendingResponse | undefined
  /** The innermost step whose response ended a section: for the log, and for `error.source`. */
  answeredBy: AnsweringStep | undefined
  /** The lists that contain that step, innermost first; other responses may have passed steps after it. */
  answerTrail: AnswerPlace[]
  /** What failed; set while on-error runs. */
  readonly error: ExchangeError | undefined
  /** Loads bodies; undefined when they are already loaded. Rejects with Refused when a body is too large, too slow or cannot be decoded. */
  load(needs: Needs): Promise<void> | undefined
  /** Sends the request; resolves when the head of the response is in `response`, or with a problem. Drops an earlier response. */
  send(backend: BackendHandle, options: SendOptions): Promise<Problem | undefined>
  /**
   * Sends a copy of the request when the request itself is sent for the first time, and discards the response. It waits for nothing, and it cannot
   * fail.
   */
  mirrorTo(mirror: Mirror): void
  /** Replaces the response of the backend. */
  respondWith(response: {
    status: number
    reason?: string | undefined
    headers: HeaderList
    body: Buffer | undefined
  }): void
  /** How every response is compressed, including problems; undefined: never. */
  compression: AnswerCompression | undefined
  /** Adds a field line to every response the client can get, including problems. */
  answerWith(name: string, value: string): void
  /** As `answerWith`, but replaces an earlier line with this name. */
  answerOnce(name: string, value: string): void
  /**
   * Keeps a copy of the response body while it streams, for `load` after the exchange has ended. A body larger than the buffer limit is not kept and
   * cannot be loaded then.
   */
  keepAnswer(): void
  /** Body bytes received from and sent to the client so far. */
  readonly bytesReceived: number
  readonly bytesSent: number
  /** Runs once after the backend section, before the outbound section; a problem ends the exchange. */
  whenAnswered(run: () => Promise<Problem | undefined>): void
  /** Runs once when the exchange has ended, successfully or not. `response` is then what the client got. */
  whenOver(release: () => void): void
  /** Records a decision; the last one is logged under the request id. */
  decided(decision: Decision): void
  /** The values that expressions may read, in the shapes of runtime/expression/request-context.ts. */
  bindings(): Bindings
}

/** The part of the path that is appended to the backend's URL. */
export function localPath({ rewritten, path, route }: Exchange): string {
  return rewritten ?? path.slice((route?.plan.stripPrefix ?? "").replace(/\/$/, "").length)
}
