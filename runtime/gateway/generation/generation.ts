import type { Plan } from "../../plan/plan.ts"
import type { Route } from "../../plan/resources.ts"
import type { PlanFacts } from "../../policies/exchange.ts"
import type { ProvisionedStep } from "../../policies/policy.ts"
import type { IntakeRules } from "../exchange/intake.ts"
import type { ErrorFormat } from "../exchange/problem.ts"
import type { Hosted, HostRoutes } from "../routes/host-routes.ts"
import type { RouteViews } from "./bindings.ts"
import type { Held } from "./held.ts"

/** A route with its steps ready to run. */
export interface LiveRoute extends Hosted {
  /** `METHOD /pattern`, its key in the plan. */
  readonly key: string
  readonly plan: Route
  /** Of the backend it forwards to; undefined where it answers by itself. */
  readonly backendUrl: string | undefined
  /** How much of a path is not sent to the backend. */
  readonly stripLength: number
  readonly views: RouteViews
  /** Answers preflights, where the route has one. */
  readonly cors: ProvisionedStep | undefined
  readonly inbound: readonly ProvisionedStep[]
  readonly backend: readonly ProvisionedStep[]
  readonly outbound: readonly ProvisionedStep[]
  /** The first outbound step behind the one that keeps answers: where one that was kept goes on. */
  readonly afterStore: number
  readonly onError: readonly ProvisionedStep[]
  /**
   * Whether the body of the request is asked for when it has been sent, and so is kept: `always` where an outbound step reads it, and `small` where only steps of on-error do, who do not run for
   * most calls: one that may be held by its length.
   */
  readonly keepsBody: "always" | "small" | "never"
  /** Whether a step behind the backend looks into the body of the answer: then the backend is asked for all of it, whatever part the client wants. */
  readonly readsAnswer: boolean
}

/** What a generation is made of. */
export interface GenerationParts {
  readonly plan: Plan
  readonly values: ReadonlyMap<string, string>
  readonly routes: HostRoutes<LiveRoute>
  /** What runs where no route serves a request. */
  readonly onUnmatched: readonly ProvisionedStep[]
  readonly rules: IntakeRules
  readonly bodyBytesMax: number
  readonly bufferBytesMax: number
  readonly jsonValuesMax: number | undefined
  readonly errors: ErrorFormat
  readonly gatewayView: { readonly name: string; readonly state: string }
  readonly facts: PlanFacts
  /** Connections, verifiers and the like, held as long as a request may use them. */
  readonly resources: readonly Held<unknown>[]
}

/** One plan, ready to serve. Requests hold on to the generation they began with; its resources are released when the last one has ended. */
export class Generation {
  readonly plan: Plan
  readonly values: ReadonlyMap<string, string>
  readonly routes: HostRoutes<LiveRoute>
  readonly onUnmatched: readonly ProvisionedStep[]
  readonly rules: IntakeRules
  readonly bodyBytesMax: number
  /** Largest body that is read whole because a policy needs it. */
  readonly bufferBytesMax: number
  /** Values and names of a JSON body that are read. */
  readonly jsonValuesMax: number | undefined
  readonly errors: ErrorFormat
  readonly gatewayView: { readonly name: string; readonly state: string }
  readonly facts: PlanFacts
  readonly #resources: readonly Held<unknown>[]
  #running = 0
  #retired = false
  #released = false

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
    this.#resources = parts.resources
  }

  /** Requests that began here and have not ended. */
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

  /** No request will begin here any more. */
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
