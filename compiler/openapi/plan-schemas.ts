import { digestOf } from "../../runtime/plan/canonical.ts"
import type { ValueSchema } from "../../runtime/plan/value-schema.ts"
import type { Report } from "../core/diagnostic.ts"
import { components } from "./components.ts"
import { LooseSchemas } from "./loose-schema.ts"
import type { Direction, SchemaEntry, Schemas } from "./schema.ts"
import { overrideObstacle, overridesKey, type SchemaOverrides } from "./schema-overrides.ts"
import { type SchemaReading, Stripping } from "./stripped-schema.ts"

/** Calls `tell`, which reports what is wrong with a schema and with those that it refers to. `use`: the schema, and how it is used. */
export type TellSchemas = (schemas: Schemas, use: string, tell: () => void) => void

/**
 * The schemas of the plan. Each is a resource named by its digest, and refers to others by their digests. So equal schemas of several
 * documents, versions and operations are stored once. Schemas that refer to each other in a cycle are one resource with the members in its
 * `$defs`.
 */
export class PlanSchemas {
  readonly #report: Report
  readonly #table = new Map<string, ValueSchema>()
  readonly #names = new WeakMap<Schemas, Map<string, Map<string, string>>>()
  readonly #loose = new WeakMap<Schemas, LooseSchemas>()
  readonly #places = new Map<string, string>()
  readonly #reported = new Set<unknown>()
  readonly #tellSchemas: TellSchemas | undefined

  /** `tellSchemas`: calls `tell` for each use of a schema. Without it, what is wrong with a schema is reported at its first use. */
  constructor(report: Report, tellSchemas?: TellSchemas) {
    this.#report = report
    this.#tellSchemas = tellSchemas
  }

  /** Adds a schema to the plan and returns its name. Reports why it can't be used, or checks less than written. */
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
    this.#tellSchemas?.(schemas, `${overridesKey(overrides)} ${key}`, () => {
      for (const group of components(schemas.entries, key, new Map())) this.#reportGroup(group, overrides)
    })
    return names.get(key) ?? key
  }

  /** All schemas in use, by name. */
  table(): Readonly<Record<string, ValueSchema>> {
    return Object.fromEntries([...this.#table].sort(([a], [b]) => (a < b ? -1 : 1)))
  }

  /**
   * The source place of each schema, by its name in the plan: a pointer into its document where `$ref` can use one
   * (`api.yaml#/components/schemas/Order`), otherwise the line.
   */
  places(): Iterable<readonly [string, string]> {
    return this.#places
  }

  #place(name: string, { key, span }: SchemaEntry): void {
    if (this.#places.has(name)) return
    const line = `${span.file.path}:${span.file.position(span.start).line}`
    this.#places.set(name, key.includes("#/") ? key : line)
  }

  /**
   * A schema by itself, or a cycle of schemas as one resource. Its name is the digest of its content, so its members are named before it is
   * known.
   */
  #add(group: readonly SchemaEntry[], names: Map<string, string>, reading: SchemaReading): void {
    if (this.#tellSchemas === undefined) this.#reportGroup(group, reading.overrides)
    const [only] = group
    if (only === undefined) return
    const loose = this.#looseWith(group, reading.schemas)
    const strip = (entry: SchemaEntry): ValueSchema => new Stripping(reading, names, loose).schema(entry.json)
    if (group.length === 1 && !only.references.has(only.key)) {
      const schema = strip(only)
      const name = digestOf(schema)
      names.set(only.key, name)
      this.#place(name, only)
      this.#table.set(name, schema)
      return
    }
    const members = [...group].sort((a, b) => (a.key < b.key ? -1 : 1))
    for (const [index, { key }] of members.entries()) names.set(key, `#/$defs/${index}`)
    const bundle = {
      $defs: Object.fromEntries(members.map((member, index) => [String(index), strip(member)])),
    }
    const digest = digestOf(bundle)
    for (const [index, member] of members.entries()) {
      const name = `${digest}#/$defs/${index}`
      names.set(member.key, name)
      this.#place(name, member)
    }
    this.#table.set(digest, bundle)
  }

  /** Reports what is wrong with a schema, or with a cycle of schemas. */
  #reportGroup(group: readonly SchemaEntry[], overrides: SchemaOverrides): void {
    for (const entry of group) this.#reportObstacles(entry, overrides)
    const [only] = group
    const isCycle = group.length > 1 || only?.references.has(only.key) === true
    if (isCycle) this.#reportEndless([...group].sort((a, b) => (a.key < b.key ? -1 : 1)))
  }

  /** The loose schemas, including those of this group. The schemas that the group refers to were added before. */
  #looseWith(group: readonly SchemaEntry[], schemas: Schemas): LooseSchemas {
    const loose = this.#loose.get(schemas) ?? new LooseSchemas(schemas.unmatchable)
    this.#loose.set(schemas, loose)
    loose.add(group)
    return loose
  }

  /** Reports a cycle of schemas that all apply to the same value: validation would never end. */
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
            "the schema refers to itself for the same value, so validation would never end",
          )
      }
    }
  }

  #reportObstacles({ obstacles, unmatched, json, key, span }: SchemaEntry, overrides: SchemaOverrides): void {
    for (const obstacle of obstacles) this.#tell(obstacle, "SP8013", obstacle.span, obstacle.detail)
    for (const each of unmatched) this.#tell(each, "SP8019", each.span, each.detail, each.help)
    const detail = overrideObstacle(json, overrides)
    if (detail !== undefined) this.#tell(`${key} ${overridesKey(overrides)}`, "SP8013", span, detail)
  }

  #tell(
    about: unknown,
    code: "SP8013" | "SP8019",
    span: SchemaEntry["span"],
    detail: string,
    help?: string,
  ): void {
    if (this.#tellSchemas !== undefined || !this.#reported.has(about))
      this.#report.add(code, span, detail, help === undefined ? {} : { help })
    this.#reported.add(about)
  }
}
