import type { JsonSchema, Schemas } from "./schema.ts"

const depthMax = 8
/** Maximum number of values in one sample. The rest of a larger schema is left out. */
const valuesMax = 2_000

/**
 * A value that fits a schema as far as possible: its own example, otherwise the smallest value that its keywords allow, without `writeOnly`
 * properties. The result is deterministic.
 */
export function sampleOf(schemas: Schemas, key: string): unknown {
  return sampleBy((reference) => schemas.entries.get(reference)?.json, key)
}

/** The same for a schema that is referred to as `key`; `find` resolves references. */
export function sampleBy(find: (reference: string) => JsonSchema | undefined, key: string): unknown {
  return new Sampling(find).of({ $ref: key }, 0)
}

/** A value for each format. */
const texts: Readonly<Record<string, string>> = {
  date: "2026-01-01",
  "date-time": "2026-01-01T00:00:00Z",
  time: "00:00:00Z",
  duration: "P1D",
  email: "user@example.com",
  hostname: "example.com",
  ipv4: "192.0.2.1",
  ipv6: "2001:db8::1",
  uri: "https://example.com/",
  "uri-reference": "/",
  uuid: "00000000-0000-4000-8000-000000000000",
  byte: "",
}

/** Makes a value for a schema. The number of values is limited, because schemas may refer to each other. */
class Sampling {
  readonly #find: (reference: string) => JsonSchema | undefined
  #left = valuesMax

  constructor(find: (reference: string) => JsonSchema | undefined) {
    this.#find = find
  }

  /** Examples of the author come first, then defaults, constants and the first alternative. */
  of(schema: JsonSchema, depth: number): unknown {
    this.#left -= 1
    if (typeof schema === "boolean" || depth > depthMax || this.#left < 0) return null
    const [example] = Array.isArray(schema["examples"]) ? schema["examples"] : []
    if (example !== undefined) return example
    if (schema["default"] !== undefined) return schema["default"]
    if ("const" in schema) return schema["const"]
    if (Array.isArray(schema["enum"])) return schema["enum"][0]
    const referred = typeof schema["$ref"] === "string" ? this.#find(schema["$ref"]) : undefined
    if (referred !== undefined) return this.of(referred, depth + 1)
    const parts = ((schema["allOf"] ?? []) as JsonSchema[]).map((each) => this.of(each, depth + 1))
    const choices = (schema["oneOf"] ?? schema["anyOf"] ?? []) as JsonSchema[]
    if (choices[0] !== undefined) parts.push(this.of(choices[0], depth + 1))
    const own = this.#ofType(schema, depth)
    const all = [...parts, ...(own === undefined ? [] : [own])]
    return all.every(isObject) && all.length > 0 ? Object.assign({}, ...all) : (all[0] ?? null)
  }

  /** A value of the schema's type. */
  #ofType(schema: Exclude<JsonSchema, boolean>, depth: number): unknown {
    const types = [schema["type"] ?? []].flat() as string[]
    const type = types.find((each) => each !== "null") ?? types[0]
    if (type === "object" || schema["properties"] !== undefined) return this.#object(schema, depth)
    if (type === "array" || schema["items"] !== undefined) return this.#array(schema, depth)
    if (type === "string") return text(schema)
    if (type === "integer" || type === "number") return number(schema, type === "integer")
    if (type === "boolean") return true
    return type === "null" ? null : undefined
  }

  /** An object with its required properties, and near the root with all of them. */
  #object(schema: Exclude<JsonSchema, boolean>, depth: number): unknown {
    const required = new Set((schema["required"] ?? []) as string[])
    const properties = Object.entries((schema["properties"] ?? {}) as Record<string, JsonSchema>)
    // At a large depth, only required properties.
    const shown = properties.filter(
      ([name, each]) => (required.has(name) || depth < 4) && !this.#isWriteOnly(each),
    )
    return Object.fromEntries(shown.map(([name, each]) => [name, this.of(each, depth + 1)]))
  }

  #isWriteOnly(schema: JsonSchema): boolean {
    if (typeof schema === "boolean") return false
    const { $ref: key } = schema
    const referred = typeof key === "string" ? this.#find(key) : undefined
    return schema["writeOnly"] === true || (typeof referred === "object" && referred["writeOnly"] === true)
  }

  #array(schema: Exclude<JsonSchema, boolean>, depth: number): unknown {
    const least = Math.min(Number(schema["minItems"] ?? 1), 10)
    const prefix = ((schema["prefixItems"] ?? []) as JsonSchema[]).map((each) => this.of(each, depth + 1))
    const items = schema["items"] as JsonSchema | undefined
    if (items === undefined || items === false || depth >= depthMax - 2) return prefix
    while (prefix.length < least) prefix.push(this.of(items, depth + 1))
    return prefix
  }
}

function text(schema: Exclude<JsonSchema, boolean>): string {
  const known = texts[String(schema["format"])]
  if (known !== undefined) return known
  const least = Number(schema["minLength"] ?? 0)
  const most = Number(schema["maxLength"] ?? Number.POSITIVE_INFINITY)
  return "text".padEnd(Math.min(least, 1000), "x").slice(0, most)
}

/** The smallest number that the bounds and the step allow. */
function number(schema: Exclude<JsonSchema, boolean>, whole: boolean): number {
  const step = typeof schema["multipleOf"] === "number" ? schema["multipleOf"] : whole ? 1 : undefined
  const above = schema["exclusiveMinimum"]
  const below = schema["exclusiveMaximum"]
  let value = Number(schema["minimum"] ?? (typeof above === "number" ? above : 0))
  if (step !== undefined) value = Math.ceil(value / step) * step
  if (value === above) value += step ?? 1
  const most = Number(schema["maximum"] ?? Number.POSITIVE_INFINITY)
  if (value > most) return most
  return typeof below === "number" && value >= below ? below - (step ?? 1) : value
}

function isObject(value: unknown): boolean {
  return typeof value === "object" && value !== null && !Array.isArray(value)
}
