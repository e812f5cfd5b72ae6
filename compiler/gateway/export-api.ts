import type { Route } from "../../runtime/plan/resources.ts"
import type { Step, StepId, StepOf } from "../../runtime/plan/steps.ts"
import type { ApiDocument } from "../openapi/api-document.ts"
import type { ExportOperation, ExportParts, GatewayFacts } from "../openapi/export-document.ts"
import type { DescribedOperation } from "./described.ts"

/** What a plan serves, by keys of the routes; without routes that answer such documents themselves. */
export interface Served {
  readonly routes: Readonly<Record<string, Route>>
  readonly step: (id: StepId) => Step | undefined
}

/** Routes of one API in one version, with their keys. */
type Routes = readonly (readonly [string, Route])[]

const methods = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]

/** The versions of an API that a plan serves, null for one without versions; none where there is no such API. */
export function versionsOfApi({ routes }: Pick<Served, "routes">, api: string): (string | null)[] {
  const found = Object.values(routes).filter((route) => route.api === api)
  return [...new Set(found.map(({ version }) => version))]
}

/** What an exported document of an API is made of: its routes, what their documents say, and what the gateway asks and answers itself. */
export function exportParts(
  served: Served,
  described: ReadonlyMap<string, DescribedOperation>,
  api: string,
  version: string | null,
): ExportParts {
  const routes: Routes = Object.entries(served.routes).filter(
    ([, route]) => route.api === api && route.version === version,
  )
  const documents = [...new Set(routes.flatMap(([key]) => described.get(key)?.document ?? []))]
  const document = documents[0]
  const schemes = new Schemes(served)
  const operations = routes.flatMap(([key, route]) =>
    operationsOf(route, described.get(key), routes, schemes),
  )
  return {
    title: document?.title ?? api,
    release: document?.release || (version ?? "1"),
    description: document?.description,
    servers: [{ url: routes[0]?.[1].stripPrefix || "/" }],
    operations: inOrder(operations, document),
    securitySchemes: schemes.used(),
  }
}

function operationsOf(
  route: Route,
  described: DescribedOperation | undefined,
  routes: Routes,
  schemes: Schemes,
): ExportOperation[] {
  const facts = schemes.facts(route, described)
  if (described !== undefined)
    return [{ ...facts, operation: described.operation, document: described.document }]
  const path = route.operation.slice(route.operation.indexOf(" ") + 1).replace("*}", "}")
  const taken = routes.flatMap(([, other]) => (other.path === route.path ? [other.method] : []))
  const all = route.method === "*" ? methods.filter((method) => !taken.includes(method)) : [route.method]
  return all.map((method) => ({ ...facts, method, path, document: undefined }))
}

/** As their document has them; others behind, by path. */
function inOrder(
  operations: readonly ExportOperation[],
  document: ApiDocument | undefined,
): ExportOperation[] {
  const place = new Map(document?.operations.map((operation, index) => [operation, index]))
  const placeOf = (each: ExportOperation): number =>
    each.document === undefined ? Number.POSITIVE_INFINITY : (place.get(each.operation) ?? place.size)
  return [...operations].sort((a, b) => {
    const [first, second] = [placeOf(a), placeOf(b)]
    if (first !== second) return first < second ? -1 : 1
    return 0
  })
}

/** Security schemes of an API's routes, by what their steps ask for. */
class Schemes {
  readonly #served: Served
  readonly #used = new Map<string, object>()

  constructor(served: Served) {
    this.#served = served
  }

  used(): Record<string, object> {
    return Object.fromEntries([...this.#used].sort(([a], [b]) => (a < b ? -1 : 1)))
  }

  facts({ sections }: Route, described: DescribedOperation | undefined): GatewayFacts {
    const steps = sections.inbound.flatMap((id) => this.#served.step(id) ?? [])
    const security = described?.operation.security === undefined ? this.#security(steps) : undefined
    const kinds = new Set(steps.flatMap((step) => this.#kinds(step)))
    const problems = [
      ...(kinds.has("validate-content") || kinds.has("validate-parameters") ? [400] : []),
      ...(["validate-jwt", "validate-key", "introspect", "basic-auth"].some((kind) => kinds.has(kind))
        ? [401]
        : []),
      ...(["validate-jwt", "introspect", "require", "content-safety"].some((kind) => kinds.has(kind))
        ? [403]
        : []),
      ...(kinds.has("rate-limit") ? [429] : []),
    ]
    return {
      security,
      limits: steps.flatMap((step) => (step.kind === "rate-limit" ? limitOf(step) : [])),
      problems,
      deprecated: steps.some((step) => step.kind === "deprecation" && step.deprecated !== false),
    }
  }

  #kinds(step: Step): string[] {
    const inside = step.kind === "any-of" ? step.steps.flatMap((id) => this.#served.step(id) ?? []) : []
    return [step.kind, ...inside.map(({ kind }) => kind)]
  }

  /** Any of the ways callers may come in; none where everybody may. */
  #security(steps: readonly Step[]): string[][] {
    return steps.flatMap((step) => {
      const ways = step.kind === "any-of" ? step.steps.flatMap((id) => this.#served.step(id) ?? []) : [step]
      return ways.flatMap((way) => this.#scheme(way))
    })
  }

  #scheme(step: Step): string[][] {
    if (step.kind === "validate-jwt") {
      return step.issuers.map((issuer) => {
        const name = `jwt_${issuer}`
        this.#used.set(name, { type: "http", scheme: "bearer", bearerFormat: "JWT" })
        return [name]
      })
    }
    if (step.kind === "introspect" || step.kind === "basic-auth") {
      const [name, scheme] =
        step.kind === "introspect"
          ? [`token_${step.introspection}`, "bearer"]
          : [`basic_${step.users}`, "basic"]
      this.#used.set(name, { type: "http", scheme })
      return [[name]]
    }
    if (step.kind !== "validate-key") return []
    const names: string[][] = []
    for (const [place, key] of [
      ["header", step.header],
      ["query", step.query],
    ] as const) {
      if (key === null) continue
      const name = `subscription_${place}`
      this.#used.set(name, { type: "apiKey", in: place, name: key })
      names.push([name])
    }
    return names
  }
}

/** A limit of calls; one of tokens is none. */
function limitOf({ callsMax, periodSeconds, keys, increment }: StepOf<"rate-limit">): GatewayFacts["limits"] {
  if (typeof increment === "object" && "tokens" in increment) return []
  if (typeof callsMax !== "number" || typeof periodSeconds !== "number") return []
  const by = keys.map((key) => (key.by === "claim" ? `jwt.${key.claim}` : key.by)).join(" else ")
  return [{ calls: callsMax, periodSeconds, by }]
}
