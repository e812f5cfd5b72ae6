import type { RequestExplanation, RequestQuestion } from "../gateway/explain/request-explanation.ts"
import type { Plan } from "../plan/plan.ts"
import type { PlanBase, PlanIdentity } from "../store/plans.ts"
import type { ApplyAnswer, Author, PlanAnswer, PlanRecord, RefusalAnswer, StatusAnswer } from "./api.ts"
import type { SubscriptionDesk } from "./subscription-desk.ts"
import type { UsageDesk } from "./usage-desk.ts"

/** One thing that keeps a plan from being applied. `origin` is `file:line` of the text it came from. */
export interface ApplyProblem {
  readonly path: string
  readonly message: string
  readonly origin?: string | undefined
}

/**
 * How an apply ended. `stale`: another plan than `base` is running, nothing was touched. `refused`: this runtime cannot
 * provision the plan (an unset variable, a port in use, …), the old one serves on.
 */
export type ApplyOutcome =
  | { readonly kind: "done"; readonly answer: ApplyAnswer }
  | { readonly kind: "stale"; readonly current: PlanRecord | null }
  | { readonly kind: "refused"; readonly problems: readonly ApplyProblem[] }

/** What orchestrators and scrapers ask any process. */
export interface HealthPorts {
  /** Why this process should get no traffic yet; empty when it is ready. */
  notReady(): Promise<readonly string[]>
  /** The metrics page. */
  metrics(): string
}

/** What the control API does, put together by runtime/main. Methods reject with `Unavailable` when the database cannot be asked. */
export interface ControlPorts extends HealthPorts {
  /** The newest plan, undefined when none was ever applied. */
  current(): Promise<PlanAnswer | undefined>
  plan(serial: number): Promise<PlanAnswer | undefined>
  /** Newest first. */
  history(limit: number): Promise<readonly PlanRecord[]>
  apply(plan: Plan, base: PlanBase | null, author: Author): Promise<ApplyOutcome>
  status(): Promise<StatusAnswer>
  /** Where subscriptions are issued and changed. */
  readonly subscriptions: SubscriptionDesk
  /** Where usage is asked for. */
  readonly usage: UsageDesk
  /** What the running plan would do with a request; undefined: this process serves none. */
  explain(question: RequestQuestion): Promise<RequestExplanation | undefined>
  /** Why a request was refused, by its id; undefined: it is not remembered here. */
  refusal(id: string): Promise<RefusalAnswer | undefined>
  /** The engine listener that `/authz/*` is carried to; undefined when there is none. */
  engine(): EngineDoor | undefined
}

/** Where the engine is asked for operators, and the credential it takes from this process. */
export interface EngineDoor {
  readonly url: string
  /** Value of the `Authorization` header. */
  readonly authorization: string
}

/** The database did not answer; `message` is for logs and operators. */
export class Unavailable extends Error {
  override readonly name = "Unavailable"
}

/** The last plan that was served in a place. */
export interface KeptPlan {
  readonly identity: PlanIdentity
  readonly plan: Plan
  readonly keptAt: Date
}

/** Keeps it for a start without the database. Nothing of it rejects. */
export interface PlanDisk {
  /** What was written last; a text says why there is none. */
  read(): Promise<KeptPlan | string>
  write(identity: PlanIdentity, plan: Plan): Promise<void>
}
