import type { ValueSchema } from "../plan/value-schema.ts"

/** The types that a schema allows, as far as its keywords show. Used to convert text to a number, a list or an object. */
export interface SchemaShape {
  readonly types: ReadonlySet<string>
  /** Of list items; undefined: any. */
  readonly items: SchemaShape | undefined
  /** Of named properties. */
  readonly properties: ReadonlyMap<string, SchemaShape>
  /** Of other properties; undefined if the schema does not mention or does not allow them. */
  readonly others: SchemaShape | undefined
}

/** Depth limit: values of parameters and forms are flat, deeper ones are not converted from text. */
const depthMax = 4
/** Limit on schemas visited for one shape. */
const visitsMax = 2_000

/** The shape of a schema of the plan. */
export function shapeOf(schemas: Readonly<Record<string, ValueSchema>>, name: string): SchemaShape {
  return new Shaping(schemas).of([{ $ref: name }], schemas[name] ?? true, 0)
}

/** A shape that allows only text. */
export const textShape: SchemaShape = {
  types: new Set(),
  items: undefined,
  properties: new Map(),
  others: undefined,
}

interface Found {
  readonly types: Set<string>
  readonly items: [ValueSchema, ValueSchema][]
  readonly others: [ValueSchema, ValueSchema][]
  readonly properties: Map<string, [ValueSchema, ValueSchema][]>
}

class Shaping {
  readonly #schemas: Readonly<Record<string, ValueSchema>>
  #left = visitsMax

  constructor(schemas: Readonly<Record<string, ValueSchema>>) {
    this.#schemas = schemas
  }

  /** The combined shape of several schemas for one value. `root` is the base of `#/…` references. */
  of(schemas: readonly ValueSchema[], root: ValueSchema, depth: number): SchemaShape {
    const found: Found = { types: new Set(), items: [], others: [], properties: new Map() }
    const seen = new Set<unknown>()
    for (const schema of schemas) this.#gather(schema, root, found, seen)
    return this.#shape(found, depth)
  }

  #shape({ types, items, others, properties }: Found, depth: number): SchemaShape {
    if (items.length > 0) types.add("array")
    if (properties.size > 0) types.add("object")
    const inside = (pairs: readonly [ValueSchema, ValueSchema][]): SchemaShape | undefined => {
      if (depth >= depthMax || pairs.length === 0) return undefined
      const found: Found = { types: new Set(), items: [], others: [], properties: new Map() }
      const seen = new Set<unknown>()
      for (const [schema, root] of pairs) this.#gather(schema, root, found, seen)
      return this.#shape(found, depth + 1)
    }
    return {
      types,
      items: inside(items),
      others: inside(others),
      properties: new Map(
        [...properties].flatMap(([name, pairs]) => {
          const shape = inside(pairs)
          return shape === undefined ? [] : [[name, shape] as const]
        }),
      ),
    }
  }

  #gather(schema: ValueSchema, root: ValueSchema, found: Found, seen: Set<unknown>): void {
    if (typeof schema === "boolean" || seen.has(schema)) return
    seen.add(schema)
    this.#left -= 1
    if (this.#left < 0) return
    const reference = schema["$ref"]
    if (typeof reference === "string") this.#follow(reference, root, found, seen)
    for (const type of [schema["type"] ?? []].flat()) found.types.add(type as string)
    for (const value of [schema["enum"] ?? [], "const" in schema ? [schema["const"]] : []].flat())
      found.types.add(value === null ? "null" : Array.isArray(value) ? "array" : typeof value)
    for (const key of ["allOf", "anyOf", "oneOf"])
      for (const each of (schema[key] ?? []) as ValueSchema[]) this.#gather(each, root, found, seen)
    if (schema["items"] !== undefined) found.items.push([schema["items"] as ValueSchema, root])
    if ((schema["additionalProperties"] ?? false) !== false)
      found.others.push([schema["additionalProperties"] as ValueSchema, root])
    for (const [name, each] of Object.entries((schema["properties"] ?? {}) as Record<string, ValueSchema>)) {
      const known = found.properties.get(name) ?? []
      known.push([each, root])
      found.properties.set(name, known)
    }
  }

  #follow(reference: string, root: ValueSchema, found: Found, seen: Set<unknown>): void {
    const [name, pointer] = reference.split("#", 2) as [string, string | undefined]
    const base = name === "" ? root : this.#schemas[name]
    if (base === undefined) return
    const member = pointer?.replace("/$defs/", "")
    const members =
      typeof base === "object" ? (base["$defs"] as Record<string, ValueSchema> | undefined) : undefined
    const target = member === undefined || member === "" ? base : members?.[member]
    if (target !== undefined) this.#gather(target, base, found, seen)
  }
}

/** The converted value of a text if the schema expects another type; the text itself if it cannot be converted. */
export function valueOfText(text: string, { types }: SchemaShape): unknown {
  if (types.size === 0 || types.has("string")) return text
  if (
    (types.has("number") || types.has("integer")) &&
    /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/.test(text)
  )
    return Number(text)
  if (types.has("boolean") && (text === "true" || text === "false")) return text === "true"
  return types.has("null") && (text === "" || text === "null") ? null : text
}

/** The value of several texts with one name: a list if the schema allows one. Undefined if only one text is allowed. */
export function valuesOfTexts(
  texts: readonly string[],
  shape: SchemaShape,
  read: (text: string, shape: SchemaShape) => unknown = valueOfText,
): unknown {
  if (shape.types.has("array")) return texts.map((text) => read(text, shape.items ?? textShape))
  return texts.length === 1 ? read(texts[0] as string, shape) : undefined
}
