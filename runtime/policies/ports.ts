import type { TupleKey } from "../check/ports.ts"
import type { BackendHandle } from "./exchange.ts"

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

/** A volume that can be used up, as a plan has it. `periodSeconds` 0: once and for all. */
export interface QuotaTerms {
  readonly counter: string
  readonly callsMax: number | undefined
  readonly bytesMax: number | undefined
  readonly periodSeconds: number
}

/** Whether there is something left. `resetSeconds` null: there will never be more. */
export type QuotaAnswer =
  | { readonly allowed: true }
  | { readonly allowed: false; readonly out: "calls" | "bytes"; readonly resetSeconds: number | null }

/** Durable counts of what was used, shared by all processes. Periods are counted from `anchorMs`. */
export interface QuotaCounters {
  /** Uses `calls` if there are so many left; 0 only looks. Calls of plans without `callsMax` are not counted. */
  take(terms: QuotaTerms, key: string, anchorMs: number, calls: number): QuotaAnswer | Promise<QuotaAnswer>
  /** What was used in the period; undefined: nobody can say. Nothing is used up by it. Absent: nobody ever can. */
  look?(
    terms: QuotaTerms,
    key: string,
    anchorMs: number,
  ): Promise<
    { readonly calls: number; readonly bytes: number; readonly resetSeconds: number | null } | undefined
  >
  /** Counts what was used already, whether it was left or not. */
  add(
    terms: QuotaTerms,
    key: string,
    anchorMs: number,
    used: { readonly calls: number; readonly bytes: number },
  ): void
}

/** Backends at URLs that are found per request. */
export interface BackendsByUrl {
  /** @throws Error for what cannot be the URL of a backend. */
  at(url: string): BackendHandle
}
