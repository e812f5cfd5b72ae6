import type { TupleKey } from "../check/ports.ts"
import type { BackendHandle, MirroredRequest } from "./exchange.ts"

/** A log line written by a configuration. */
export interface TraceLine {
  readonly requestId: string
  readonly source: string
  readonly severity: "verbose" | "information" | "error"
  readonly message: string
  readonly metadata: Readonly<Record<string, string>>
}

/** Writes lines to the log. */
export interface TraceLog {
  write(line: TraceLine): void
}

/** How a `grant` or `revoke` changed a store. */
export interface RelationChange {
  readonly requestId: string
  readonly store: string
  readonly statement: "grant" | "revoke"
  /** Undefined: the response of the backend did not contain its ids. */
  readonly tuple: TupleKey | undefined
  /** Why it is not certain that the change was made; undefined: it was made. */
  readonly failure: string | undefined
}

/** Records changes of relations. */
export interface RelationLog {
  changed(change: RelationChange): void
}

/** Records copies of requests. */
export interface MirrorLog {
  mirrored(request: MirroredRequest): void
}

/** Counters defined by a configuration. The number of series is limited; further label values share one series. */
export interface Meter {
  add(name: string, labels: Readonly<Record<string, string>>, value: number): void
}

/** A quota as the plan declares it. `periodSeconds` 0: it never resets. */
export interface QuotaTerms {
  readonly counter: string
  readonly callsMax: number | undefined
  readonly bytesMax: number | undefined
  readonly periodSeconds: number
}

/** Whether something is left. `resetSeconds` null: the quota never resets. */
export type QuotaAnswer =
  | { readonly allowed: true }
  | { readonly allowed: false; readonly out: "calls" | "bytes"; readonly resetSeconds: number | null }

/** Durable usage counts, shared by all processes. Periods start at `anchorMs`. */
export interface QuotaCounters {
  /** Consumes `calls` if that many are left; 0 only checks. Calls of plans without `callsMax` are not counted. */
  take(terms: QuotaTerms, key: string, anchorMs: number, calls: number): QuotaAnswer | Promise<QuotaAnswer>
  /** The usage in the period, without consuming anything; undefined: not known. The method is absent when it is never known. */
  look?(
    terms: QuotaTerms,
    key: string,
    anchorMs: number,
  ): Promise<
    { readonly calls: number; readonly bytes: number; readonly resetSeconds: number | null } | undefined
  >
  /** Adds usage that has already happened, even when the quota is used up. */
  add(
    terms: QuotaTerms,
    key: string,
    anchorMs: number,
    used: { readonly calls: number; readonly bytes: number },
  ): void
}

/** Backends at URLs that are computed per request. */
export interface BackendsByUrl {
  /** @throws Error when the URL cannot be that of a backend */
  at(url: string): BackendHandle
}
