import type { ValueSchema } from "../plan/value-schema.ts"

/** The keyword of a deferred reference, which is resolved during validation and not while compiling. */
export const deferredKeyword = "deferred"
/** The keyword that counts the calls of a schema. */
export const countedKeyword = "counted"

/** Keywords whose schema applies to a part of the value. */
export const childKeywords = [
  "items",
  "contains",
  "propertyNames",
  "additionalProperties",
  "unevaluatedItems",
  "unevaluatedProperties",
]
const childMaps = ["properties", "patternProperties"]
/** Keywords whose schemas apply to the value itself: one schema, or a list. */
export const inPlace = ["not", "if", "then", "else"]
export const inPlaceLists = ["allOf", "anyOf", "oneOf"] as const

/**
 * The form of a plan's schema for compilation. A reference for a part of the value is deferred: the compiler follows references, and would compile a
 * whole cycle at once. A reference for the same value stays, because `unevaluatedProperties` needs its annotations; these references alone never form a
 * cycle. Yields from time to time.
 */
export function* deferred(schema: ValueSchema, name: string): Generator<undefined, ValueSchema> {
  if (typeof schema === "boolean") return schema
  const members = schema["$defs"] as Record<string, ValueSchema> | undefined
  const own = { ...(yield* new Deferring(name).within(schema)), [countedKeyword]: true }
  if (members === undefined) return own
  const made: [string, ValueSchema][] = []
  for (const [key, each] of Object.entries(members)) made.push([key, yield* deferred(each, name)])
  return { ...own, $defs: Object.fromEntries(made) }
}

type Keywords = { readonly [keyword: string]: unknown }
type Changing = Generator<undefined, ValueSchema>

const nodesPerSlice = 500

class Deferring {
  readonly #name: string
  #nodes = 0

  constructor(name: string) {
    this.#name = name
  }

  *within(schema: Keywords): Generator<undefined, Keywords> {
    this.#nodes += 1
    if (this.#nodes % nodesPerSlice === 0) yield
    const made: Record<string, unknown> = { ...schema }
    const { $ref: own } = schema
    // A piece is compiled at another location, so its references must be absolute.
    if (typeof own === "string" && own.startsWith("#")) made["$ref"] = `${this.#name}${own}`
    for (const key of childKeywords)
      if (schema[key] !== undefined) made[key] = yield* this.#child(schema[key] as ValueSchema)
    for (const key of inPlace)
      if (schema[key] !== undefined) made[key] = yield* this.#same(schema[key] as ValueSchema)
    for (const key of [...inPlaceLists, "prefixItems"]) {
      if (schema[key] === undefined) continue
      const list: ValueSchema[] = []
      for (const each of schema[key] as readonly ValueSchema[])
        list.push(yield* key === "prefixItems" ? this.#child(each) : this.#same(each))
      made[key] = list
    }
    for (const key of [...childMaps, "dependentSchemas"]) {
      if (schema[key] === undefined) continue
      const entries: [string, ValueSchema][] = []
      for (const [property, each] of Object.entries(schema[key] as Record<string, ValueSchema>))
        entries.push([property, yield* key === "dependentSchemas" ? this.#same(each) : this.#child(each)])
      made[key] = Object.fromEntries(entries)
    }
    return made
  }

  *#same(schema: ValueSchema): Changing {
    return typeof schema === "boolean" ? schema : yield* this.within(schema)
  }

  *#child(schema: ValueSchema): Changing {
    if (typeof schema === "boolean") return schema
    const { $ref: reference } = schema
    if (typeof reference !== "string" || Object.keys(schema).length > 1) return yield* this.within(schema)
    return { [deferredKeyword]: reference.startsWith("#") ? `${this.#name}${reference}` : reference }
  }
}
