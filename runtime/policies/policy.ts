import type { Cache } from "../cache/cache.ts"
import type { CheckAnswer, CheckError, CheckRequest, Commit, TupleKey } from "../check/ports.ts"
import type { Environment } from "../expression/environment.ts"
import type { JsonSize } from "../expression/to-json.ts"
import type { OutgoingHttp } from "../http/client/http-client.ts"
import type { OpaqueTokens } from "../identity/introspection.ts"
import type { KeyTable } from "../identity/keys.ts"
import type { TokenSource } from "../identity/token-client.ts"
import type { Passwords } from "../identity/users.ts"
import type { TokenVerifier } from "../identity/verifier.ts"
import type { Limiter } from "../limits/limiter.ts"
import type { StepId, StepKind, StepOf, Step as StepPlan } from "../plan/steps.ts"
import type { CsharpExpression } from "../plan/text.ts"
import type { Validator } from "../validation/schema-set.ts"
import type { BackendHandle, ClientCertificate, Exchange, Needs } from "./exchange.ts"
import type { Answer } from "./messages/answer.ts"
import type { BackendsByUrl, Meter, QuotaCounters, RelationLog, TraceLog } from "./ports.ts"

/** Undefined: go on with the next step. An answer ends the section. */
export type Outcome = Answer | undefined

/** What a step does. It answers at once where it can: whoever runs it awaits promises only. */
export type Run = (exchange: Exchange) => Outcome | Promise<Outcome>

/** A provisioned step. */
export interface ProvisionedStep extends Run {
  /** Its id in the plan. */
  readonly id: StepId
  /** The kind of its plan, for logs, metrics and on-error sections. */
  readonly kind: StepKind
  /** The bodies it has loaded before it is run; those of steps inside of it are theirs to say. */
  readonly needs: Needs
}

/** One kind of step. Everything is read here, once; nothing is parsed per request. */
export type Policy<Kind extends StepKind> = (plan: StepOf<Kind>, provision: Provision) => Run

/** What is asked. `properties` are for decision points, tuples for the engine. */
export interface AccessRequest extends CheckRequest {
  readonly properties?: {
    readonly [Of in "subject" | "resource" | "action"]?: Readonly<Record<string, unknown>>
  }
}

/** What was answered. The engine's answers have a revision, those of decision points perhaps a reason for operators. */
export interface AccessAnswer extends Omit<CheckAnswer, keyof Commit>, Partial<Commit> {
  readonly reason?: string | undefined
}

/** The exchange a question is asked for. */
export type AskedFor = Pick<Exchange, "id" | "whenOver">

/** Who says what callers may: the engine, whose stores are named, or a decision point. Rejects or throws CheckError or NoDecision when there is no answer. */
export interface Authorizer {
  check(store: string, request: AccessRequest, asker: AskedFor): AccessAnswer | Promise<AccessAnswer>
  /** Many questions; of the engine at one revision, and what is wrong with one of them is its own error. */
  batch(
    store: string,
    requests: readonly AccessRequest[],
    asker: AskedFor,
  ): AccessAnswers | Promise<AccessAnswers>
  /** Writes or deletes a tuple that fits the model; one that is there, or gone, already is fine. Rejects when that is not certain. */
  change(store: string, action: "write" | "delete", tuple: TupleKey): Promise<void>
  /** Each question is a request: several are better asked together. */
  readonly remote?: boolean
}

/** The answers of a batch, in its order. */
export interface AccessAnswers {
  readonly results: readonly (AccessAnswer | CheckError)[]
}

/** Makes the bytes of a body per request; a template that takes long makes them in several turns. */
export type MakeBody = (exchange: Exchange) => Buffer | Promise<Buffer>

/** What policies need for C# and Liquid: `runtime/azure`, which is loaded with the first plan that has either. */
export interface AzureWing {
  /** Compiles an expression of a policy document. The bodies it reads become needs of the step. The function throws CsharpError. */
  compileValue(expression: CsharpExpression, provision: Provision): (exchange: Exchange) => unknown
  /** The text of a value as .NET's `ToString()` writes it. */
  textOf(value: unknown): string
  /** A value as a body: bytes as they are, null as none, everything else as its text. */
  bytesOf(value: unknown): Buffer
  /** Compiles a template. `of`: the message it reads as `body`. */
  compileLiquid(
    template: { readonly liquid: string; readonly xsiNil?: "blank" | "null" | undefined },
    of: "request" | "response",
    provision: Provision,
  ): MakeBody
  /** Plain data for an object of the C# library that may outlive its exchange; undefined for other values. @throws CsharpError for one that is too large. */
  keep(value: unknown): object | undefined
  /** The inverse of `keep`. @throws CsharpError for a text that `keep` did not write. */
  restore(kept: object): unknown
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
  introspection(name: string): OpaqueTokens
  users(name: string): Passwords
  /** A schema of the plan, compiled. */
  schema(name: string): Validator
  environment(): Environment
  /** Undefined: nothing in the plan is C# or Liquid. */
  azure(): AzureWing | undefined
  limiter(): Limiter
  quotas(): QuotaCounters
  authorizer(): Authorizer
  /** A decision point in the place of the engine. */
  decisionPoint(name: string): Authorizer
  /** What outlives an exchange, and the plan. */
  cache(): Cache
  /** How much JSON a step may write of one value: what the gateway's limits let it read, once. */
  jsonMost(): JsonSize
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
  step(id: StepId): ProvisionedStep
  /** The plan of a step. */
  plan(id: StepId): StepPlan
}
