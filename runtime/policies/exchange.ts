import type { Bindings } from "../expression/compile.ts"
import type { Subscriber } from "../identity/keys.ts"
import type { TokenSource } from "../identity/token-client.ts"
import type { Claims } from "../identity/verifier.ts"
import type { Route } from "../plan/resources.ts"
import type { StepId, StepKind } from "../plan/steps.ts"
import type { Problem } from "./messages/answer.ts"
import type { HeaderList } from "./messages/header-list.ts"
import type { QueryString } from "./messages/query-string.ts"

/** A set of bodies: `requestBody`, `responseBody`, both, or 0 for none. */
export type Needs = number
/** The body of the request. */
export const requestBody: Needs = 1
/** The body of the response. */
export const responseBody: Needs = 2

/**
 * The body of a message. It is read when somebody needs it (`Exchange.load`) and not before; a body nobody needs is streamed.
 * What was only looked at goes on byte for byte as it came, with its coding.
 */
export interface MessageBody {
  /** Whether there is a body at all, empty ones not counted. */
  readonly present: boolean
  /** The content without codings (gzip, deflate, br); empty where there is no body. @throws Error when it was not loaded. */
  readonly content: Buffer
  /** The content as text, by the charset of Content-Type (UTF-8 unless it says another). */
  text(): string
  /** The content as JSON, parsed once; null where there is no body. @throws Refused when it is none: 400 for a request, 502 for a response. */
  json(): unknown
  /** Other content in its place. `media` is the new Content-Type, null keeps what is there. Fields that described the old body go. */
  replace(content: Buffer, media: string | null): void
}

/** A certificate we show and its key, as PEM. */
export interface ClientCertificate {
  readonly cert: string
  readonly key: string
}

/** An API of the plan. `path` is where it is served, with the slash at its beginning. */
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
  /** Most subscriptions of one owner; undefined: no bound. */
  readonly subscriptionLimit: number | undefined
  readonly apis: readonly ApiFacts[]
}

/** Where a subscription key may be; undefined where it is not looked for. */
export interface KeyPlaces {
  readonly header: string | undefined
  readonly query: string | undefined
}

/** What a plan says besides the steps of a route. */
export interface PlanFacts {
  product(name: string): ProductFacts | undefined
  keyPlaces(route: Route): KeyPlaces
  /** By the name they are declared under. */
  readonly certificates: ReadonlyMap<string, ClientCertificate>
}

/** A token of ours in the request, and where it is from. */
export interface SentToken {
  readonly source: TokenSource
  readonly token: string
}

/** A backend made ready by the gateway: policies name it, only the gateway looks inside. */
export interface BackendHandle {
  readonly name: string
  /** Of its first target. */
  readonly url: string
  /** Of all its targets. */
  readonly urls: readonly string[]
  /** What a request of our own to it shows, besides what it asks. Rejects with NoToken where none is to be had. */
  credentials(): Promise<{
    readonly authorization: string | undefined
    readonly certificate: ClientCertificate | undefined
  }>
}

/** The answer of the backend, or the problem of an on-error section, before it is sent. */
export interface PendingResponse {
  status: number
  /** Reason phrase; undefined: the usual one. */
  reason: string | undefined
  readonly headers: HeaderList
  readonly body: MessageBody
}

/** A response that is held whole, e.g. of a request of our own. */
export interface StoredResponse {
  readonly status: number
  readonly reason: string
  readonly headers: HeaderList
  /** Without codings. */
  readonly body: Buffer
}

/** What broke, as on-error steps see it. Words and places are those of Azure API Management's `LastError`. */
export interface ExchangeError {
  /** The policy that failed as its document calls it, else the kind of the step; where none did the part of the gateway, e.g. `configuration`. */
  readonly source: string
  /** Of the document the policy stands in: `global`, `product`, `api`, `operation`; empty for statements of gateway.conf. */
  readonly scope: string
  /** Where it stands in its section: `choose[1]/when[2]/set-header[1]`; empty for statements of gateway.conf. */
  readonly path: string
  /** Stable word, e.g. `TokenExpired`. */
  readonly reason: string
  readonly message: string
  readonly section: Section
  /** `id` of the policy; empty where its author gave none. */
  readonly policyId: string
  readonly status: number
}

/** A step whose answer ended a section. */
export interface AnsweringStep {
  readonly id: StepId
  readonly kind: StepKind
}

/** A list of steps and the one of them that answered. */
export interface AnswerPlace {
  readonly steps: readonly AnsweringStep[]
  readonly at: number
}

/** Part of the way of an exchange. */
export type Section = "inbound" | "backend" | "outbound" | "on-error"

/** A decision of the authorization engine about a store, or of a decision point, for the log. `revision` is absent when there was no answer, and where a decision point was asked. */
export interface Decision {
  readonly store?: string | undefined
  readonly pdp?: string | undefined
  readonly user: string
  readonly relation: string
  readonly object: string
  readonly allowed: boolean
  readonly revision?: number | undefined
  /** Of that revision's commit. */
  readonly stamp?: string | undefined
  /** What the decision point said for operators. */
  readonly reason?: string | undefined
}

/** How a request is sent to its backend. */
export interface SendOptions {
  /** For the whole exchange with the backend, in milliseconds; null: without end; undefined: as the backend says. */
  readonly timeoutMs: number | null | undefined
  /** What a backend chooses its target by, where it does so. */
  readonly key?: string | undefined
}

/** One request and its answer, as policies see them. */
export interface Exchange {
  readonly id: string
  /** As the client sent it. */
  readonly method: string
  /** Canonical, as it was matched. */
  readonly path: string
  /** The client's address after `gateway { trust }`, in one spelling per host. */
  readonly ip: string
  /** What limits count as one caller: `ip`, or the network of an IPv6 address (`limits { ipv6-prefix }`). */
  readonly caller: string
  readonly scheme: string
  /** Milliseconds since the epoch when the request came. */
  readonly startedAtMs: number
  /** The route that was matched. */
  readonly route: { readonly plan: Route; readonly backendUrl: string | undefined } | undefined
  readonly gatewayName: string
  readonly facts: PlanFacts
  /** Parameters of the route's path, decoded. */
  readonly parameters: Readonly<Record<string, string>>
  /** Header of the request to the backend: the client's without hop-by-hop and forwarding fields, and what policies made of it. */
  readonly headers: HeaderList
  /** Query of the request to the backend. */
  readonly query: QueryString
  /** As the client sent it, without the question mark. */
  readonly originalQuery: string
  /** Host as the client sent it, with its port. */
  readonly authority: string
  /** Content-Length as the client sent it. */
  readonly sentLength: number | undefined
  readonly requestBody: MessageBody
  /** Method for the backend in place of the client's. */
  sentMethod: string | undefined
  /** Path for the backend in place of the client's. */
  rewritten: string | undefined
  /** Host for the backend in place of the target's. */
  host: string | undefined
  /** Where `forward` sends to, in place of the route's own backend. */
  backend: BackendHandle | undefined
  /** Query of the URL that names that backend; it goes before the request's own. Empty: none. */
  backendQuery: string
  /** The token of ours that a step put into Authorization: a backend that refuses it gets a fresh one. */
  sentToken: SentToken | undefined
  /** What we show the backend in TLS, in place of the backend's own. */
  certificate: ClientCertificate | undefined
  claims: Claims | undefined
  subscriber: Subscriber | undefined
  /** The key the subscription was found by, for expressions that ask for it. Never logged. */
  subscriptionKey: string | undefined
  /** What steps leave for each other: `var.NAME`, `context.Variables["NAME"]`. */
  readonly variables: Map<string, unknown>
  readonly section: Section
  /** There once the backend has answered, or an on-error section runs. */
  readonly response: PendingResponse | undefined
  /** The innermost step whose answer ended a section: for the log, and for `error.source`. */
  answeredBy: AnsweringStep | undefined
  /** The lists that step stands in, from the inside; what other answers passed through may come behind. */
  answerTrail: AnswerPlace[]
  /** What broke; there while on-error runs. */
  readonly error: ExchangeError | undefined
  /** Makes bodies available; undefined when they are already. Rejects with Refused: too large, too slow, not decodable. */
  load(needs: Needs): Promise<void> | undefined
  /** Sends the request; resolves when the head of the answer is `response`, or with what went wrong. An answer that was there before is dropped. */
  send(backend: BackendHandle, options: SendOptions): Promise<Problem | undefined>
  /** Puts an answer in the place of what the backend sent. */
  respondWith(response: {
    status: number
    reason?: string | undefined
    headers: HeaderList
    body: Buffer | undefined
  }): void
  /** Adds a line to whatever answer the client gets, problems included. */
  answerWith(name: string, value: string): void
  /** The same in the place of a line of this name that was added before. */
  answerOnce(name: string, value: string): void
  /** Keeps a copy of the answer's body while it passes, for `load` when the exchange is over. One larger than may be held is not kept, and not to be had then. */
  keepAnswer(): void
  /** Of bodies, as the client sent and got them until now. */
  readonly bytesReceived: number
  readonly bytesSent: number
  /** Runs once when the backend section is over, before the outbound section; a problem ends the exchange. */
  whenAnswered(run: () => Promise<Problem | undefined>): void
  /** Calls back once when the exchange has ended, however it did. `response` is then what the client got. */
  whenOver(release: () => void): void
  /** The last decision is logged under the request id. */
  decided(decision: Decision): void
  /** What expressions may read, in the shapes of runtime/expression/request-context.ts. */
  bindings(): Bindings
}

/** The path behind that of the backend's URL. */
export function localPath({ rewritten, path, route }: Exchange): string {
  return rewritten ?? path.slice((route?.plan.stripPrefix ?? "").replace(/\/$/, "").length)
}
