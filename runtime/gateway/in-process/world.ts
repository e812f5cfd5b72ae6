import type { TupleKey } from "../../check/ports.ts"
import type { Subscriber } from "../../identity/keys.ts"

/** A name and a value, as a field line has them. */
export type FieldLine = readonly [name: string, value: string]

/** A request that a backend, or another server, got. */
export interface BackendRequest {
  /** The backend of the plan; undefined for a server that a URL names: an issuer, a decision point, `send-request`. */
  readonly backend: string | undefined
  /** Of the target: `http://127.0.0.1:9001`. */
  readonly origin: string
  readonly method: string
  /** Path and query. */
  readonly target: string
  readonly headers: readonly FieldLine[]
  readonly body: Buffer
}

/**
 * What a backend does with a request. `refused`: no connection; `reset`: the connection breaks; `silent`: it never responds. A delay is in
 * milliseconds of the virtual clock.
 */
export type BackendAnswer =
  | {
      readonly status: number
      readonly headers?: readonly FieldLine[]
      readonly body?: Buffer
      readonly delayMs?: number
    }
  | { readonly failure: "refused" | "reset" | "silent"; readonly delayMs?: number }

/** Everything outside of a plan that requests can depend on. */
export interface World {
  /** The wall clock at the beginning, in milliseconds since the epoch. */
  readonly timeMs: number
  /** Plays every server that the plan sends requests to. */
  readonly answer: (request: BackendRequest) => BackendAnswer | Promise<BackendAnswer>
  /** By store of the plan. A store without an entry is empty. */
  readonly tuples: Readonly<Record<string, readonly TupleKey[]>>
  /** Keys of subscriptions that are not in the plan. */
  readonly issued: ReadonlyMap<string, Subscriber>
  /** Issuers whose keys cannot be fetched. */
  readonly issuersDown: ReadonlySet<string>
  /** Whether a provider that logs browsers in is played at an origin; undefined: none is, and `answer` gets all requests. */
  readonly playsProviderAt?: ((origin: string) => boolean) | undefined
}

/** Who logs in at a provider: the claims of the ID token, or a provider that refuses. */
export interface PlayedLogin {
  readonly claims: Readonly<Record<string, unknown>>
  readonly isRefused: boolean
}

/** A request of a client. The body has arrived as a whole. */
export interface ClientRequest {
  readonly method: string
  /** Path and query, as on the request line. */
  readonly target: string
  /** Without `host` the request has `localhost`. */
  readonly headers: readonly FieldLine[]
  readonly body?: Buffer | undefined
  /** The client's address (default: 127.0.0.1). */
  readonly ip?: string | undefined
  /** The client certificate; undefined: none. */
  readonly certificate?: PresentedCertificate | undefined
}

/** A client certificate, described. `subject` and `issuer` in the spelling of `canonicalName`. */
export interface PresentedCertificate {
  readonly subject: string
  readonly issuer: string
  readonly names: readonly { readonly kind: "dns" | "uri" | "email" | "ip"; readonly value: string }[]
  readonly serial?: string | undefined
  /** SHA-256 or SHA-1 in hexadecimal; what is not given is made of the rest. */
  readonly thumbprint?: string | undefined
  /** Why the handshake did not verify it; undefined: it did. */
  readonly fails?: "expired" | "revoked" | "untrusted" | undefined
}
