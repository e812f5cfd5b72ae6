import * as z from "zod"
import { mediaRange } from "./http-syntax.ts"
import { describedStatus, violationAction } from "./step-values.ts"
import { expression } from "./text.ts"
import { schemaName } from "./value-schema.ts"

/** How a form field is encoded if it differs from the default: OpenAPI's Encoding Object. `media`: media types and ranges of its part. */
const formField = z.strictObject({
  name: z.string().max(256),
  style: z.enum(["form", "spaceDelimited", "pipeDelimited", "deepObject"]),
  explode: z.boolean(),
  media: z.array(z.string().max(256)).max(20),
})

/**
 * The media type by which a body is validated. The first rule that matches decides, by the declared media type or by a condition. Otherwise `missing`
 * applies if the message declares no type, then `any`, then the declared type.
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

/** How bodies of one media type are validated. */
export const contentRule = z.strictObject({
  media: z.string().max(256),
  status: describedStatus.optional(),
  as: z.enum(["json", "xml", "soap", "form", "multipart", "text", "any"]),
  schema: schemaName.optional(),
  /** Property names match in any letter case; those of the schema are in lower case. */
  anyCase: z.literal(true).optional(),
  fields: z.array(formField).max(1000).optional(),
  action: violationAction,
})

export type ContentRule = z.infer<typeof contentRule>

export type MediaMap = z.infer<typeof mediaMap>
