import type { Bindings } from "../expression/compile.ts"
import type { Subscriber } from "../identity/keys.ts"
import type { Claims } from "../identity/verifier.ts"
import type { HeaderList } from "./header-list.ts"
import type { QueryString } from "./query-string.ts"

/** A backend made ready by the gateway: policies name it, only the gateway looks inside. */
export interface BackendHandle {
  readonly name: string
}

/** The answer of the backend, or the problem of an on-error section, before it is sent. */
export interface PendingResponse {
  status: number
  readonly headers: HeaderList
  /** Instead of what the backend sends. */
  body: Buffer | undefined
}

/** A decision of the authorization engine, for the log. `revision` is absent when there was no answer. */
export interface Decision {
  readonly store: string
  readonly user: string
  readonly relation: string
  readonly object: string
  readonly allowed: boolean
  readonly revision?: number
}

/** One request and its answer, as policies see them. */
export interface Exchange {
  readonly id: string
  readonly method: string
  /** Canonical, as it was matched. */
  readonly path: string
  /** The client's address after `gateway { trust }`, in one spelling per host. */
  readonly ip: string
  /** Header of the request to the backend: the client's without hop-by-hop and forwarding fields, and what policies made of it. */
  readonly headers: HeaderList
  /** Query of the request to the backend. */
  readonly query: QueryString
  /** Host as the client sent it, with its port. */
  readonly authority: string
  /** Path for the backend in place of the client's. */
  rewritten: string | undefined
  /** Host for the backend in place of the target's. */
  host: string | undefined
  /** Body for the backend in place of the client's. */
  body: Buffer | undefined
  /** Where to send the request; set by `forward`. */
  backend: BackendHandle | undefined
  claims: Claims | undefined
  subscriber: Subscriber | undefined
  /** Set while outbound or on-error steps run. */
  readonly response: PendingResponse | undefined
  /** Adds a line to whatever answer the client gets, problems included. */
  answerWith(name: string, value: string): void
  /** The last decision is logged under the request id. */
  decided(decision: Decision): void
  /** What expressions may read, in the shapes of runtime/expression/request-context.ts. */
  bindings(): Bindings
}
