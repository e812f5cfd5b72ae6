import { stepReads } from "../../expression/step-reads.ts"
import type { PlanBody } from "../../plan/plan.ts"
import type { Route } from "../../plan/resources.ts"
import type { CredentialSource, ShownCredential } from "../../plan/step-values.ts"
import { isCredential, nestedSteps, type Step, shownTo } from "../../plan/steps.ts"
import type { Text, TextPart } from "../../plan/text.ts"
import type {
  ApiFacts,
  ClientCertificate,
  CredentialPlaces,
  KeyPlaces,
  PlanFacts,
  ProductFacts,
} from "../../policies/exchange.ts"

/** The contents of a plan other than the steps of routes; computed on demand. */
export class FactsOfPlan implements PlanFacts {
  readonly #body: PlanBody
  readonly certificates: ReadonlyMap<string, ClientCertificate>
  readonly #keys = new WeakMap<Route, KeyPlaces>()
  readonly #credentials = new WeakMap<Route, CredentialPlaces>()
  #paths: ReadonlyMap<string, string> | undefined
  #everyPlace: CredentialPlaces | undefined
  #headersRead: ReadonlySet<string> | undefined

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

  credentialPlaces(route: Route): CredentialPlaces {
    let found = this.#credentials.get(route)
    if (found === undefined) {
      const { inbound, backend } = route.sections
      found = credentialsIn([...this.#everyStep(inbound), ...this.#everyStep(backend)])
      this.#credentials.set(route, found)
    }
    return found
  }

  get headersRead(): ReadonlySet<string> {
    this.#headersRead ??= new Set(
      Object.values(this.#body.steps)
        .flatMap(stepReads)
        .flatMap((place) => /^(?:request|response)\.header:(.+)$/.exec(place)?.[1] ?? []),
    )
    return this.#headersRead
  }

  get everyCredentialPlace(): CredentialPlaces {
    this.#everyPlace ??= credentialsIn(Object.values(this.#body.steps))
    return this.#everyPlace
  }

  /** Steps with those inside of them. */
  *#everyStep(ids: readonly string[]): Iterable<Step> {
    for (const id of ids) {
      const step: Step | undefined = this.#body.steps[id]
      if (step === undefined) continue
      yield step
      for (const { steps } of nestedSteps(step)) yield* this.#everyStep(steps)
    }
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

/** Fields that have credentials whatever a route asks for. */
const credentialFields = ["authorization", "proxy-authorization", "cookie"]

function credentialsIn(steps: readonly Step[]): CredentialPlaces {
  const headers = new Set(credentialFields)
  const queries: string[] = []
  for (const step of steps) {
    const shown = isCredential(step) ? shownTo(step) : undefined
    if (shown?.is === "signature") headers.add(shown.header.toLowerCase())
    else if (shown?.is === "token") addPlace(shown.from, headers, queries)
    else if (shown?.is === "key") {
      if (shown.header !== null) headers.add(shown.header.toLowerCase())
      if (shown.query !== null) queries.push(shown.query)
    } else if (step.kind === "check-header") {
      if (step.values.some(hasSecret)) headers.add(step.name.toLowerCase())
    } else if ((step.kind === "set-header" || step.kind === "set-query") && typeof step.name === "string") {
      if (!step.values.some(hasSecret)) continue
      if (step.kind === "set-query") queries.push(step.name)
      else headers.add(step.name.toLowerCase())
    }
  }
  return { headers, queries }
}

function addPlace(from: CredentialSource, headers: Set<string>, queries: string[]): void {
  if ("header" in from) headers.add(from.header.toLowerCase())
  else if ("query" in from) queries.push(from.query)
}

function hasSecret(text: Text): boolean {
  if (typeof text === "string") return false
  return text.text.some((part) => typeof part !== "string" && ("secret" in part || isSigned(part)))
}

/** A signature by a secret is a credential. */
function isSigned(part: Exclude<TextPart, string>): boolean {
  return "expression" in part && part.expression.lang === "cel" && part.expression.secrets !== undefined
}
