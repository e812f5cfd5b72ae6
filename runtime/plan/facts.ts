import type { Place } from "./places.ts"

/**
 * How a step can end a section. Failures of expressions are not listed here: they follow from the expressions.
 * - `refuse`: it rejects the request. This is a problem, and on-error runs.
 * - `fail`: something it needs is missing or unusable. This is a problem, and on-error runs.
 * - `deny`: it responds with its own status of 400 or above.
 * - `answer`: it responds with any status.
 * - `found`: it found a cached response, and outbound continues.
 */
export type End = "refuse" | "fail" | "deny" | "answer" | "found"

/** A table of the plan whose entries are referenced by steps. */
export type NamedTable =
  | "issuers"
  | "introspections"
  | "oidcClients"
  | "users"
  | "backends"
  | "stores"
  | "pdps"
  | "tokenClients"
  | "certificates"
  | "schemas"

/** A declared resource that a step references, and the field with the reference. */
export interface NamedResource {
  readonly table: NamedTable
  readonly name: string
  readonly field: string
}

/** What a step does to an exchange, in addition to the reads of its expressions and the effects of its inner steps. An absent fact means that it does not happen. */
export interface StepFacts {
  readonly reads?: readonly Place[]
  readonly writes?: readonly Place[]
  /** What remains no matter how the exchange ends: counters, log lines, requests sent by the gateway, header fields on every response. */
  readonly leaves?: readonly Place[]
  readonly ends?: readonly End[]
  /** The statuses of its refusals, if they are known without a request. */
  readonly statuses?: readonly number[]
  /** Whether it can wait for something outside. Time-dependent values can differ after it. */
  readonly waits?: true
  /** Its expressions, and these places, are read again when the exchange has ended. */
  readonly late?: readonly Place[]
  /**
   * Where the values of its texts must fit: into a header field (`header`), or into a narrower place such as a path, an id or a URL (`narrow`). Other
   * values are rejected.
   */
  readonly fits?: "header" | "narrow"
  /** When the response comes from the cache, the position of this step decides which other steps run. */
  readonly fence?: true
  /** Its inner steps can run again (`again`) or concurrently with others (`beside`): the next run sees the effects of the previous one. */
  readonly repeats?: "again" | "beside"
  /** The declared resources it needs. */
  readonly names?: readonly NamedResource[]
}

/**
 * What a kind of step is for.
 * - `credential`: authenticates the caller by a credential.
 * - `ways`: authenticates by the first valid one of several credentials.
 * - `permission`: checks whether the caller is allowed.
 * - `limit`: rejects requests when too much is used.
 * - `guard`: can reject a request by its caller or content in another way.
 * - `answer`: responds in place of the backend.
 * - `send`: sends the request to the backend.
 * - `share`: allows cross-origin requests; on a preflight nothing else runs.
 * - `change`: changes the request or the response.
 * - `judge`: rejects messages of the wrong form.
 * - `observe`: logs, counts or keeps something.
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
 * What `explain request`, which runs a route without side effects, does with a kind.
 * - `run`: the step runs. It has no side effects, or its policy holds them back.
 * - `assume`: the step does not run. It is assumed to continue, and the output mentions that.
 * - `skip`: like `assume`, but without a mention, because the step never ends a request.
 */
export type Rehearsed = "run" | "assume" | "skip"

/**
 * Lists of steps inside of a kind. `blocks`: each list is a block of statements and is compared on its own. `alternatives`: the lists and the step are
 * one statement.
 */
export type Holds = "blocks" | "alternatives"

/** What is true for every step of a kind. */
export interface KindFacts {
  readonly role: Role
  readonly rehearsed: Rehearsed
  readonly holds?: Holds
}

/** References to entries of one table, all from the same field of a step. */
export function named(table: NamedTable, field: string, ...names: readonly string[]): NamedResource[] {
  return names.map((name) => ({ table, name, field }))
}
