import * as z from "zod"
import { defineStep } from "../define-step.ts"
import { bodyRead } from "../places.ts"
import { judging, variableName, violationAction } from "../step-values.ts"

/**
 * Judges the GraphQL queries of a request (GraphQL over HTTP): those of a JSON body, alone or in a batch, of a body `application/graphql`, and of the URL.
 * `depthMax`: levels of fields; `fieldsMax`: fields of an operation, with those of fragments wherever they are used. Absent: any number. `introspection`:
 * whether a query may read the schema (`__schema`, `__type`). A request without a query that can be read violates every rule.
 */
export const validateGraphql = defineStep(
  "validate-graphql",
  { role: "judge", rehearsed: "run" },
  {
    depthMax: z.number().int().min(1).max(1000).optional(),
    fieldsMax: z.number().int().min(1).max(100_000).optional(),
    introspection: z.enum(["allow", "deny"]),
    action: violationAction,
    errors: variableName.optional(),
  },
  (step) => ({
    ...judging(step, [step.action], [...bodyRead("request"), "request.query:query"]),
    statuses: step.action === "prevent" ? [400] : [],
  }),
)
