import * as z from "zod"
import { mediaRange } from "./http-syntax.ts"
import { describedStatus, violationAction } from "./step-values.ts"
import { expression } from "./text.ts"
import { schemaName } from "./value-schema.ts"

/** How a field of a form is written where it is not as forms are: OpenAPI's Encoding Object. `media`: types and ranges of its part. */
const formField = z.strictObject({
  name: z.string().max(256),
  style: z.enum(["form", "spaceDelimited", "pipeDelimited", "deepObject"]),
  explode: z.boolean(),
  media: z.array(z.string().max(256)).max(20),
})

/**
 * What the media type of a message counts as when its body is judged: what the first rule that fits says, be it by what the message says or by a condition; else `missing` where it says
 * none, else `any`, else what it says.
 */
export const mediaMap = z.strictObject({
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

/** How bodies of one media type are judged. */
export const contentRule = z.strictObject({
  media: z.string().max(256),
  status: describedStatus.optional(),
  as: z.enum(["json", "xml", "soap", "form", "multipart", "text", "any"]),
  schema: schemaName.optional(),
  /** Names of properties count in any letter case; those of the schema are in lower case. */
  anyCase: z.literal(true).optional(),
  fields: z.array(formField).max(1000).optional(),
  action: violationAction,
})

export type ContentRule = z.infer<typeof contentRule>

export type MediaMap = z.infer<typeof mediaMap>
