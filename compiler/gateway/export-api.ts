import type { Route } from "../../runtime/plan/resources.ts"
import type { Step, StepId } from "../../runtime/plan/steps.ts"
import type { ApiDocument } from "../openapi/api-document.ts"
import type { ExportOperation, ExportParts } from "../openapi/export-document.ts"
import type { DescribedOperation } from "./described.ts"
import { ExportFacts } from "./export-facts.ts"

/** The routes of a plan by key, without routes that serve API documents. `errors`: the format of the gateway's error responses. */
export interface Served {
  readonly errors: "problem" | "apim"
  readonly routes: Readonly<Record<string, Route>>
  readonly step: (id: StepId) => Step | undefined
}

/** Routes of one API in one version, with their keys. */
type Routes = readonly (readonly [string, Route])[]

const methods = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]

/** The versions of an API in a plan; null for an API without versions. Empty if there is no such API. */
export function versionsOfApi({ routes }: Pick<Served, "routes">, api: string): (string | null)[] {
  const found = Object.values(routes).filter((route) => route.api === api)
  return [...new Set(found.map(({ version }) => version))]
}

/** The parts of an exported API document: the routes, their descriptions, and what the gateway itself demands and responds. */
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
  const schemes = new ExportFacts(served.step, served.errors)
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

/**
 * The operations of one route. OpenAPI has no operation for every method, so `ANY` becomes one for each method that no other route takes.
 */
function operationsOf(
  route: Route,
  described: DescribedOperation | undefined,
  routes: Routes,
  schemes: ExportFacts,
): ExportOperation[] {
  const facts = schemes.facts(route, described)
  if (described !== undefined)
    return [{ ...facts, operation: described.operation, document: described.document }]
  const path = route.operation.slice(route.operation.indexOf(" ") + 1).replace("*}", "}")
  const taken = routes.flatMap(([, other]) => (other.path === route.path ? [other.method] : []))
  const all = route.method === "*" ? methods.filter((method) => !taken.includes(method)) : [route.method]
  return all.map((method) => ({ ...facts, method, path, document: undefined }))
}

/** Operations in the order of their document, then the others by path. */
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
