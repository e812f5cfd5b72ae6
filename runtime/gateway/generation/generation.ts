import type { SecretKey } from "../../expression/secret-key.ts"
import type { Plan } from "../../plan/plan.ts"
import type { Route } from "../../plan/resources.ts"
import type { PlanFacts } from "../../policies/exchange.ts"
import type { ProvisionedStep } from "../../policies/policy.ts"
import type { Tracer } from "../../tracing/tracer.ts"
import type { IntakeRules } from "../exchange/intake.ts"
import type { ErrorFormat } from "../exchange/problem.ts"
import type { Hosted, HostRoutes } from "../routes/host-routes.ts"
import type { RouteViews } from "./bindings.ts"
import type { Held } from "./held.ts"
import type { OidcEndpoints } from "./oidc-clients.ts"
import type { Recorder } from "./recorder-of-plan.ts"

/** A route with its provisioned steps. */
export interface LiveRoute extends Hosted {
  /** `METHOD /pattern`, its key in the plan. */
  readonly key: string
  readonly plan: Route
  /** URL of the backend it forwards to; undefined when the route responds itself. */
  readonly backendUrl: string | undefined
  /** Length of the path prefix that is not sent to the backend. */
  readonly stripLength: number
  readonly views: RouteViews
  /** Responds to preflights, if the route has a `cors`. */
  readonly cors: ProvisionedStep | undefined
  readonly inbound: readonly ProvisionedStep[]
  readonly backend: readonly ProvisionedStep[]
  readonly outbound: readonly ProvisionedStep[]
  /** Index of the first outbound step after the one that stores responses; a cache hit continues there. */
  readonly afterStore: number
  readonly onError: readonly ProvisionedStep[]
  /**
   * Whether the request's body is kept after sending. `always`: an outbound step reads it. `small`: only on-error steps read it, which most calls do
   * not run; then it is kept only when its Content-Length fits the buffer.
   */
  readonly keepsBody: "always" | "small" | "never"
  /** Whether a step after the backend reads the response's body: then the backend is asked for the whole body, even when the client wants a range. */
  readonly readsAnswer: boolean
}

/** The parts of a generation. */
export interface GenerationParts {
  readonly plan: Plan
  readonly values: ReadonlyMap<string, string | SecretKey>
  readonly routes: HostRoutes<LiveRoute>
  /** The steps for requests without a route. */
  readonly onUnmatched: readonly ProvisionedStep[]
  readonly rules: IntakeRules
  readonly bodyBytesMax: number
  readonly bufferBytesMax: number
  readonly jsonValuesMax: number | undefined
  readonly errors: ErrorFormat
  readonly gatewayView: { readonly name: string; readonly state: string }
  readonly facts: PlanFacts
  /** The paths of OIDC clients; undefined: the plan has none. */
  readonly oidc: OidcEndpoints | undefined
  /** Undefined: requests are not traced. */
  readonly tracer: Tracer | undefined
  /** Undefined: requests are not recorded. */
  readonly recorder: Recorder | undefined
  /** Connections, verifiers and other resources, held while a request may use them. */
  readonly resources: readonly Held<unknown>[]
}

/** One plan, ready for use. Requests hold the generation in which they began; its resources are released after the last one. */
export class Generation {
  readonly plan: Plan
  readonly values: ReadonlyMap<string, string | SecretKey>
  readonly routes: HostRoutes<LiveRoute>
  readonly onUnmatched: readonly ProvisionedStep[]
  readonly rules: IntakeRules
  readonly bodyBytesMax: number
  /** Maximum size of a body that a policy reads whole. */
  readonly bufferBytesMax: number
  /** Maximum number of values and names in a JSON body. */
  readonly jsonValuesMax: number | undefined
  readonly errors: ErrorFormat
  readonly gatewayView: { readonly name: string; readonly state: string }
  readonly facts: PlanFacts
  readonly oidc: OidcEndpoints | undefined
  readonly tracer: Tracer | undefined
  readonly recorder: Recorder | undefined
  readonly #resources: readonly Held<unknown>[]
  #running = 0
  #retired = false
  #released = false

  /** A generation is complete when it is made: it never changes afterwards. */
  constructor(parts: GenerationParts) {
    this.plan = parts.plan
    this.values = parts.values
    this.routes = parts.routes
    this.onUnmatched = parts.onUnmatched
    this.rules = parts.rules
    this.bodyBytesMax = parts.bodyBytesMax
    this.bufferBytesMax = parts.bufferBytesMax
    this.jsonValuesMax = parts.jsonValuesMax
    this.errors = parts.errors
    this.gatewayView = parts.gatewayView
    this.facts = parts.facts
    this.oidc = parts.oidc
    this.tracer = parts.tracer
    this.recorder = parts.recorder
    this.#resources = parts.resources
  }

  /** Requests of this generation that have not ended. */
  get running(): number {
    return this.#running
  }

  enter(): void {
    this.#running += 1
  }

  leave(): void {
    this.#running -= 1
    this.#releaseWhenDone()
  }

  /** No more requests will begin here. */
  retire(): void {
    this.#retired = true
    this.#releaseWhenDone()
  }

  #releaseWhenDone(): void {
    if (!this.#retired || this.#running > 0 || this.#released) return
    this.#released = true
    for (const resource of this.#resources) resource.release()
  }
}
