import { ApiError } from "./api-error.ts"

/**
 * OpenFGA's JSON spells multi-word fields in snake_case. It ignores any other spelling, and so silently drops contextual tuples or the
 * model.
 */
const names = [
  "authorization_model",
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

/**
 * Whether the header's value requests camelCase.
 * @throws ApiError for an unknown value
 */
export function asksForCamelCase(value: string | readonly string[] | undefined): boolean {
  if (value === undefined) return false
  if (typeof value === "string" && value.toLowerCase() === "camelcase") return true
  throw new ApiError("validation_error", "the header `Sallyport-Field-Names`: expected `camelCase`")
}

/** The error for a camelCase field in a request that did not ask for camelCase. */
export function misspelled(camel: string): ApiError {
  const snake = snakeOf.get(camel) ?? camel
  const help = `write \`${snake}\`, or send the header \`Sallyport-Field-Names: camelCase\``
  return new ApiError("validation_error", `unknown field \`${camel}\`: ${help}`)
}

/** The snake_case name of a camelCase field or parameter; undefined for any other text. */
export function snakeName(name: string): string | undefined {
  return snakeOf.get(name)
}

/** Values whose names all belong to the user. */
const opaque: ReadonlySet<string> = new Set(["context", "properties"])
/** Objects with names of the user and values of this API. */
const named: ReadonlySet<string> = new Set(["relations", "conditions", "parameters"])

/** No field of ours is deeper. A body may be nested as deeply as its length allows. */
const depthMax = 32

/** The same JSON with the API's fields in snake_case. */
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
