import * as z from "zod"
import { defineStep } from "../define-step.ts"
import { headerName } from "../http-syntax.ts"
import { describedStatus, judging, variableName, violationAction } from "../step-values.ts"
import { schemaName } from "../value-schema.ts"

/** A header field of an answer as OpenAPI 3 describes it: `schema` judges its value, written in the style `simple`, or as JSON. */
const headerRule = z.strictObject({
  name: headerName,
  required: z.boolean(),
  style: z.enum(["simple", "json"]),
  explode: z.boolean(),
  schema: schemaName.optional(),
  action: violationAction,
})

/**
 * Judges the response's header fields: those with `required` are there, and none is that is not among them (or one every answer may have). `described` holds for
 * answers with this status: the one that names it, else its class, else `default`. `named`: what is done, in place of `unspecified`, about fields of these names that are in neither list.
 */
export const validateHeaders = defineStep(
  "validate-headers",
  { role: "judge", rehearsed: "run" },
  {
    headers: z
      .array(
        z.strictObject({
          name: headerName,
          required: z.boolean(),
          action: violationAction,
        }),
      )
      .max(200),
    described: z
      .array(z.strictObject({ status: describedStatus, headers: z.array(headerRule).max(200) }))
      .max(200)
      .optional(),
    named: z
      .array(z.strictObject({ name: headerName, action: violationAction }))
      .max(200)
      .optional(),
    unspecified: violationAction,
    errors: variableName.optional(),
  },
  (step) => {
    const { headers, described = [], named = [], unspecified } = step
    const rules = [...headers, ...named, ...described.flatMap((each) => each.headers)]
    return judging(
      step,
      [unspecified, ...rules.map(({ action }) => action)],
      ["response.status", "response.header:*"],
    )
  },
)
