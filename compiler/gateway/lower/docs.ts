import { utf8Length } from "#platform"
import type { StepOf } from "../../../runtime/plan/steps.ts"
import type { Report } from "../../core/diagnostic.ts"
import type { OpenapiCompiler } from "../../openapi/wing.ts"
import { isStatic, type RoutePath } from "../bind/path.ts"
import { type DescribedOperation, neededOpenapi } from "../described.ts"
import { exportParts, type Served } from "../export-api.ts"
import type { RouteSource } from "../routes.ts"
import type { LoweredRoute } from "./route.ts"
import { idsOf, type Lowered, type PlanSteps } from "./step.ts"

/** Limits the size of a document, because every process holds it in memory and every plan contains it. */
const documentBytesMax = 4 * 1024 * 1024

const forms = {
  json: { format: "json", media: "application/json" },
  yaml: { format: "yaml", media: "application/yaml" },
  yml: { format: "yaml", media: "application/yaml" },
} as const

/**
 * Adds the last step of `docs` routes: a response with the document of their API. The document is complete only after all routes are
 * lowered.
 */
export function addDocuments(
  routes: ReadonlyMap<RouteSource, LoweredRoute>,
  described: ReadonlyMap<string, DescribedOperation>,
  steps: PlanSteps,
  errors: Served["errors"],
  openapi: OpenapiCompiler | undefined,
  report: Report,
): ReadonlyMap<RouteSource, LoweredRoute> {
  if (![...routes.keys()].some(({ documentation }) => documentation)) return routes
  const known = [...routes].flatMap(([source, { route }]) =>
    source.documentation ? [] : [[source.key, route] as const],
  )
  const served: Served = { routes: Object.fromEntries(known), step: (id) => steps.get(id), errors }
  // One statement serves all versions, so a mistake in it is reported once.
  const reported = new Set<RouteSource["operation"]>()
  return new Map(
    [...routes].map(([source, lowered]) => {
      if (!source.documentation) return [source, lowered]
      const answer = answerOf(source, served, described, neededOpenapi(openapi))
      if ("kind" in answer) return [source, behind(lowered, steps.add(answer, source.span))]
      if (!reported.has(source.operation)) report.add("SP8017", source.span, answer.detail, answer)
      reported.add(source.operation)
      return [source, lowered]
    }),
  )
}

/** The response with the document, or why it cannot exist. The ending of the path decides between JSON and YAML. */
function answerOf(
  { operation, operationName, api, versionName }: RouteSource,
  served: Served,
  described: ReadonlyMap<string, DescribedOperation>,
  { exportDocument, printDocument }: OpenapiCompiler,
): StepOf<"respond"> | { readonly detail: string; readonly help?: string } {
  const segments = operation.args.value<RoutePath>("path")?.segments ?? []
  if (!segments.every(isStatic)) return { detail: "the path of a document cannot have parameters" }
  const ending = /\.(json|yaml|yml)$/.exec(operationName)?.[1] as keyof typeof forms | undefined
  if (ending === undefined) return { detail: "the path does not end in `.json`, `.yaml` or `.yml`" }
  const { format, media } = forms[ending]
  const text = printDocument(exportDocument(exportParts(served, described, api.name, versionName)), format)
  const bytes = utf8Length(text)
  if (bytes > documentBytesMax)
    return {
      detail: `the document has ${bytes} bytes; the maximum in a plan is ${documentBytesMax}`,
      help: "Describe fewer operations in one API, or let the backend serve the document.",
    }
  return { kind: "respond", status: 200, headers: [], media, body: { text }, documentation: true }
}

/** The step runs last: all checks of the route come before the response. */
function behind(lowered: LoweredRoute, step: Lowered): LoweredRoute {
  const inbound = [...lowered.inbound, step]
  const { route } = lowered
  return {
    ...lowered,
    inbound,
    route: { ...route, sections: { ...route.sections, inbound: idsOf(inbound) } },
  }
}
