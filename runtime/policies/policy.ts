import type { Cache } from "../cache/cache.ts"
import type { CheckAnswer, CheckRequest, TupleKey } from "../check/ports.ts"
import type { BatchCheckAnswer } from "../check/questions.ts"
import type { Environment } from "../expression/environment.ts"
import type { Introspection } from "../identity/introspection.ts"
import type { KeyTable } from "../identity/keys.ts"
import type { TokenSource } from "../identity/token-client.ts"
import type { UserTable } from "../identity/users.ts"
import type { TokenVerifier } from "../identity/verifier.ts"
import type { Limiter } from "../limits/limiter.ts"
import type { StepId, StepKind, StepOf, Step as StepPlan } from "../plan/steps.ts"
import type { Validator } from "../validation/schema-set.ts"
import type { Answer } from "./answer.ts"
import type { BackendHandle, ClientCertificate, Exchange, Needs } from "./exchange.ts"
import type { BackendsByUrl, Meter, OutgoingHttp, RelationLog, TraceLog } from "./ports.ts"
import type { QuotaCounters } from "./quotas.ts"

/** Undefined: go on with the next step. An answer ends the section. */
export type Outcome = Answer | undefined

/** What a step does. It answers at once where it can: whoever runs it awaits promises only. */
export type Run = (exchange: Exchange) => Outcome | Promise<Outcome>

/** A provisioned step. */
export interface Step extends Run {
  /** Its id in the plan. */
  readonly id: StepId
  /** The kind of its plan, for logs, metrics and on-error sections. */
  readonly kind: StepKind
}

/** One kind of step. Everything is read here, once; nothing is parsed per request. */
export type Policy<Kind extends StepKind> = (plan: StepOf<Kind>, provision: Provision) => Run

/** The authorization engine as a gateway asks it. Rejects or throws CheckError when there is no answer. */
export interface Authorizer {
  check(store: string, request: CheckRequest): CheckAnswer | Promise<CheckAnswer>
  /** Many questions at one revision; what is wrong with one of them is its own error. */
  batch(store: string, requests: readonly CheckRequest[]): BatchCheckAnswer | Promise<BatchCheckAnswer>
  /** Writes or deletes a tuple that fits the model; one that is there, or gone, already is fine. Rejects when that is not certain. */
  change(store: string, action: "write" | "delete", tuple: TupleKey): Promise<void>
}

/**
 * What a step may use, while it is provisioned only. Every look-up is recorded: a step is carried over to the next plan when all it looked
 * up is the same there. A step must not keep the provision itself, or a plan long gone would live on in it. Names are those of the plan, which has been validated: a missing one is a bug and throws.
 */
export interface Provision {
  value(name: string): string
  secret(name: string): string
  verifier(issuer: string): TokenVerifier
  keys(): KeyTable
  /** Names of the products that cover an API. */
  productsOf(api: string): ReadonlySet<string>
  /** The product whose call a call without a key is; undefined: a key is needed. */
  openProductOf(api: string): string | undefined
  backend(name: string): BackendHandle
  /** A certificate by which we show who we are. */
  certificate(name: string): ClientCertificate
  tokenClient(name: string): TokenSource
  introspection(name: string): Introspection
  users(name: string): UserTable
  /** A schema of the plan, compiled. */
  schema(name: string): Validator
  environment(): Environment
  limiter(): Limiter
  quotas(): QuotaCounters
  authorizer(): Authorizer
  /** What outlives an exchange, and the plan. */
  cache(): Cache
  /** Requests of our own. */
  http(): OutgoingHttp
  backendsByUrl(): BackendsByUrl
  traceLog(): TraceLog
  relationLog(): RelationLog
  meter(): Meter
  /** The step needs these bodies: whoever runs it has loaded them. */
  need(needs: Needs): void
  /** What the step has said until now that it needs. */
  readonly needed: Needs
  /** The wall clock in milliseconds. */
  readonly now: () => number
  /** A step of the plan, provisioned, for steps that hold others. */
  step(id: StepId): Step
  /** The plan of a step. */
  plan(id: StepId): StepPlan
}
