import { nestedSteps } from "../../plan/nested-steps.ts"
import type { PlanBody } from "../../plan/plan.ts"
import type { Route } from "../../plan/resources.ts"
import type { Step, StepOf } from "../../plan/steps.ts"
import type {
  ApiFacts,
  ClientCertificate,
  KeyPlaces,
  PlanFacts,
  ProductFacts,
} from "../../policies/exchange.ts"

/** What a plan says besides the steps of a route; looked up when somebody asks. */
export class FactsOfPlan implements PlanFacts {
  readonly #body: PlanBody
  readonly certificates: ReadonlyMap<string, ClientCertificate>
  readonly #keys = new WeakMap<Route, KeyPlaces>()
  #paths: ReadonlyMap<string, string> | undefined

  constructor(body: PlanBody, certificates: ReadonlyMap<string, ClientCertificate>) {
    this.#body = body
    this.certificates = certificates
  }

  product(name: string): ProductFacts | undefined {
    const found = Object.hasOwn(this.#body.products, name) ? this.#body.products[name] : undefined
    if (found === undefined) return undefined
    const { apis, unpublished, open, approval, subscriptionsPerOwner } = found
    return {
      published: unpublished !== true,
      approvalRequired: approval === true,
      subscriptionRequired: open !== true,
      subscriptionLimit: subscriptionsPerOwner,
      apis: apis.map((api) => this.#api(api)),
    }
  }

  /** Where a route takes its key from: of the first step that asks for one. */
  keyPlaces(route: Route): KeyPlaces {
    let found = this.#keys.get(route)
    if (found === undefined) {
      const step = this.#keyStep(route.sections.inbound)
      found = { header: step?.header ?? undefined, query: step?.query ?? undefined }
      this.#keys.set(route, found)
    }
    return found
  }

  #keyStep(ids: readonly string[]): StepOf<"validate-key"> | undefined {
    for (const id of ids) {
      const step: Step | undefined = this.#body.steps[id]
      if (step?.kind === "validate-key") return step
      const nested = step === undefined ? [] : nestedSteps(step).flatMap(({ steps }) => steps)
      const inside = nested.length === 0 ? undefined : this.#keyStep(nested)
      if (inside !== undefined) return inside
    }
    return undefined
  }

  #api(name: string): ApiFacts {
    if (this.#paths === undefined) {
      const routes = Object.values(this.#body.routes).reverse()
      this.#paths = new Map(routes.map(({ api, stripPrefix }) => [api, stripPrefix]))
    }
    return { id: name, name, path: `/${(this.#paths.get(name) ?? "").replace(/^\//, "")}` }
  }
}
