import type { PlanBody } from "../../plan/plan.ts"
import type { Route } from "../../plan/resources.ts"
import type { ShownCredential } from "../../plan/step-values.ts"
import { isCredential, nestedSteps, type Step, shownTo } from "../../plan/steps.ts"
import type {
  ApiFacts,
  ClientCertificate,
  KeyPlaces,
  PlanFacts,
  ProductFacts,
} from "../../policies/exchange.ts"

/** The contents of a plan other than the steps of routes; computed on demand. */
export class FactsOfPlan implements PlanFacts {
  readonly #body: PlanBody
  readonly certificates: ReadonlyMap<string, ClientCertificate>
  readonly #keys = new WeakMap<Route, KeyPlaces>()
  #paths: ReadonlyMap<string, string> | undefined

  constructor(body: PlanBody, certificates: ReadonlyMap<string, ClientCertificate>) {
    this.#body = body
    this.certificates = certificates
  }

  /** A product for `context.Product` of documents. */
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

  /** Where a route reads its key: the place in the first step that needs one. */
  keyPlaces(route: Route): KeyPlaces {
    let found = this.#keys.get(route)
    if (found === undefined) {
      const { header, query } = this.#shownKey(route.sections.inbound)
      found = { header: header ?? undefined, query: query ?? undefined }
      this.#keys.set(route, found)
    }
    return found
  }

  /** Where clients send the key of an API: the first such step of its routes. */
  #shownKey(ids: readonly string[]): Partial<Extract<ShownCredential, { readonly is: "key" }>> {
    for (const id of ids) {
      const step: Step | undefined = this.#body.steps[id]
      if (step === undefined) continue
      const shown = isCredential(step) ? shownTo(step) : undefined
      if (shown?.is === "key") return shown
      const inside = this.#shownKey(nestedSteps(step).flatMap(({ steps }) => steps))
      if (inside.is === "key") return inside
    }
    return {}
  }

  #api(name: string): ApiFacts {
    if (this.#paths === undefined) {
      const routes = Object.values(this.#body.routes).reverse()
      this.#paths = new Map(routes.map(({ api, stripPrefix }) => [api, stripPrefix]))
    }
    return { id: name, name, path: `/${(this.#paths.get(name) ?? "").replace(/^\//, "")}` }
  }
}
