import type { ValueSchema } from "../plan/value-schema.ts"

/** The keyword that stands for a reference which is followed when a value comes to it, and not while compiling. */
export const deferredKeyword = "deferred"
/** The keyword that counts how often a schema is asked. */
export const countedKeyword = "counted"

const childKeywords = [
  "items",
  "contains",
  "propertyNames",
  "additionalProperties",
  "unevaluatedItems",
  "unevaluatedProperties",
]
const childMaps = ["properties", "patternProperties"]
const inPlace = ["not", "if", "then", "else"]
const inPlaceLists = ["allOf", "anyOf", "oneOf"]

/**
 * A schema of the plan as it is compiled. A reference for a part of the value is deferred: compiling follows references, and would compile all of a circle at once. One for
 * the same value stays, because what it has seen of the value counts for `unevaluatedProperties`; no circle is made of these alone.
 */
export function deferred(schema: ValueSchema, name: string): ValueSchema {
  if (typeof schema === "boolean") return schema
  const members = schema["$defs"] as Record<string, ValueSchema> | undefined
  const own = { ...within(schema, name), [countedKeyword]: true }
  if (members === undefined) return own
  const made = Object.entries(members).map(([key, each]) => [key, deferred(each, name)] as const)
  return { ...own, $defs: Object.fromEntries(made) }
}

type Keywords = { readonly [keyword: string]: unknown }

function within(schema: Keywords, name: string): Keywords {
  const made: Record<string, unknown> = { ...schema }
  const same = (each: ValueSchema): ValueSchema => (typeof each === "boolean" ? each : within(each, name))
  const child = (each: ValueSchema): ValueSchema => {
    if (typeof each === "boolean") return each
    const { $ref: reference } = each
    if (typeof reference !== "string" || Object.keys(each).length > 1) return within(each, name)
    return { [deferredKeyword]: reference.startsWith("#") ? `${name}${reference}` : reference }
  }
  for (const [keywords, change] of [
    [childKeywords, child],
    [inPlace, same],
  ] as const)
    for (const key of keywords) if (schema[key] !== undefined) made[key] = change(schema[key] as ValueSchema)
  for (const key of inPlaceLists)
    if (schema[key] !== undefined) made[key] = (schema[key] as ValueSchema[]).map(same)
  if (schema["prefixItems"] !== undefined)
    made["prefixItems"] = (schema["prefixItems"] as ValueSchema[]).map(child)
  for (const key of [...childMaps, "dependentSchemas"]) {
    if (schema[key] === undefined) continue
    const change = key === "dependentSchemas" ? same : child
    const entries = Object.entries(schema[key] as Record<string, ValueSchema>)
    made[key] = Object.fromEntries(entries.map(([property, each]) => [property, change(each)]))
  }
  return made
}
