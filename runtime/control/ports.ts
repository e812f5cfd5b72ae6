import type { RequestExplanation, RequestQuestion } from "../gateway/explain/request-explanation.ts"
import type { ChangeClass } from "../plan/change-rules.ts"
import type { Plan, PlanBody } from "../plan/plan.ts"
import type { AuditContent } from "../store/audit-log.ts"
import type { CanaryEnding, CanaryInsert, CanaryReport, StoredCanary } from "../store/canaries.ts"
import type { Database } from "../store/database.ts"
import type { PlanBase, PlanIdentity } from "../store/plans.ts"
import type { MetricFamily } from "../telemetry/metrics.ts"
import type {
  ApplyAnswer,
  Author,
  CanaryRecord,
  LoggedRequest,
  PlanAnswer,
  PlanConsent,
  PlanRecord,
  Provenance,
  RefusalAnswer,
  RefusedRequest,
  RouteCounts,
  StatusAnswer,
} from "./api.ts"
import type { AuditPorts, JournalPlace } from "./audit.ts"
import type { ImpactPorts } from "./impact.ts"
import type { MovePorts } from "./moves.ts"
import type { PrunePorts } from "./prune.ts"
import type { SubscriptionDesk } from "./subscription-desk.ts"
import type { TokenPorts } from "./token-desk.ts"
import type { TrafficHistory } from "./traffic-history.ts"
import type { TupleImpactPorts } from "./tuple-impact.ts"
import type { UsageDesk } from "./usage-desk.ts"

/** One reason why a plan cannot be applied. `origin` is `file:line` in the text of the plan. */
export interface ApplyProblem {
  readonly path: string
  readonly message: string
  readonly origin?: string | undefined
}

/**
 * The result of an apply. `stale`: another plan than `base` is running; nothing changed. `refused`: this runtime cannot run the plan (an
 * unset variable, a port in use, …); the previous plan stays in use.
 */
export type ApplyOutcome =
  | { readonly kind: "done"; readonly answer: ApplyAnswer }
  | { readonly kind: "stale"; readonly current: PlanRecord | null }
  | { readonly kind: "refused"; readonly problems: readonly ApplyProblem[] }

/** Who applies a plan, and what is known about its origin. */
export interface ApplyOrigin extends Author {
  readonly provenance?: Provenance | undefined
}

/** A change between two plans, as far as rules of `change` ask. */
export interface ReviewedChange {
  /** All classes of its effects, not only the worst. */
  readonly classes: readonly ChangeClass[]
  /** Keys of the routes that it concerns; empty: it is not limited to routes. */
  readonly routes: readonly string[]
  /** In one line, for people. */
  readonly text: string
}

/** Finds what a plan changes. Rejects when it takes too long. */
export type PlanReview = (before: PlanBody, after: PlanBody) => Promise<readonly ReviewedChange[]>

/** Something that other services may want to know. */
export type ChangeEvent =
  | { readonly type: "plan.applied"; readonly data: PlanRecord }
  | {
      readonly type: "plan.consented"
      readonly data: { readonly digest: string; readonly consent: PlanConsent }
    }
  | { readonly type: "canary.started" | "canary.ended"; readonly data: CanaryRecord }

/** A canary that shall begin. */
export type CanaryEntry = Omit<CanaryInsert, "id">

/** The result of beginning a canary. `stale`: another plan runs than its base; `busy`: another canary runs; `refused`: this process cannot serve its plan. */
export type CanaryBegun =
  | { readonly kind: "begun"; readonly canary: StoredCanary }
  | { readonly kind: "stale" }
  | { readonly kind: "busy" }
  | { readonly kind: "refused"; readonly problems: readonly ApplyProblem[] }

/** The plan that serves a share of the callers. Methods reject with `SourceUnavailable` when the database does not answer. */
export interface CanaryPorts {
  /** Undefined: none runs. */
  running(): Promise<StoredCanary | undefined>
  /** The one that began last, with what the processes have reported, and what the counts say while it runs. */
  newest(): Promise<
    | {
        readonly canary: StoredCanary
        readonly reports: readonly CanaryReport[]
        readonly verdict: string | undefined
      }
    | undefined
  >
  /** The last ones, newest first. */
  list(limit: number): Promise<CanaryRecord[]>
  begin(entry: CanaryEntry): Promise<CanaryBegun>
  /** Undefined: it was over. */
  end(canary: StoredCanary, ending: CanaryEnding): Promise<StoredCanary | undefined>
}

/** Whether a process may get traffic. */
export interface Readiness {
  /** Why it must not get traffic yet; empty when it is ready. */
  readonly reasons: readonly string[]
  /** What it lacks although it is ready. */
  readonly warnings: readonly string[]
}

/** Traffic of this process, for the console. */
export interface TrafficPorts {
  /** The name of this process in the fleet. */
  readonly processId: string
  readonly history: TrafficHistory
  /** Calls `listener` for each finished request, until the returned function is called. */
  listen(listener: (line: LoggedRequest) => void): () => void
}

/** What orchestrators and metrics scrapers ask of any process. */
export interface HealthPorts {
  /** Whether the start is over: the process serves a plan, or knows why it does not. It never becomes false again. */
  started(): boolean
  readiness(): Promise<Readiness>
  /** The current metrics of the process, with its workers. */
  metrics(): Promise<readonly MetricFamily[]>
}

/** The operations of the control API; runtime/main implements them. Methods reject with `Unavailable` when the database does not answer. */
export interface ControlPorts extends HealthPorts, ImpactPorts, TupleImpactPorts {
  /** The newest plan; undefined when no plan was ever applied. */
  current(): Promise<PlanAnswer | undefined>
  plan(serial: number): Promise<PlanAnswer | undefined>
  /** Plans of the history, newest first. */
  history(limit: number): Promise<readonly PlanRecord[]>
  /** Whether plans must keep the `change` rules of the plan that they replace. */
  readonly enforcesChangeRules: boolean
  /** Absent: this process was started without the compiler, so it refuses plans where the rules ask for classes of changes. */
  readonly reviewPlans?: PlanReview | undefined
  /** Tells other services about a change; returns at once. */
  notify(event: ChangeEvent): void
  /** Where consents are stored. */
  readonly consents: { readonly database: Database }
  /** Identifies the history for seals. */
  historyIdentity(): Promise<string>
  apply(plan: Plan, base: PlanBase | null, author: ApplyOrigin): Promise<ApplyOutcome>
  /** Absent: this process keeps no plans on disk. */
  readonly outage?: OutagePorts | undefined
  readonly canaries: CanaryPorts
  status(): Promise<StatusAnswer>
  readonly traffic: TrafficPorts
  /** Issues and changes subscriptions. */
  readonly subscriptions: SubscriptionDesk
  /** Answers queries of usage. */
  readonly usage: UsageDesk
  readonly tokens: TokenPorts
  readonly audit: AuditPorts
  /** Moves of tuples. */
  readonly moves: MovePorts
  /** Deletes old data. */
  readonly pruning: PrunePorts
  /** What the running plan would do with a request; undefined: this process has no gateway. */
  explain(question: RequestQuestion): Promise<RequestExplanation | undefined>
  /** Why a request was refused, by its id; undefined: this process does not remember the request. */
  refusal(id: string): Promise<RefusalAnswer | undefined>
  /** The last refused requests that this process remembers, newest first. */
  recentRefusals(): Promise<readonly RefusedRequest[]>
  /** What this process has counted for these routes, by key; those without a request are absent. */
  routeCounts(keys: readonly string[]): Promise<Readonly<Record<string, RouteCounts>>>
  /** The engine listener behind `/authz/*`; undefined when there is none. */
  engine(): EngineDoor | undefined
}

/** The address of the engine for operators, and the credential of this process. */
export interface EngineDoor {
  /** On this machine. With `https:`, the certificate is for other names, and is not verified: nothing leaves the machine. */
  readonly url: string
  /** Value of the `Authorization` header. */
  readonly authorization: string
}

/** The database did not answer; `message` is for logs and operators. */
export class Unavailable extends Error {
  override readonly name = "Unavailable"
}

/** The last plan that a place has stored. */
export interface KeptPlan {
  readonly identity: PlanIdentity
  readonly plan: Plan
  readonly keptAt: Date
}

/** Keeps a plan for a start without the database. Its methods do not reject. */
export interface PlanDisk {
  /** The plan that was written last, or a text that says why there is none. */
  read(): Promise<KeptPlan | string>
  write(record: PlanRecord, plan: Plan): Promise<void>
}

/** A plan of the history, with its content's digest. */
export interface PlanPlace extends PlanIdentity {
  readonly digest: string
}

/** A rollback that this process alone made. `base`: the plan of the history that it replaced. `at` is RFC 3339. */
export interface OutageRollback {
  readonly base: PlanPlace
  readonly to: PlanPlace
  readonly who: string
  readonly message: string | null
  readonly at: string
}

/** The plan that this process serves, and the newest plan of the history that it knows. Both are the same, except after a rollback without the database. */
export interface RunningPlan {
  readonly place: PlanPlace
  readonly base: PlanPlace
  readonly body: PlanBody
}

/** A request to serve an earlier plan in this process alone. `from`: the plan that the caller means to replace. */
export interface OutageRequest {
  readonly target: PlanAnswer
  readonly from: PlanBase
  /** Writes down the rollback, after everything that can fail. When it rejects, nothing changes. */
  readonly note: (running: RunningPlan) => Promise<OutageRollback>
}

/** See `ApplyOutcome`. */
export type OutageOutcome =
  | { readonly kind: "done"; readonly rollback: OutageRollback }
  | { readonly kind: "stale"; readonly running: PlanPlace | undefined }
  | { readonly kind: "refused"; readonly problems: readonly ApplyProblem[] }

/** Whether a canary ran when the database last answered. `unknown`: it has not answered since this process started. */
export type CanaryKnowledge = "running" | "none" | "unknown"

/** What a process that keeps plans on disk can do while the database is unavailable. */
export interface OutagePorts {
  /** Undefined: no plan, or one from a file. */
  running(): RunningPlan | undefined
  /** Serial of a newer plan that this process cannot serve; null: none. */
  refusedSerial(): number | null
  knownCanary(): CanaryKnowledge
  /** The kept plans, the last one first. */
  kept(): Promise<readonly PlanRecord[]>
  /** A text says why the plan cannot be used; undefined: it is not kept. */
  find(serial: number): Promise<PlanAnswer | string | undefined>
  rollBack(request: OutageRequest): Promise<OutageOutcome>
  /** Appends a row to the journal on disk. */
  append(content: AuditContent): Promise<JournalPlace>
}
