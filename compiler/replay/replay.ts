import type { Plan } from "../../runtime/plan/plan.ts"
import type { OpenRecord } from "../../runtime/record/read-record.ts"
import type { FactChange, RequestOutcome } from "../request-compare/outcome.ts"

/** A plan, and where its `env()` and `file()` read from. */
export interface PlanToReplay {
  readonly plan: Plan
  readonly environment: Readonly<Record<string, string | undefined>>
  readonly folder: string
}

/** Requests, and the callers who sent them. */
export interface Counted {
  readonly requests: number
  readonly callers: number
}

/** The requests of routes that a change concerns, by route; `routes` in descending order of their requests. */
export interface Blast extends Counted {
  readonly routes: readonly (Counted & { readonly route: string })[]
}

/**
 * How the plans treat a request. `unchanged`: its route is the same in both. `left`: it cannot be replayed. `route`: its route in the plan afterwards, or
 * before.
 */
export type Treated = { readonly isOfOtherPlan: boolean } & (
  | { readonly is: "unchanged" }
  | { readonly is: "left"; readonly reason: string; readonly route: string }
  | { readonly is: "same"; readonly route: string }
  | {
      readonly is: "different"
      readonly route: string
      readonly effect: ReplayGroup["effect"]
      readonly before: RequestOutcome
      readonly after: RequestOutcome
      readonly facts: readonly FactChange[]
    }
)

/** Requests that are treated differently, for one cause. */
export interface ReplayGroup extends Counted {
  /** `opens`: refused before, and not now; `closes`: the reverse; `changes`: what callers or backends notice is different. */
  readonly effect: "opens" | "closes" | "changes"
  readonly before: Pick<RequestOutcome, "kind" | "words" | "by">
  readonly after: Pick<RequestOutcome, "kind" | "words" | "by">
  /** Names of what differs when both outcomes have the same words: `response header x-role`. */
  readonly facts: readonly string[]
  /** Requests by route of the plan that they have now, or had. */
  readonly routes: ReadonlyMap<string, number>
  readonly example: ReplayExample
}

/** The first request of a group, as it was recorded. */
export interface ReplayExample {
  readonly method: string
  readonly host: string
  readonly target: string
  readonly atMs: number
  /** Pseudonym of the caller. */
  readonly caller: string
  readonly facts: readonly FactChange[]
}

/** Requests that could not be replayed, and why. */
export interface NotReplayed {
  readonly reason: string
  readonly requests: number
}

/** What recorded requests become in another plan. */
export interface Replay {
  /** All requests of the record, and their callers. */
  readonly recorded: Counted
  /** Times of the first and the last request, in milliseconds since the epoch; undefined: no request was recorded. */
  readonly period: { readonly fromMs: number; readonly toMs: number } | undefined
  /** Requests whose routes are the same in both plans: they are treated as before, so nothing was sent. */
  readonly unchanged: number
  /** Requests that were sent through both plans. */
  readonly sent: number
  /** The requests of routes that differ. */
  readonly blast: Blast
  readonly differing: Counted
  readonly groups: readonly ReplayGroup[]
  readonly notReplayed: readonly NotReplayed[]
  /** Requests that were recorded under a plan other than `before`. */
  readonly ofOtherPlans: number
  /** How the segments of the record end, by their number. */
  readonly segments: OpenRecord["endings"]
}
