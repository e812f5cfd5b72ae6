import type { TupleKey } from "../check/ports.ts"
import type { BackendHandle, ClientCertificate, StoredResponse } from "./exchange.ts"

/** A request of our own. `headers`: names and values in turn, without Host and Content-Length. */
export interface OutgoingRequest {
  readonly url: string
  readonly method: string
  readonly headers: readonly string[]
  readonly body: Buffer | undefined
  /** For all of it, in milliseconds. */
  readonly timeoutMs: number
  /** Largest response; default 10 MB. */
  readonly responseBytesMax?: number
  /** PEM of the certificate we show, and of its key. */
  readonly certificate?: ClientCertificate
  /** By what the other side's certificate is judged (PEM); absent: by the system's authorities. */
  readonly trust?: { readonly ca: string | undefined; readonly insecure: boolean }
  /** Ends the request when the exchange it is for has ended. */
  readonly signal?: AbortSignal
}

/** Why a request of our own has no response. */
export class OutgoingError extends Error {
  override readonly name = "OutgoingError"
  readonly reason: "invalid" | "timeout" | "too-large" | "unreachable"

  constructor(reason: OutgoingError["reason"], message: string) {
    super(message)
    this.reason = reason
  }
}

/** Sends requests of our own and holds their responses whole, without codings. Certificates are verified unless a request says otherwise. */
export interface OutgoingHttp {
  /** Rejects with OutgoingError. */
  send(request: OutgoingRequest): Promise<StoredResponse>
}

/** A line that a configuration writes. */
export interface TraceLine {
  readonly requestId: string
  readonly source: string
  readonly severity: "verbose" | "information" | "error"
  readonly message: string
  readonly metadata: Readonly<Record<string, string>>
}

/** Takes lines for the log. */
export interface TraceLog {
  write(line: TraceLine): void
}

/** What a `grant` or `revoke` did to the relations of a store. */
export interface RelationChange {
  readonly requestId: string
  readonly store: string
  readonly statement: "grant" | "revoke"
  /** Undefined: the answer of the backend did not name it. */
  readonly tuple: TupleKey | undefined
  /** Why it is not certain that it was made; undefined: it was. */
  readonly failure: string | undefined
}

/** Takes note of changed relations. */
export interface RelationLog {
  changed(change: RelationChange): void
}

/** Takes what a configuration counts. Series are bounded: beyond, label values are counted together. */
export interface Meter {
  add(name: string, labels: Readonly<Record<string, string>>, value: number): void
}

/** Backends at URLs that are found per request. */
export interface BackendsByUrl {
  /** @throws Error for what cannot be the URL of a backend. */
  at(url: string): BackendHandle
}
