import type { DocumentObject, DocumentValue } from "../../api.ts"
import { listOf, nameOf, objectOf, wordOf } from "./document.ts"

/** Keywords that combine schemas, and the word between the types of their members. */
export const combinations = [
  ["oneOf", " or "],
  ["anyOf", " or "],
  ["allOf", " and "],
] as const

/** The type in a few words: `array of Order`, `string (date-time)`. */
export function typeText(schema: DocumentObject): string {
  const named = nameOf(schema)
  if (named !== undefined) return named
  const type = schema["type"]
  const words = Array.isArray(type) ? type.map(String).join(" or ") : wordOf(type)
  if (words === "array" && schema["items"] !== undefined && schema["items"] !== false)
    return `array of ${typeText(objectOf(schema["items"]))}`
  const format = wordOf(schema["format"])
  if (words !== undefined) return format === undefined ? words : `${words} (${format})`
  for (const [key, word] of combinations)
    if (listOf(schema[key]).length > 0)
      return listOf(schema[key])
        .map((each) => typeText(objectOf(each)))
        .join(word)
  if (schema["properties"] !== undefined) return "object"
  // The values say more than a type.
  return schema["const"] === undefined && schema["enum"] === undefined ? "any value" : ""
}

const limits = [
  ["minimum", "at least "],
  ["exclusiveMinimum", "more than "],
  ["maximum", "at most "],
  ["exclusiveMaximum", "less than "],
  ["multipleOf", "a multiple of "],
  ["pattern", "matches "],
] as const

const counts = [
  ["minLength", "maxLength", "character", "characters"],
  ["minItems", "maxItems", "item", "items"],
  ["minProperties", "maxProperties", "property", "properties"],
] as const

/** What a value must be, beyond its type: `at least 1`, `3–20 characters`. */
export function limitsOf(schema: DocumentObject): readonly string[] {
  const found = limits.flatMap(([name, words]) => {
    const value = schema[name]
    return typeof value === "number" || typeof value === "string" ? [`${words}${value}`] : []
  })
  const counted = counts.flatMap(([least, most, one, many]) => {
    const [range, last] = rangeOf(schema[least], schema[most])
    return range === undefined ? [] : [`${range} ${last === 1 ? one : many}`]
  })
  return [
    ...found,
    ...counted,
    ...(schema["uniqueItems"] === true ? ["no item twice"] : []),
    ...(schema["additionalProperties"] === false ? ["no other properties"] : []),
  ]
}

/** A range in words, and its last number; empty: any count is allowed. */
function rangeOf(
  least: DocumentValue | undefined,
  most: DocumentValue | undefined,
): readonly [text: string, last: number] | readonly [] {
  const from = typeof least === "number" ? least : 0
  if (typeof most !== "number") return from === 0 ? [] : [`at least ${from}`, from]
  if (from === most) return [`exactly ${most}`, most]
  return from === 0 ? [`at most ${most}`, most] : [`${from}–${most}`, most]
}
