import * as z from "zod"

/**
 * JSON Schema (draft 2020-12) in a plan: only the keywords that validate. `$ref` names a schema of the plan (`sha256:…`, `sha256:…#/$defs/0`) or one of
 * its own `$defs`.
 */
export type ValueSchema = boolean | { readonly [keyword: string]: unknown }

const schema: z.ZodType<ValueSchema> = z.lazy(() => z.union([z.boolean(), keywords]))
const schemas = z.array(schema).max(10_000)
const schemaMap = z.record(z.string(), schema)
const count = z.number().int().min(0)
const texts = z.array(z.string()).max(100_000)
const typeName = z.enum(["null", "boolean", "object", "array", "number", "string", "integer"])

/** The name of a schema in a plan. */
export const schemaName = z.string().regex(/^sha256:[0-9a-f]{64}(?:#\/\$defs\/(?:0|[1-9][0-9]{0,6}))?$/)

const keywords: z.ZodType<{ readonly [keyword: string]: unknown }> = z.strictObject({
  $ref: z.union([schemaName, z.string().regex(/^#\/\$defs\/(?:0|[1-9][0-9]{0,6})$/)]).optional(),
  $defs: schemaMap.optional(),
  type: z.union([typeName, z.array(typeName).min(1)]).optional(),
  enum: z.array(z.json()).optional(),
  const: z.json().optional(),
  multipleOf: z.number().positive().optional(),
  maximum: z.number().optional(),
  minimum: z.number().optional(),
  exclusiveMaximum: z.number().optional(),
  exclusiveMinimum: z.number().optional(),
  maxLength: count.optional(),
  minLength: count.optional(),
  pattern: z.string().max(16_384).optional(),
  format: z.string().max(256).optional(),
  maxItems: count.optional(),
  minItems: count.optional(),
  uniqueItems: z.boolean().optional(),
  maxContains: count.optional(),
  minContains: count.optional(),
  maxProperties: count.optional(),
  minProperties: count.optional(),
  required: texts.optional(),
  dependentRequired: z.record(z.string(), texts).optional(),
  allOf: schemas.optional(),
  anyOf: schemas.optional(),
  oneOf: schemas.optional(),
  prefixItems: schemas.optional(),
  not: schema.optional(),
  if: schema.optional(),
  // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema.
  then: schema.optional(),
  else: schema.optional(),
  items: schema.optional(),
  contains: schema.optional(),
  propertyNames: schema.optional(),
  additionalProperties: schema.optional(),
  unevaluatedItems: schema.optional(),
  unevaluatedProperties: schema.optional(),
  properties: schemaMap.optional(),
  patternProperties: schemaMap.optional(),
  dependentSchemas: schemaMap.optional(),
})

/** A schema of the plan's `schemas`. */
export const valueSchema = schema

/** Text formats that are validated. */
export const textFormats = [
  "date",
  "time",
  "date-time",
  "duration",
  "uri",
  "uri-reference",
  "uri-template",
  "email",
  "hostname",
  "ipv4",
  "ipv6",
  "uuid",
  "json-pointer",
  "relative-json-pointer",
] as const

/** Formats of OpenAPI's registry that are validated. Its `float`, `double`, `password` and `binary`, and unknown names, accept everything. */
export const registeredFormats = ["byte", "int32", "int64"] as const
