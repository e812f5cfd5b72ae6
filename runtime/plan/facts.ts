import type { Place } from "./places.ts"

/**
 * How a step may end a section. `refuse`: it decides against the request; `fail`: something it needs is missing or unusable; both are problems, and on-error runs. `deny`: it answers with a
 * status of 400 or above of its own; `answer`: with any status; `found`: a kept answer was found, and outbound goes on. Failures of expressions are not said here: they follow from the expressions.
 */
export type End = "refuse" | "fail" | "deny" | "answer" | "found"

/** A table of the plan whose entries steps name. */
export type NamedTable =
  | "issuers"
  | "introspections"
  | "users"
  | "backends"
  | "stores"
  | "pdps"
  | "tokenClients"
  | "certificates"
  | "schemas"

/** A declared thing that a step names, and the field that does. */
export interface NamedResource {
  readonly table: NamedTable
  readonly name: string
  readonly field: string
}

/** What a step does to an exchange, besides what its expressions read and what steps inside of it do. A fact that is left out does not happen. */
export interface StepFacts {
  readonly reads?: readonly Place[]
  readonly writes?: readonly Place[]
  /** What remains however the exchange goes on: counters, lines of the log, requests of our own, fields on every answer. */
  readonly leaves?: readonly Place[]
  readonly ends?: readonly End[]
  /** The statuses of its refusals, as far as they are known without a request. */
  readonly statuses?: readonly number[]
  /** Whether it may wait for something outside: what depends on the time is different behind it. */
  readonly waits?: true
  /** Its expressions, and these places, are read once more when the exchange is over. */
  readonly late?: readonly Place[]
  /** What its texts bring has to fit: into a header field (`header`), or into a narrower place such as a path, an id or a URL. What does not is refused. */
  readonly fits?: "header" | "narrow"
  /** Its place among the others decides which of them run at all, when an answer comes from the cache. */
  readonly fence?: true
  /** Steps inside of it may run again, or at the same time as others: what one of them left is seen by the next. */
  readonly repeats?: "again" | "beside"
  /** The declared things it needs. */
  readonly names?: readonly NamedResource[]
}

/**
 * What a kind of step is for. `credential`: lets in who shows one, and tells who that is; `ways`: lets in by the first of several credentials that is good; `permission`: asks whether the caller
 * may; `limit`: refuses when too much is used; `guard`: may refuse a request by who or what it is in another way; `answer`: answers in place of the backend; `send`: asks the backend; `share`: lets pages of other
 * origins call, and on a preflight nothing else runs; `change`: changes the request or the response; `judge`: refuses messages of the wrong form; `observe`: tells or keeps something.
 */
export type Role =
  | "credential"
  | "ways"
  | "permission"
  | "limit"
  | "guard"
  | "answer"
  | "send"
  | "share"
  | "change"
  | "judge"
  | "observe"

/**
 * What `explain request`, which runs a route without effects, does with a kind. `run`: it has none, or its policy keeps them back; `assume`: it is taken to go on, which the output says; `skip`:
 * the same, but it never ends a request, so that nothing need be said.
 */
export type Rehearsed = "run" | "assume" | "skip"

/**
 * Lists of steps inside of a kind. `blocks`: each is a block of statements, compared on its own; `alternatives`: they are one statement together with it.
 */
export type Holds = "blocks" | "alternatives"

/** What holds for every step of a kind. */
export interface KindFacts {
  readonly role: Role
  readonly rehearsed: Rehearsed
  readonly holds?: Holds
}

/** The same field of a step naming entries of one table. */
export function named(table: NamedTable, field: string, ...names: readonly string[]): NamedResource[] {
  return names.map((name) => ({ table, name, field }))
}
