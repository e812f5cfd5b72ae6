import type { Place } from "./places.ts"
import type { StepKind, StepOf } from "./steps.ts"

/**
 * How a step may end a section. `refuse`: it decides against the request; `fail`: something it needs is not there or is no good; both are problems, and on-error runs. `deny`: it answers with a
 * status of 400 or above of its own; `answer`: with any status; `found`: an answer was kept, and outbound goes on. Failures of expressions are not said here: they follow from the expressions.
 */
export type End = "refuse" | "fail" | "deny" | "answer" | "found"

/** What a step does to an exchange, besides what its expressions read and what steps inside of it do. What is not said does not happen. */
export interface StepFacts {
  readonly reads?: readonly Place[]
  readonly writes?: readonly Place[]
  /** What stays however the exchange goes on: counters, lines of the log, requests of our own, fields on every answer. */
  readonly leaves?: readonly Place[]
  readonly ends?: readonly End[]
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
}

/** The facts of one kind of step. */
export type FactsOf<Kind extends StepKind> = (step: StepOf<Kind>) => StepFacts
