import type { JsonSchema, Schemas } from "./schema.ts"
import { keywords } from "./schema-keywords.ts"

/** Schemas of an exported document: components by name, all others inline. */
export class ExportSchemas {
  readonly #names = new Map<Schemas, Map<string, string>>()
  readonly #taken = new Set<string>()
  readonly #components = new Map<string, JsonSchema>()
  /** Components whose schemas are not written yet. They are written one after the other, so that a long chain needs no deep recursion. */
  readonly #waiting: (() => void)[] = []

  /** The schema with this key, or a reference to its component. */
  of(schemas: Schemas, key: string): JsonSchema {
    const made = this.#use(schemas, key)
    for (let next = this.#waiting.pop(); next !== undefined; next = this.#waiting.pop()) next()
    return made
  }

  components(): Record<string, JsonSchema> {
    return Object.fromEntries([...this.#components].sort(([a], [b]) => (a < b ? -1 : 1)))
  }

  /** A reference becomes the name of a component, which is written once. Inline schemas are written in place. */
  #use(schemas: Schemas, key: string): JsonSchema {
    const entry = schemas.entries.get(key)
    if (entry === undefined) return true
    // The key of an inline schema contains its position after `@`.
    if (key.includes("@")) return this.#written(schemas, entry.json)
    let names = this.#names.get(schemas)
    if (names === undefined) {
      names = new Map()
      this.#names.set(schemas, names)
    }
    let name = names.get(key)
    if (name === undefined) {
      name = this.#nameFor(key)
      names.set(key, name)
      const own = name
      this.#waiting.push(() => this.#components.set(own, this.#written(schemas, entry.json)))
    }
    return { $ref: `#/components/schemas/${name}` }
  }

  /** The last step of a pointer, or the file name when the whole file is the schema. */
  #nameFor(key: string): string {
    const [file = "", pointer = ""] = key.split("#", 2)
    const last = pointer.split("/").at(-1)
    const base =
      last === undefined || last === "" ? (file.split("/").at(-1) ?? "").replace(/\.\w+$/, "") : last
    const plain =
      base
        .replaceAll("~1", "_")
        .replaceAll("~0", "_")
        .replace(/[^A-Za-z0-9._-]/g, "_") || "Schema"
    let name = plain
    for (let count = 2; this.#taken.has(name); count += 1) name = `${plain}_${count}`
    this.#taken.add(name)
    return name
  }

  /** A schema with its references renamed. */
  #written(schemas: Schemas, json: JsonSchema): JsonSchema {
    if (typeof json === "boolean") return json
    const written: Record<string, unknown> = {}
    for (const [keyword, value] of Object.entries(json)) {
      const kind = keywords[keyword]
      if (keyword === "$ref") Object.assign(written, this.#use(schemas, value as string))
      else if (kind === "schema") written[keyword] = this.#written(schemas, value as JsonSchema)
      else if (kind === "schemas")
        written[keyword] = (value as JsonSchema[]).map((each) => this.#written(schemas, each))
      else if (kind === "schema map")
        written[keyword] = Object.fromEntries(
          Object.entries(value as Record<string, JsonSchema>).map(([name, each]) => [
            name,
            this.#written(schemas, each),
          ]),
        )
      else if (!unwritten.has(keyword)) written[keyword] = value
    }
    return written
  }
}

/** Keywords about the location of schemas, which has changed. The mapping of a discriminator would point to the old places. */
const unwritten: ReadonlySet<string> = new Set(["$id", "$anchor", "$schema", "$defs", "definitions"])
