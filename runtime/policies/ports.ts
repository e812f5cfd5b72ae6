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

/** Backends at URLs that are found per request. */
export interface BackendsByUrl {
  /** @throws Error for what cannot be the URL of a backend. */
  at(url: string): BackendHandle
}
