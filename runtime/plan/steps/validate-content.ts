import * as z from "zod"
import { defineStep } from "../define-step.ts"
import { describedStatus, judging, namedSchemas, violationAction } from "../judging.ts"
import { mediaRange } from "../media-range.ts"
import { bodyRead } from "../places.ts"
import { count, message, variableName } from "../step-values.ts"
import { expression } from "../text.ts"
import { schemaName } from "../value-schema.ts"

/** How a field of a form is written where it is not as forms are: OpenAPI's Encoding Object. `media`: types and ranges of its part. */
const formField = z.strictObject({
  name: z.string().max(256),
  style: z.enum(["form", "spaceDelimited", "pipeDelimited", "deepObject"]),
  explode: z.boolean(),
  media: z.array(z.string().max(256)).max(20),
})

/** What happens on a violation, known when the plan is made or found per request. */
const violationOrFound = z.union([violationAction, z.strictObject({ expression })])

/**
 * What the media type of a message counts as when its body is judged: what the first rule that fits says, be it by what the message says or by a condition; else `missing` where it says
 * none, else `any`, else what it says.
 */
const mediaMap = z.strictObject({
  rules: z
    .array(
      z.union([
        z.strictObject({ from: mediaRange, to: mediaRange }),
        z.strictObject({ when: expression, to: mediaRange }),
      ]),
    )
    .max(100),
  missing: mediaRange.optional(),
  any: mediaRange.optional(),
})

/**
 * Judges a body by media type, size and schema. `schemas` names a JSON Schema of the plan (`schemas`), compiled once. `*` in `types` is what no other names.
 * All errors, with JSON pointers, go to the variable `errors`. `as` says what the schema is given: a value, a form as an object, the whole as one text; `any` is not looked at, of `xml` and
 * `soap` the form is.
 */
export const validateContent = defineStep(
  "validate-content",
  { role: "judge", rehearsed: "run" },
  {
    message,
    bytesMax: count,
    onSize: violationOrFound,
    onUnspecified: violationOrFound,
    /** There must be a body. */
    onMissing: violationAction.optional(),
    mediaMap: mediaMap.optional(),
    /** A response's schemas may differ by status: `2xx`, `404`, `default`; absent: any. */
    types: z
      .array(
        z.strictObject({
          media: z.string().max(256),
          status: describedStatus.optional(),
          as: z.enum(["json", "xml", "soap", "form", "multipart", "text", "any"]),
          schema: schemaName.optional(),
          /** Names of properties count in any letter case; those of the schema are in lower case. */
          anyCase: z.literal(true).optional(),
          fields: z.array(formField).max(1000).optional(),
          action: violationAction,
        }),
      )
      .max(100),
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
