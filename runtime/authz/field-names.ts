import { ApiError } from "./api-error.ts"

/** OpenFGA's JSON spells fields of several words in snake_case; it ignores any other spelling, and with it contextual tuples or the model that was meant. */
const names = [
  "authorization_model_id",
  "contextual_tuples",
  "continuation_token",
  "correlation_id",
  "directly_related_user_types",
  "generic_types",
  "on_duplicate",
  "on_missing",
  "page_size",
  "schema_version",
  "source_info",
  "start_time",
  "tuple_key",
  "tuple_keys",
  "type_definitions",
  "type_name",
  "user_filters",
]

const snakeOf = new Map(
  names.map((name) => [name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase()), name]),
)

/** A request with this header may spell its fields in camelCase. */
export const fieldNamesHeader = "sallyport-field-names"

/** Does the header's value ask for camelCase? @throws ApiError for a value it does not have. */
export function asksForCamelCase(value: string | readonly string[] | undefined): boolean {
  if (value === undefined) return false
  if (typeof value === "string" && value.toLowerCase() === "camelcase") return true
  throw new ApiError("validation_error", "the header `Sallyport-Field-Names`: expected `camelCase`")
}

/** What is said to a request that spells a field in camelCase without asking for that. */
export function misspelled(camel: string): ApiError {
  const snake = snakeOf.get(camel) ?? camel
  const help = `write \`${snake}\`, or send the header \`Sallyport-Field-Names: camelCase\``
  return new ApiError("validation_error", `unknown field \`${camel}\`: ${help}`)
}

/** The name in snake_case of a field or parameter that stands in camelCase; undefined for any other text. */
export function snakeName(name: string): string | undefined {
  return snakeOf.get(name)
}

/** Values of others, in which every name is theirs. */
const opaque: ReadonlySet<string> = new Set(["context", "properties"])
/** Objects whose names are somebody's, and whose values are ours. */
const named: ReadonlySet<string> = new Set(["relations", "conditions", "parameters"])

/** No field of ours stands deeper; a body may nest as deep as it is long. */
const depthMax = 32

/** The same JSON with our fields in snake_case. */
export function inSnakeCase(value: unknown, ownNames = true, depth = 0): unknown {
  if (typeof value !== "object" || value === null || depth > depthMax) return value
  if (Array.isArray(value)) return value.map((item) => inSnakeCase(item, true, depth + 1))
  return Object.fromEntries(
    Object.entries(value).map(([name, each]) => {
      if (!ownNames) return [name, inSnakeCase(each, true, depth + 1)]
      const inner = opaque.has(name) ? each : inSnakeCase(each, !named.has(name), depth + 1)
      return [snakeOf.get(name) ?? name, inner]
    }),
  )
}
