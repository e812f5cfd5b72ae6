import { type LooseSchemas, loosened } from "./loose-schema.ts"
import type { Direction, JsonSchema, Schemas } from "./schema.ts"
import { annotations, keywords } from "./schema-keywords.ts"
import { overridden, type SchemaOverrides } from "./schema-overrides.ts"

/** How schemas are used: their document, the direction, and the overrides of the place. */
export interface SchemaReading {
  readonly schemas: Schemas
  readonly direction: Direction
  readonly overrides: SchemaOverrides
}

/** Reduces a schema to what it checks in one direction. Its references use names of the plan. */
export class Stripping {
  readonly #schemas: Schemas
  readonly #names: ReadonlyMap<string, string>
  readonly #direction: Direction
  readonly #overrides: SchemaOverrides
  readonly #loose: LooseSchemas

  /** Removes what does not affect validation, so that a changed description does not change the plan. */
  constructor(
    { schemas, direction, overrides }: SchemaReading,
    names: ReadonlyMap<string, string>,
    loose: LooseSchemas,
  ) {
    this.#loose = loose
    this.#schemas = schemas
    this.#names = names
    this.#direction = direction
    this.#overrides = overrides
  }

  /** One schema, with its references replaced by digests. */
  schema(whole: JsonSchema): JsonSchema {
    if (typeof whole === "boolean") return whole
    const json = loosened(whole, this.#loose)
    const kept: Record<string, unknown> = {}
    for (const [keyword, value] of Object.entries(json)) {
      if (annotations.has(keyword)) continue
      if (keyword === "$ref") kept["$ref"] = this.#names.get(value as string)
      else if (keyword === "required") this.#required(value as string[], json["properties"], kept)
      else kept[keyword] = this.#value(keywords[keyword], value)
    }
    return overridden(kept, this.#overrides)
  }

  #value(kind: string | undefined, value: unknown): unknown {
    if (kind === "schema") return this.schema(value as JsonSchema)
    if (kind === "schemas") return (value as JsonSchema[]).map((each) => this.schema(each))
    if (kind !== "schema map") return value
    const entries = Object.entries(value as Record<string, JsonSchema>)
    return Object.fromEntries(entries.map(([name, each]) => [name, this.schema(each)]))
  }

  #required(names: readonly string[], properties: unknown, kept: Record<string, unknown>): void {
    const known = (properties ?? {}) as Record<string, JsonSchema>
    const asked = names.filter(
      (name) => !Object.hasOwn(known, name) || !this.#isOthers(known[name] as JsonSchema),
    )
    if (asked.length > 0) kept["required"] = asked
  }

  /** Whether a property belongs only to the other direction. */
  #isOthers(json: JsonSchema): boolean {
    if (typeof json === "boolean") return false
    const mark = this.#direction === "request" ? "readOnly" : "writeOnly"
    if (json[mark] === true) return true
    const target =
      typeof json["$ref"] === "string" ? this.#schemas.entries.get(json["$ref"])?.json : undefined
    return typeof target === "object" && target[mark] === true
  }
}
