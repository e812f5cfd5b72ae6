import * as z from "zod"
import { defineStep } from "../define-step.ts"
import { headerOf, type Place } from "../places.ts"
import { judging, namedSchemas, variableName, violationAction } from "../step-values.ts"
import { schemaName } from "../value-schema.ts"

/**
 * One parameter of an operation as OpenAPI 3 describes it. `schema` names a JSON Schema of the plan. With `allowEmpty` the schema is not applied to an
 * empty value (`?name=`), which counts as present.
 */
const parameterRule = z.strictObject({
  in: z.enum(["path", "query", "header", "cookie"]),
  name: z.string().min(1).max(256),
  required: z.boolean(),
  style: z.enum([
    "simple",
    "form",
    "spaceDelimited",
    "pipeDelimited",
    "deepObject",
    "label",
    "matrix",
    "json",
  ]),
  explode: z.boolean(),
  allowEmpty: z.literal(true).optional(),
  schema: schemaName.optional(),
  action: violationAction,
})

type Parameter = Pick<z.infer<typeof parameterRule>, "in" | "name">

function parameterPlace({ in: place, name }: Parameter): Place[] {
  if (place === "query") return ["request.query:*"]
  if (place === "path") return []
  return [headerOf("request", place === "cookie" ? "cookie" : name)]
}

/**
 * Validates path, query, header and cookie parameters. `unspecified` applies to parameters without a rule, `named` to some of them by name (headers in
 * lower case). `withBody`: the next step, a `validate-content` of the request, reports the violations, in one response with those of the body.
 */
export const validateParameters = defineStep(
  "validate-parameters",
  { role: "judge", rehearsed: "run" },
  {
    parameters: z.array(parameterRule).max(5000),
    unspecified: z.strictObject({
      query: violationAction,
      header: violationAction,
      named: z
        .array(
          z.strictObject({
            in: z.enum(["query", "header"]),
            name: z.string().min(1).max(256),
            action: violationAction,
          }),
        )
        .max(5000)
        .optional(),
    }),
    errors: variableName.optional(),
    withBody: z.literal(true).optional(),
  },
  (step) => {
    const { parameters, unspecified, withBody } = step
    const named = unspecified.named ?? []
    const actions = [
      unspecified.query,
      unspecified.header,
      ...[...parameters, ...named].map(({ action }) => action),
    ]
    const facts = {
      statuses: actions.includes("prevent") ? [400] : [],
      names: namedSchemas(parameters),
      ...judging(step, actions, [
        ...[...parameters, ...named].flatMap(parameterPlace),
        ...(unspecified.query === "ignore" ? [] : (["request.query:*"] as const)),
        ...(unspecified.header === "ignore" ? [] : (["request.header:*"] as const)),
      ]),
    }
    return withBody === true ? { ...facts, writes: [...(facts.writes ?? []), "faults"] } : facts
  },
)
