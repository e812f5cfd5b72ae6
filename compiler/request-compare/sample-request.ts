import type { ClientRequest, FieldLine } from "../../runtime/gateway/in-process/world.ts"
import type { PlanBody } from "../../runtime/plan/plan.ts"
import { type SegmentTemplate, segmentTemplate } from "../../runtime/plan/segment-template.ts"
import type { Step } from "../../runtime/plan/steps.ts"
import type { ValueSchema } from "../../runtime/plan/value-schema.ts"
import { sampleBy } from "../openapi/sample.ts"
import { stepsOfRoute } from "./route-part.ts"

/** Steps that validate parameters, and those that validate bodies. */
type ParameterStep = Extract<Step, { readonly unspecified: unknown; readonly parameters: unknown }>
type ContentStep = Extract<Step, { readonly types: unknown; readonly onUnspecified: unknown }>
type Parameter = ParameterStep["parameters"][number]

/** The value of a parameter without a schema. */
const anyValue = "1"

/**
 * A request that matches a route and, as far as schemas tell it, passes the validation of its parameters and its body. Values with a `pattern` may
 * not pass.
 */
export function sampleRequest(body: PlanBody, key: string): ClientRequest | undefined {
  const route = body.routes[key]
  if (route === undefined) return undefined
  const steps = [...stepsOfRoute(body, key).values()]
  const parameters = steps.flatMap((step) =>
    "unspecified" in step && "parameters" in step ? step.parameters : [],
  )
  const sampleValue = ({ schema }: Pick<Parameter, "schema">): string =>
    schema === undefined ? anyValue : textOf(sampleOfPlan(body, schema))
  const inPath = new Map(
    parameters.filter(({ in: place }) => place === "path").map((each) => [each.name, sampleValue(each)]),
  )
  const required = parameters.filter((each) => each.required && each.in !== "path")
  const query = required
    .filter(({ in: place }) => place === "query")
    .map((each) => `${encodeURIComponent(each.name)}=${encodeURIComponent(sampleValue(each))}`)
  const headers: FieldLine[] = required
    .filter(({ in: place }) => place === "header")
    .map((each) => [each.name, sampleValue(each)])
  const [host] = route.hosts ?? []
  if (host !== undefined) headers.push(["host", host.replace(/^\*/, "any")])
  const content = contentOf(body, steps.find(isRequestContent))
  if (content !== undefined) headers.push(["content-type", content.media])
  return {
    method: route.method === "*" ? "GET" : route.method,
    target: `${pathOf(route.path, inPath)}${query.length === 0 ? "" : `?${query.join("&")}`}`,
    headers,
    body: content?.bytes,
  }
}

function isRequestContent(step: Step): step is ContentStep {
  return "types" in step && "message" in step && step.message === "request"
}

function pathOf(path: string, values: ReadonlyMap<string, string>): string {
  return path
    .split("/")
    .map((segment) => {
      const template = segmentTemplate(segment)
      return template === undefined ? segment : segmentOf(template, values)
    })
    .join("/")
}

function segmentOf({ literals, names }: SegmentTemplate, values: ReadonlyMap<string, string>): string {
  const [first = "", ...rest] = literals
  return rest.reduce(
    (text, literal, at) => text + encodeURIComponent(values.get(names[at] ?? "") ?? anyValue) + literal,
    first,
  )
}

/** A body for the first media type that JSON Schema describes. */
function contentOf(body: PlanBody, step: ContentStep | undefined) {
  const rule = step?.types.find(({ as, schema }) => as === "json" && schema !== undefined)
  if (rule?.schema === undefined) return undefined
  const media = rule.media.includes("*") ? "application/json" : rule.media
  return { media, bytes: Buffer.from(JSON.stringify(sampleOfPlan(body, rule.schema))) }
}

function textOf(value: unknown): string {
  return typeof value === "object" ? JSON.stringify(value) : String(value)
}

/** Names of schemas in a plan are digests, with the place of an inner one; inside a schema, the digest is left out. */
function sampleOfPlan({ schemas }: PlanBody, name: string): unknown {
  let within = name
  return sampleBy((reference) => {
    const [digest = "", place] = reference.split("#/$defs/")
    if (digest !== "") within = digest
    const whole = schemas[within]
    if (place === undefined || typeof whole !== "object") return whole
    return (whole["$defs"] as Readonly<Record<string, ValueSchema>> | undefined)?.[place]
  }, name)
}
