import type { LoggedRequest, RefusalAnswer, RefusedRequest, RouteCounts } from "../control/api.ts"
import type { ApplyProblem } from "../control/ports.ts"
import type { TrafficTotals } from "../control/traffic-history.ts"
import type { CanaryTerms } from "../gateway/canary/running-canary.ts"
import type { RequestExplanation, RequestQuestion } from "../gateway/explain/request-explanation.ts"
import type { TicketSeed } from "../http/server/ticket-keys.ts"
import type { Plan } from "../plan/plan.ts"
import type { QuotaAnswer, QuotaTerms } from "../policies/ports.ts"
import type { OwnStatus } from "../process/control-view.ts"
import type { DeclaredStore } from "../store/declared-stores.ts"
import type { MetricFamily } from "../telemetry/metrics.ts"
import type { Calls, Channel } from "./channel.ts"

/** The plan that the parent serves, as its workers report it. `keptAt`: milliseconds since the epoch. */
export interface ServedPlanNews {
  readonly serial: number | null
  readonly error: string | null
  readonly refusedSerial: number | null
  readonly kept: string | null
  readonly keptAt: number | null
}

/** Before the parent serves a plan. */
export const noPlanNews: ServedPlanNews = {
  serial: null,
  error: null,
  refusedSerial: null,
  kept: null,
  keptAt: null,
}

/** The stores of a plan by name, as JSON. */
export type StoreEntries = readonly (readonly [string, DeclaredStore])[]

/** The addresses on which a worker listens, as `host:port`. */
export interface WorkerAddresses {
  readonly gateway: readonly string[]
  readonly authz: readonly string[]
}

/** The state of one worker, for `status`. */
export interface WorkerState extends OwnStatus {
  /** Why the worker waits for its stores: `ready when warm`. */
  readonly cold: readonly string[]
}

/** A counted call as a short message: whether it is allowed, calls left, milliseconds until the reset, and whether a refusal is certain until then. */
export type MachineTaken = readonly [allowed: 0 | 1, remaining: number, resetMs: number, isCertain: 0 | 1]

/** Calls that a worker let pass in advance: for each key, the key and the number of its calls. */
export type PassedKeys = readonly (string | number)[]

/** For each key of a report that has other calls in the window: its index, its calls, and milliseconds until the oldest leaves. */
export type CountedKeys = readonly number[]

/** A worker may let `allowance` calls of each key pass before they are counted, but none of the keys that are `near` the limit. */
export interface Allowance {
  /** Names the counter in later messages. */
  readonly id: number
  readonly counter: string
  readonly periodSeconds: number
  readonly callsMax: number
  readonly allowance: number
  readonly near: readonly string[]
}

/** What a worker does for its parent. */
export interface WorkerCalls extends Calls {
  /** Prepares a plan beside the running one. Returns why it cannot run; empty: call `activate` or `discard` next. */
  prepare(plan: Plan): Promise<readonly ApplyProblem[]>
  activate(stores: StoreEntries): Promise<WorkerAddresses>
  discard(): Promise<void>
  /** Prepares a plan that shall serve a share of the callers. Returns why it cannot run; empty: call `activateCanary` or `discardCanary` next. */
  prepareCanary(plan: Plan, terms: CanaryTerms): Promise<readonly ApplyProblem[]>
  activateCanary(): void
  discardCanary(): void
  endCanary(): void
  /** Reports a change of the plan, after `activate`. */
  planChanged(news: ServedPlanNews): void
  /** Resolves when the worker knows the change. */
  subscriptionsChanged(): Promise<void>
  flushUsage(): Promise<void>
  metrics(): readonly MetricFamily[]
  /** Undefined: the worker has no gateway. */
  traffic(): Promise<TrafficTotals | undefined>
  recentRefusals(): Promise<readonly RefusedRequest[]>
  routeCounts(keys: readonly string[]): Promise<Readonly<Record<string, RouteCounts>>>
  /** Requests that finished since the last call; from the first call on. */
  requestLines(): readonly LoggedRequest[]
  state(): WorkerState | Promise<WorkerState>
  explain(question: ExplainQuestion): Promise<RequestExplanation | undefined>
  refusal(id: string): Promise<RefusalAnswer | undefined>
  allow(allowance: Allowance): void
  /** The worker reports what it let pass, and asks for each further call of the counter. */
  revokeAllowance(id: number): void
  /** The worker reports what it let pass, and asks for each further call of the key. */
  nearLimit(id: number, key: string): void
  /** The allowance is valid for the key again. */
  farFromLimit(id: number, key: string): void
  /** Replies while the event loop of the worker runs. */
  ping(): void
  /** Accepts no more requests, completes those in progress, and ends. */
  close(graceMs: number): void
}

/** A question with its body in base64, because the channel carries JSON. */
export type ExplainQuestion = Omit<RequestQuestion, "body"> & { readonly body: string | undefined }

/** What the parent does for a worker: everything that is counted once for the machine. */
export interface ParentCalls extends Calls {
  /** The first call. `engineKey`: with it the parent calls the engine of any worker. */
  hello(): { readonly engineKey: string; readonly ticketSeed: TicketSeed }
  /** The worker can prepare plans. `processId`: its name in the fleet. */
  started(processId: string): void
  /** The worker cannot start, for a reason that the user can fix. */
  startFailed(message: string, help: string | undefined): void
  take(
    counter: string,
    key: string,
    callsMax: number,
    periodSeconds: number,
    amount: number,
  ): MachineTaken | Promise<MachineTaken>
  /** Counts calls that the worker let pass in advance. */
  passed(id: number, keys: PassedKeys): CountedKeys
  add(counter: string, key: string, periodSeconds: number, amount: number): void
  /** Takes a slot; null: all are taken. */
  enter(counter: string, key: string, max: number): number | null
  leave(slot: number): void
  takeQuota(
    terms: QuotaTerms,
    key: string,
    anchorMs: number,
    calls: number,
  ): QuotaAnswer | Promise<QuotaAnswer>
  addQuota(terms: QuotaTerms, key: string, anchorMs: number, used: UsedQuota): void
  /** Asks an OCSP responder; request and response in base64. Workers that ask the same get one response. */
  askResponder(url: string, request: string): Promise<string>
  lookAtQuota(terms: QuotaTerms, key: string, anchorMs: number): Promise<QuotaLook | undefined>
}

/** Usage of a quota. */
export interface UsedQuota {
  readonly calls: number
  readonly bytes: number
}

/** The usage of a quota, and the seconds until it resets; null: never. */
export interface QuotaLook extends UsedQuota {
  readonly resetSeconds: number | null
}

/** A worker's end of its channel. */
export type ToParent = Pick<Channel<ParentCalls, WorkerCalls>, "ask" | "tell">
/** The parent's end of the channel to one worker. */
export type ToWorker = Pick<Channel<WorkerCalls, ParentCalls>, "ask" | "tell">
