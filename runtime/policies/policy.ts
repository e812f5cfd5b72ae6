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
import type { OidcClient } from "../oidc/oidc-client.ts"
import type { StepId, StepKind, StepOf, Step as StepPlan } from "../plan/steps.ts"
import type { CsharpExpression } from "../plan/text.ts"
import type { Validator } from "../validation/schema-set.ts"
import type { Clock } from "./clock.ts"
import type { BackendHandle, ClientCertificate, Exchange, Needs } from "./exchange.ts"
import type { Answer } from "./messages/answer.ts"
import type { BackendsByUrl, Meter, MirrorLog, QuotaCounters, RelationLog, TraceLog } from "./ports.ts"

/** Undefined: continue with the next step. An answer ends the section. */
export type Outcome = Answer | undefined

/** What a step does. It returns synchronously when possible: the runner awaits only promises. */
export type Run = (exchange: Exchange) => Outcome | Promise<Outcome>

/** A provisioned step. */
export interface ProvisionedStep extends Run {
  /** Its id in the plan. */
  readonly id: StepId
  /** The kind of its plan, for logs, metrics and on-error sections. */
  readonly kind: StepKind
  /** The bodies that must be loaded before it runs, without those that its inner steps need. */
  readonly needs: Needs
}

/** One kind of step. It reads its plan once, when it is provisioned; nothing is parsed per request. */
export type Policy<Kind extends StepKind> = (plan: StepOf<Kind>, provision: Provision) => Run

/** An authorization question. `properties` are for decision points, tuples for the engine. */
export interface AccessRequest extends CheckRequest {
  readonly properties?: {
    readonly [Of in "subject" | "resource" | "action"]?: Readonly<Record<string, unknown>>
  }
}

/** The answer to a question. Answers of the engine have a revision; those of decision points may have a reason for operators. */
export interface AccessAnswer extends Omit<CheckAnswer, keyof Commit>, Partial<Commit> {
  readonly reason?: string | undefined
}

/** The exchange for which the question is asked. */
export type AskedFor = Pick<Exchange, "id" | "whenOver"> & Partial<Pick<Exchange, "trace" | "recording">>

/**
 * Answers authorization questions: the engine, whose stores have names, or a decision point. Rejects or throws CheckError or NoDecision when there is
 * no answer.
 */
export interface Authorizer {
  check(store: string, request: AccessRequest, asker: AskedFor): AccessAnswer | Promise<AccessAnswer>
  /** Asks several questions; the engine answers them at one revision. An error in one question is only that question's result. */
  batch(
    store: string,
    requests: readonly AccessRequest[],
    asker: AskedFor,
  ): AccessAnswers | Promise<AccessAnswers>
  /** Writes or deletes a tuple that fits the model; succeeds when it already exists or is already absent. Rejects when the result is not certain. */
  change(store: string, action: "write" | "delete", tuple: TupleKey): Promise<void>
  /** Each question needs a request, so several should be sent together. */
  readonly remote?: boolean
}

/** The answers of a batch, in the order of its questions. */
export interface AccessAnswers {
  readonly results: readonly (AccessAnswer | CheckError)[]
}

/** Makes the bytes of a body for one exchange; a slow template yields to the event loop. */
export type MakeBody = (exchange: Exchange) => Buffer | Promise<Buffer>

/** What policies need for C# and Liquid: `runtime/azure`, loaded with the first plan that uses either. */
export interface AzureWing {
  /** Compiles an expression of a policy document. The bodies it reads become needs of the step. The function throws CsharpError. */
  compileValue(expression: CsharpExpression, provision: Provision): (exchange: Exchange) => unknown
  /** The text of a value as .NET's `ToString()` writes it. */
  textOf(value: unknown): string
  /** Encodes a value as a body: bytes as they are, null as an empty body, anything else as its text. */
  bytesOf(value: unknown): Buffer
  /** Compiles a template. `of`: the message that it reads as `body`. */
  compileLiquid(
    template: { readonly liquid: string; readonly xsiNil?: "blank" | "null" | undefined },
    of: "request" | "response",
    provision: Provision,
  ): MakeBody
  /**
   * Converts an object of the C# library that may outlive its exchange to plain data; undefined for other values.
   * @throws CsharpError for an object that is too large
   */
  keep(value: unknown): object | undefined
  /**
   * The inverse of `keep`.
   * @throws CsharpError for data that `keep` did not write
   */
  restore(kept: object): unknown
}

/**
 * What a step may use, only while it is being provisioned. Every lookup is recorded: a step is reused for the next plan when everything it looked up
 * is the same there. A step must not keep the provision itself, because that would keep an old plan in memory. Names come from the validated plan: a
 * missing one is a bug and throws.
 */
export interface Provision {
  value(name: string): string
  secret(name: string): string
  verifier(issuer: string): TokenVerifier
  keys(): KeyTable
  /** Names of the products that contain an API. */
  productsOf(api: string): ReadonlySet<string>
  /** The open product that calls without a key belong to; undefined: a key is required. */
  openProductOf(api: string): string | undefined
  backend(name: string): BackendHandle
  /** A client certificate of the gateway. */
  certificate(name: string): ClientCertificate
  tokenClient(name: string): TokenSource
  introspection(name: string): OpaqueTokens
  oidcClient(name: string): OidcClient
  users(name: string): Passwords
  /** A schema of the plan, compiled. */
  schema(name: string): Validator
  environment(): Environment
  /** Undefined: the plan contains no C# or Liquid. */
  azure(): AzureWing | undefined
  limiter(): Limiter
  quotas(): QuotaCounters
  authorizer(): Authorizer
  /** A decision point, used instead of the engine. */
  decisionPoint(name: string): Authorizer
  /** Values that outlive the exchange and the plan. */
  cache(): Cache
  /** How much JSON a step may write from one value: the same limits as for reading. */
  jsonMost(): JsonSize
  /** The client for requests that the gateway itself makes. */
  http(): OutgoingHttp
  backendsByUrl(): BackendsByUrl
  traceLog(): TraceLog
  relationLog(): RelationLog
  mirrorLog(): MirrorLog
  meter(): Meter
  /** Declares that the step needs these bodies: the runner loads them first. */
  need(needs: Needs): void
  /** The needs that the step has declared so far. */
  readonly needed: Needs
  readonly clock: Clock
  /** A provisioned step of the plan, for steps that contain others. */
  step(id: StepId): ProvisionedStep
  /** The plan of a step. */
  plan(id: StepId): StepPlan
}
