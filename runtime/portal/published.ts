import type { PlanBody } from "../plan/plan.ts"
import type { PortalPlan, PublishedVersionPlan } from "../plan/portal.ts"
import type { Product } from "../plan/resources.ts"
import type {
  AnnouncedEnd,
  ApiAnswer,
  ApisAnswer,
  Lifecycle,
  OfferedProduct,
  OperationAnswer,
  PublishedVersion,
} from "./api.ts"
import { type DocumentedOperation, PublishedDocument } from "./document.ts"
import { exampleRequest, exampleTexts } from "./examples.ts"
import { announcedEnds, lifecyclesOf, versionKey } from "./lifecycles.ts"

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
  readonly #origins: ReadonlyMap<string, string>

  /** `gateway`: scheme and host for callers, if known. */
  constructor(plan: PlanBody, portal: PortalPlan, gateway: string | null) {
    this.#portal = portal
    this.#gateway = gateway
    this.#products = offeredProducts(plan, portal)
    this.#lifecycles = lifecyclesOf(plan, portal.apis)
    this.#origins = originsOf(plan, portal, gateway)
  }

  /** Products that people can subscribe to. */
  get products(): readonly OfferedProduct[] {
    return this.#products
  }

  /** What ends, the earliest first. */
  get ends(): readonly AnnouncedEnd[] {
    return announcedEnds(this.#lifecycles, this.#portal.apis)
  }

  /** Scheme and host of every published version, each once. */
  get origins(): readonly string[] {
    const all = this.#portal.apis.flatMap((each) => this.#originOf(each) ?? [])
    return [...new Set(all)]
  }

  #originOf(version: PublishedVersionPlan): string | null {
    return this.#origins.get(versionKey(version)) ?? this.#gateway
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
    const servers = [{ url: (this.#originOf(found) ?? "") + found.path || "/" }]
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
    published: PublishedVersionPlan,
    document: PublishedDocument,
    found: DocumentedOperation,
  ): OperationAnswer {
    const { operation } = found
    const { api, version, path: prefix } = published
    const gateway = this.#originOf(published)
    const path = prefix + (found.template === "/" && prefix !== "" ? "" : found.template)
    const schemas = document.componentsOf(operation, "schemas")
    const securitySchemes = document.componentsOf(operation, "securitySchemes")
    const responses = document.componentsOf(operation, "responses")
    const request = exampleRequest({ method: found.method, path, operation, schemas, securitySchemes })
    const examples = exampleTexts(request, gateway ?? "https://gateway.example")
    const components = { schemas, securitySchemes, responses }
    return { ...found, ...{ api, version, path, ...components, gateway, request, examples } }
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
      lifecycle: this.#lifecycles.get(versionKey(published)) ?? null,
    }
  }
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

/** Scheme and host of versions with a `host` of their own: those of the gateway with another name. A host with `*` names no address. */
function originsOf(
  { routes }: PlanBody,
  { apis }: PortalPlan,
  gateway: string | null,
): ReadonlyMap<string, string> {
  const published = new Set(apis.map(versionKey))
  const found = new Map<string, string>()
  for (const route of Object.values(routes)) {
    const key = versionKey(route)
    const host = route.hosts?.find((each) => !each.includes("*"))
    if (host === undefined || !published.has(key) || found.has(key)) continue
    const url = new URL(gateway ?? "https://gateway.example")
    url.hostname = host
    found.set(key, url.origin)
  }
  return found
}
