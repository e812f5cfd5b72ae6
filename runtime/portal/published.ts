import { announcedEnd } from "../plan/lifecycle.ts"
import type { PlanBody } from "../plan/plan.ts"
import type { PortalPlan, PublishedVersionPlan } from "../plan/portal.ts"
import type { Product } from "../plan/resources.ts"
import type {
  ApiAnswer,
  ApisAnswer,
  Lifecycle,
  OfferedProduct,
  OperationAnswer,
  PublishedVersion,
} from "./api.ts"
import { type DocumentedOperation, PublishedDocument } from "./document.ts"
import { exampleRequest, exampleTexts } from "./examples.ts"

/** The part of a URL for an API without versions. */
const noVersion = "-"

/**
 * What a plan publishes. Everything comes from the `portal` of the plan; of the rest it reads only the products and the deprecations of published
 * versions. Documents are parsed when somebody asks for them.
 */
export class Published {
  readonly #portal: PortalPlan
  readonly #documents = new Map<PublishedVersionPlan, PublishedDocument>()
  readonly #gateway: string | null
  readonly #products: readonly OfferedProduct[]
  readonly #lifecycles: ReadonlyMap<string, Lifecycle>

  /** `gateway`: scheme and host for callers, if known. */
  constructor(plan: PlanBody, portal: PortalPlan, gateway: string | null) {
    this.#portal = portal
    this.#gateway = gateway
    this.#products = offeredProducts(plan, portal)
    this.#lifecycles = lifecyclesOf(plan, portal)
  }

  /** Products that people can subscribe to. */
  get products(): readonly OfferedProduct[] {
    return this.#products
  }

  list(): ApisAnswer {
    const names = [...new Set(this.#portal.apis.map(({ api }) => api))]
    return {
      apis: names.map((name) => ({
        name,
        versions: this.#portal.apis.filter(({ api }) => api === name).map((each) => this.#shown(each)),
        products: this.#products.flatMap((product) => (product.apis.includes(name) ? [product.name] : [])),
      })),
    }
  }

  /** Undefined: it is not published. */
  api(name: string, version: string): ApiAnswer | undefined {
    const found = this.#find(name, version)
    if (found === undefined) return undefined
    const list = this.#document(found).operations.map(({ operation: _, ...summary }) => summary)
    return { name, ...this.#shown(found), list }
  }

  /** The OpenAPI document with the address of the gateway; undefined: it is not published. */
  document(name: string, version: string): object | undefined {
    const found = this.#find(name, version)
    if (found === undefined) return undefined
    const servers = [{ url: (this.#gateway ?? "") + found.path || "/" }]
    return { ...this.#document(found).json, servers }
  }

  /** Undefined: it is not published. */
  operation(name: string, version: string, id: string): OperationAnswer | undefined {
    const found = this.#find(name, version)
    if (found === undefined) return undefined
    const document = this.#document(found)
    const operation = document.operations.find((each) => each.id === id)
    return operation === undefined ? undefined : this.#described(found, document, operation)
  }

  /** Whether an operation of this API and version may be named. */
  shows(api: string, version: string | null): boolean {
    return this.#portal.apis.some((each) => each.api === api && each.version === version)
  }

  #described(
    { api, version, path: prefix }: PublishedVersionPlan,
    document: PublishedDocument,
    found: DocumentedOperation,
  ): OperationAnswer {
    const { operation } = found
    const path = prefix + (found.template === "/" && prefix !== "" ? "" : found.template)
    const schemas = document.componentsOf(operation, "schemas")
    const securitySchemes = document.componentsOf(operation, "securitySchemes")
    const responses = document.componentsOf(operation, "responses")
    const request = exampleRequest({ method: found.method, path, operation, schemas, securitySchemes })
    const examples = exampleTexts(request, this.#gateway ?? "https://gateway.example")
    return { ...found, ...{ api, version, path, schemas, securitySchemes, responses, request, examples } }
  }

  #find(name: string, version: string): PublishedVersionPlan | undefined {
    return this.#portal.apis.find((each) => each.api === name && (each.version ?? noVersion) === version)
  }

  #document(version: PublishedVersionPlan): PublishedDocument {
    const known = this.#documents.get(version) ?? new PublishedDocument(version.document)
    this.#documents.set(version, known)
    return known
  }

  #shown(published: PublishedVersionPlan): PublishedVersion {
    const { title, description, operations } = this.#document(published)
    const { version, path } = published
    return {
      ...{ version, title, description, path, operations: operations.length },
      lifecycle: this.#lifecycles.get(keyOf(published)) ?? null,
    }
  }
}

function keyOf({ api, version }: { readonly api: string; readonly version: string | null }): string {
  return `${api} ${version ?? ""}`
}

/**
 * Products with a published API. A product that also opens APIs which are not published is offered only if an operator approves each subscription:
 * otherwise everybody who signs in could get a key for them.
 */
function offeredProducts({ products }: PlanBody, { apis }: PortalPlan): OfferedProduct[] {
  const published = new Set(apis.map(({ api }) => api))
  return Object.entries(products).flatMap(([name, product]) => {
    const shown = product.apis.filter((api) => published.has(api))
    if (product.unpublished === true || shown.length === 0) return []
    if (shown.length < product.apis.length && product.approval !== true) return []
    return [offered(name, product, shown)]
  })
}

function offered(name: string, product: Product, apis: readonly string[]): OfferedProduct {
  return {
    ...{ name, apis, approval: product.approval === true },
    price: product.price ?? null,
    subscriptionsPerOwner: product.subscriptionsPerOwner ?? null,
  }
}

/** The announced ends of published versions. A successor that is not published is not named. */
function lifecyclesOf({ routes, steps }: PlanBody, { apis }: PortalPlan): Map<string, Lifecycle> {
  const published = new Set(apis.map(keyOf))
  const found = new Map<string, Lifecycle>()
  for (const route of Object.values(routes)) {
    const key = keyOf(route)
    if (!published.has(key) || found.has(key)) continue
    const step = announcedEnd(route, steps)
    if (step === undefined) continue
    const next = apis.find(({ api, path }) => api === route.api && path === step.successor)
    found.set(key, {
      ...{ deprecated: step.deprecated, sunset: step.sunset ?? null, closes: step.closed },
      successor: next?.version ?? null,
    })
  }
  return found
}
