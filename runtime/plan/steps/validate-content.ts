import * as z from "zod"
import { contentRule, mediaMap } from "../content-rules.ts"
import { defineStep } from "../define-step.ts"
import { bodyRead } from "../places.ts"
import { count, judging, message, namedSchemas, variableName, violationAction } from "../step-values.ts"
import { expression } from "../text.ts"

/** What happens on a violation: constant, or computed per request. */
const violationOrFound = z.union([violationAction, z.strictObject({ expression })])

/**
 * Validates a body by media type, size and schema. `schemas` names a JSON Schema of the plan, compiled once. `*` in `types` matches media types without
 * a rule. All errors, with JSON pointers, go to the variable `errors`. `as` selects what the schema validates: a value, a form as an object, or the
 * whole as one text. `any` is not validated; `xml` and `soap` must be well-formed.
 */
export const validateContent = defineStep(
  "validate-content",
  { role: "judge", rehearsed: "run" },
  {
    message,
    bytesMax: count,
    onSize: violationOrFound,
    onUnspecified: violationOrFound,
    /** The body is required. */
    onMissing: violationAction.optional(),
    mediaMap: mediaMap.optional(),
    /** A response's schemas can differ by status: `2xx`, `404`, `default`; absent: any. */
    types: z.array(contentRule).max(100),
    errors: variableName.optional(),
  },
  (step) => {
    const { message, types, onSize, onUnspecified, onMissing } = step
    const actions = [onSize, onUnspecified, onMissing, ...types.map(({ action }) => action)]
    const facts = {
      statuses: message === "request" && actions.includes("prevent") ? [400] : [],
      names: namedSchemas(types),
      ...judging(step, actions, [
        ...bodyRead(message),
        ...(message === "response" ? (["response.status"] as const) : []),
      ]),
    }
    if (message === "response") return { ...facts, ends: [...(facts.ends ?? []), "fail"] }
    return {
      ...facts,
      reads: [...(facts.reads ?? []), "faults"],
      writes: [...(facts.writes ?? []), "faults"],
      ends: [...(facts.ends ?? []), "fail"],
    }
  },
)
