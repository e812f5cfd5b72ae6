import { digestOf } from "../../runtime/plan/canonical.ts"
import type { ValueSchema } from "../../runtime/plan/value-schema.ts"
import type { Report } from "../core/diagnostic.ts"
import { components } from "./components.ts"
import type { JsonSchema, SchemaEntry, Schemas } from "./schema.ts"
import { annotations, keywords } from "./schema-keywords.ts"
import { overridden, overrideObstacle, overridesKey, type SchemaOverrides } from "./schema-overrides.ts"

/** What a schema judges: `readOnly` is not asked of requests, `writeOnly` not of answers. */
export type Direction = "request" | "response"

/**
 * The schemas of the plan. Each is a resource of its own, named by its digest, and refers to others by theirs, so that equal schemas of several documents,
 * versions and operations are one; schemas that refer to each other in a circle are one resource, the members in its `$defs`.
 */
export class PlanSchemas {
  readonly #report: Report
  readonly #table = new Map<string, ValueSchema>()
  readonly #names = new WeakMap<Schemas, Map<string, Map<string, string>>>()
  readonly #told = new Set<unknown>()

  constructor(report: Report) {
    this.#report = report
  }

  /** The name of a schema in the plan. What keeps it from judging, or from judging otherwise than it says itself, is reported. */
  use(schemas: Schemas, key: string, direction: Direction, overrides: SchemaOverrides = {}): string {
    let known = this.#names.get(schemas)
    if (known === undefined) {
      known = new Map()
      this.#names.set(schemas, known)
    }
    const reading = { schemas, direction, overrides }
    const as = `${direction} ${overridesKey(overrides)}`
    const names = known.get(as) ?? new Map<string, string>()
    known.set(as, names)
    if (!names.has(key))
      for (const group of components(schemas.entries, key, names)) this.#add(group, names, reading)
    return names.get(key) ?? key
  }

  /** All that were used, by name. */
  table(): Readonly<Record<string, ValueSchema>> {
    return Object.fromEntries([...this.#table].sort(([a], [b]) => (a < b ? -1 : 1)))
  }

  #add(group: readonly SchemaEntry[], names: Map<string, string>, reading: Reading): void {
    for (const entry of group) this.#reportObstacles(entry, reading.overrides)
    const [only] = group
    if (only === undefined) return
    const strip = (entry: SchemaEntry): ValueSchema => new Stripping(reading, names).schema(entry.json)
    if (group.length === 1 && !only.references.has(only.key)) {
      const schema = strip(only)
      const name = digestOf(schema)
      names.set(only.key, name)
      this.#table.set(name, schema)
      return
    }
    const members = [...group].sort((a, b) => (a.key < b.key ? -1 : 1))
    for (const [index, { key }] of members.entries()) names.set(key, `#/$defs/${index}`)
    const bundle = {
      $defs: Object.fromEntries(members.map((member, index) => [String(index), strip(member)])),
    }
    const digest = digestOf(bundle)
    for (const [index, { key }] of members.entries()) names.set(key, `${digest}#/$defs/${index}`)
    this.#table.set(digest, bundle)
    this.#reportEndless(members)
  }

  /** A circle of schemas that judge the same value goes on for ever. */
  #reportEndless(members: readonly SchemaEntry[]): void {
    const inside = new Map(members.map((each) => [each.key, each]))
    const without = new Map(
      members.map((each) => [
        each.key,
        { ...each, references: new Set([...each.inPlace].filter((key) => inside.has(key))) },
      ]),
    )
    const done = new Map<string, string>()
    for (const { key } of members) {
      if (done.has(key)) continue
      for (const group of components(without, key, done)) {
        for (const each of group) done.set(each.key, "")
        const [first] = group
        if (first !== undefined && (group.length > 1 || first.references.has(first.key)))
          this.#tell(
            first.key,
            "SP8013",
            first.span,
            "the schema refers to itself for the same value: it never ends",
          )
      }
    }
  }

  #reportObstacles({ obstacles, json, key, span }: SchemaEntry, overrides: SchemaOverrides): void {
    for (const obstacle of obstacles) this.#tell(obstacle, "SP8013", obstacle.span, obstacle.detail)
    const detail = overrideObstacle(json, overrides)
    if (detail !== undefined) this.#tell(`${key} ${overridesKey(overrides)}`, "SP8013", span, detail)
  }

  #tell(about: unknown, code: "SP8013", span: SchemaEntry["span"], detail: string): void {
    if (!this.#told.has(about)) this.#report.add(code, span, detail)
    this.#told.add(about)
  }
}

/** How schemas are read: which, of which messages, and what a place says otherwise than they do. */
interface Reading {
  readonly schemas: Schemas
  readonly direction: Direction
  readonly overrides: SchemaOverrides
}

/** Leaves of a schema what judges in one direction, its references by the names of the plan. */
class Stripping {
  readonly #schemas: Schemas
  readonly #names: ReadonlyMap<string, string>
  readonly #direction: Direction
  readonly #overrides: SchemaOverrides

  constructor({ schemas, direction, overrides }: Reading, names: ReadonlyMap<string, string>) {
    this.#schemas = schemas
    this.#names = names
    this.#direction = direction
    this.#overrides = overrides
  }

  schema(json: JsonSchema): JsonSchema {
    if (typeof json === "boolean") return json
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

  /** Whether a property belongs to the other direction alone. */
  #isOthers(json: JsonSchema): boolean {
    if (typeof json === "boolean") return false
    const mark = this.#direction === "request" ? "readOnly" : "writeOnly"
    if (json[mark] === true) return true
    const target =
      typeof json["$ref"] === "string" ? this.#schemas.entries.get(json["$ref"])?.json : undefined
    return typeof target === "object" && target[mark] === true
  }
}
