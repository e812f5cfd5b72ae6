import * as z from "zod"
import { defineStep } from "../define-step.ts"
import { headerName } from "../http-syntax.ts"
import { describedStatus, judging, variableName, violationAction } from "../step-values.ts"
import { schemaName } from "../value-schema.ts"

/** A response header as OpenAPI 3 describes it. `schema` validates its value, written in the style `simple` or as JSON. */
const headerRule = z.strictObject({
  name: headerName,
  required: z.boolean(),
  style: z.enum(["simple", "json"]),
  explode: z.boolean(),
  schema: schemaName.optional(),
  action: violationAction,
})

/**
 * Validates the response headers: `required` ones must be present, and no others are allowed (except those any response may have). `described` applies
 * to responses with this status: the exact status, then its class, then `default`. `named` replaces `unspecified` for headers of these names that are in
 * neither list.
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
