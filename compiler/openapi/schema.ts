import { schemaPattern } from "../../runtime/validation/pattern.ts"
import { didYouMean } from "../core/nearest.ts"
import { shown } from "../core/shown.ts"
import type { Span } from "../core/source.ts"
import { type DocumentFields, isNull } from "./fields.ts"
import {
  type DocumentEntry,
  type DocumentList,
  type DocumentMap,
  type DocumentNode,
  kindOf,
  plainOf,
} from "./node.ts"
import { onlyReference, referenceOf } from "./references.ts"
import { annotations, applicators, keywords, leftOut, typeNames } from "./schema-keywords.ts"

/** A JSON Schema 2020-12. `$ref` contains the key of a schema of the document. */
export type JsonSchema = boolean | { readonly [keyword: string]: unknown }

/** A schema that can be referenced: a component, or an inline schema. */
export interface SchemaEntry {
  readonly key: string
  readonly span: Span
  readonly json: JsonSchema
  /** Keys of the schemas it refers to. */
  readonly references: ReadonlySet<string>
  /** Those of them that apply to the same value. In a cycle of these, validation would never end. */
  readonly inPlace: ReadonlySet<string>
  /** Reasons why it can't be used for validation. They are reported when it is used. */
  readonly obstacles: readonly Obstacle[]
  /** Patterns and empty lists that it does not check. They are reported when it is used. */
  readonly unmatched: readonly Obstacle[]
  /** Whether it accepts more values than written. */
  readonly loose: boolean
}

interface Obstacle {
  readonly span: Span
  readonly detail: string
  /** Undefined: the help of the code. */
  readonly help?: string
}

/** The validated message: requests need not contain `readOnly` properties, responses need not contain `writeOnly` ones. */
export type Direction = "request" | "response"

/** The schema dialect: until 3.0, OpenAPI had its own. */
export type SchemaDialect = "2.0" | "3.0" | "3.1"

/** All schemas of a document that its operations use, converted to JSON Schema 2020-12. Cycles are allowed. */
export class Schemas {
  readonly entries = new Map<string, SchemaEntry>()
  /** The source of patterns that can't be compiled to an automaton. */
  readonly unmatchable = new Set<string>()
  readonly #fields: DocumentFields
  readonly #dialect: SchemaDialect
  /** Schemas that are found but not converted. They are converted one after the other, so that a long chain of references needs no deep recursion. */
  readonly #waiting: { readonly key: string; readonly node: DocumentNode }[] = []
  readonly #known = new Set<string>()

  constructor(fields: DocumentFields, dialect: SchemaDialect) {
    this.#fields = fields
    this.#dialect = dialect
  }

  /** The key of the schema at a node. Undefined when its reference has no target (reported). */
  use(node: DocumentNode): string | undefined {
    const key = this.#keyOf(node)
    for (let next = this.#waiting.pop(); next !== undefined; next = this.#waiting.pop()) this.#convert(next)
    return key
  }

  /** Adds a generated schema, e.g. for a parameter of 2.0, which contains the keywords itself. */
  make(node: DocumentMap, leaveOut: readonly string[]): string {
    const entries = new Map([...node.entries].filter(([name]) => !leaveOut.includes(name)))
    return this.use({ ...node, entries }) as string
  }

  /** A form of 2.0: each parameter is a field. */
  form(
    fields: readonly { readonly name: string; readonly required: boolean; readonly schema: string }[],
    at: Span,
  ): string {
    const key = `${at.file.path}@${at.start}:form`
    const json = {
      type: "object",
      properties: Object.fromEntries(
        fields.map(({ name, schema }) => [name, schema === undefined ? true : { $ref: schema }]),
      ),
      required: fields.filter(({ required }) => required).map(({ name }) => name),
    }
    const references = new Set(fields.map(({ schema }) => schema))
    this.entries.set(key, {
      key,
      span: at,
      json,
      references,
      inPlace: new Set(),
      obstacles: [],
      unmatched: [],
      loose: false,
    })
    return key
  }

  #keyOf(node: DocumentNode): string | undefined {
    if (referenceOf(node) === undefined || this.#hasSiblings(node))
      return this.#queue(`${node.span.file.path}@${node.span.start}`, node)
    const target = this.#fields.references.step(node)
    return target === undefined ? undefined : this.#queue(target.key, target.node)
  }

  /** Since 3.1, keywords next to `$ref` apply as well. Before, only `nullable`, because authors who write it there expect that. */
  #hasSiblings(node: DocumentNode): boolean {
    if (node.kind !== "map") return false
    if (this.#dialect !== "3.1") return isNullable(node)
    return [...node.entries.keys()].some((name) => name !== "$ref" && keywords[name] !== undefined)
  }

  #queue(key: string, node: DocumentNode): string {
    if (!this.#known.has(key)) {
      this.#known.add(key)
      this.#waiting.push({ key, node })
    }
    return key
  }

  #convert({ key, node }: { key: string; node: DocumentNode }): void {
    const conversion = new Conversion(this.#fields, this.#dialect, (each) => this.#keyOf(each))
    const json = conversion.schema(node, true, true)
    const { references, inPlace, obstacles, unmatched, loose } = conversion
    for (const { source } of unmatched) if (source !== undefined) this.unmatchable.add(source)
    this.entries.set(key, { key, span: node.span, json, references, inPlace, obstacles, unmatched, loose })
  }
}

function isNullable({ entries }: DocumentMap): boolean {
  return ["nullable", "x-nullable"].some((name) => {
    const value = entries.get(name)?.value
    return value?.kind === "scalar" && value.value === true
  })
}

/** Converts one schema and the schemas inside it. */
class Conversion {
  readonly references = new Set<string>()
  readonly inPlace = new Set<string>()
  #leavesOut = false
  readonly obstacles: Obstacle[] = []
  readonly unmatched: (Obstacle & { readonly source: string | undefined })[] = []
  readonly #fields: DocumentFields
  readonly #dialect: SchemaDialect
  readonly #keyOf: (node: DocumentNode) => string | undefined

  /** `keyOf` names the schema at a node, so that references of several files can be told apart. */
  constructor(
    fields: DocumentFields,
    dialect: SchemaDialect,
    keyOf: (node: DocumentNode) => string | undefined,
  ) {
    this.#fields = fields
    this.#dialect = dialect
    this.#keyOf = keyOf
  }

  /** `outermost`: it is the whole schema; `inPlace`: it applies to the same value as the whole. */
  schema(node: DocumentNode, inPlace: boolean, outermost = false): JsonSchema {
    if (node.kind === "scalar" && typeof node.value === "boolean") return node.value
    if (outermost && isNull(node)) return this.#fields.withoutValue(node, "the schema") ?? {}
    if (node.kind !== "map") {
      this.#fields.wrong(node, `a schema must be a map, found ${kindOf(node)}`)
      return this.#leaveOut({})
    }
    const reference = referenceOf(node)
    if (reference !== undefined && (this.#dialect !== "3.1" || !outermost)) {
      if (this.#dialect !== "3.1") this.#reportSiblings(node)
      const own = outermost && isNullable(node)
      const key = this.#keyOf(own ? onlyReference(node) : node)
      if (key === undefined) return this.#leaveOut({})
      this.#note(key, inPlace)
      return own ? { anyOf: [{ $ref: key }, { type: "null" }] } : { $ref: key }
    }
    const json: Record<string, unknown> = {}
    if (reference !== undefined) this.#refer(node, json)
    for (const [name, entry] of node.entries) if (name !== "$ref") this.#keyword(name, entry, inPlace, json)
    return this.#modern(json, node)
  }

  /** Until 3.0, keywords next to a reference are ignored (OpenAPI 3.0.3 §4.7.23), although the author expects them to apply. */
  #reportSiblings(node: DocumentMap): void {
    const judging = [...node.entries].find(
      ([name]) =>
        name !== "$ref" &&
        name !== "nullable" &&
        keywords[name] !== undefined &&
        !annotations.has(name) &&
        name !== "example",
    )
    if (judging === undefined) return
    this.#fields.report.add(
      "SP8014",
      judging[1].key,
      `\`${shown(judging[0])}\` has no effect next to \`$ref\``,
      {
        help: "Write `allOf: [{ $ref: … }]` and put the other keywords next to `allOf`.",
      },
    )
  }

  /** A reference with other keywords next to it. */
  #refer(node: DocumentMap, json: Record<string, unknown>): void {
    const key = this.#keyOf(onlyReference(node))
    if (key === undefined) return void this.#leaveOut(json)
    this.#note(key, true)
    json["$ref"] = key
  }

  get loose(): boolean {
    return this.#leavesOut || this.unmatched.length > 0
  }

  #leaveOut(json: Record<string | symbol, unknown>): JsonSchema {
    this.#leavesOut = true
    json[leftOut] = true
    return json
  }

  #note(key: string, inPlace: boolean): void {
    this.references.add(key)
    if (inPlace) this.inPlace.add(key)
  }

  /** One keyword of a schema. `items` with a list is the older form of `prefixItems`. */
  #keyword(
    name: string,
    { key, value }: DocumentEntry,
    inPlace: boolean,
    json: Record<string, unknown>,
  ): void {
    const kind = keywords[name]
    if (kind === undefined) {
      if (!name.startsWith("x-") || name === "x-nullable") this.#unknown(name, key, value, json)
      return
    }
    if (name === "items" && value.kind === "list") {
      json["prefixItems"] = value.items.map((item) => this.schema(item, false))
      return
    }
    if (name === "required" && value.kind === "scalar" && typeof value.value === "boolean") {
      this.#fields.report.add(
        "SP8014",
        key,
        "`required` in a property has no effect: it belongs to the object, as a list",
      )
      return
    }
    if (kind === "place") return
    if (isNull(value) && kind !== "any" && kind !== "type")
      return void this.#fields.withoutValue(value, `\`${name}\``)
    const made = this.#value(name, kind, value, inPlace && applicators.has(name))
    if (made !== undefined) json[name] = made
    else if (!annotations.has(name)) this.#leaveOut(json)
  }

  /** A keyword that JSON Schema does not know. `x-nullable` is common in documents of 2.0. */
  #unknown(name: string, key: Span, value: DocumentNode, json: Record<string, unknown>): void {
    if (name === "x-nullable" && this.#dialect === "2.0") json["nullable"] = plainOf(value)
    else if (name === "$dynamicRef" || name === "$recursiveRef")
      this.obstacles.push({ span: key, detail: `\`${name}\` is not supported and ignored` })
    else if (!name.startsWith("x-"))
      this.#fields.report.add(
        "SP8014",
        key,
        `a schema has no keyword \`${shown(name)}\`${didYouMean(name, Object.keys(keywords))}`,
      )
  }

  /** The value of a keyword by its kind. */
  #value(name: string, kind: string, value: DocumentNode, inPlace: boolean): unknown {
    switch (kind) {
      case "schema":
        return this.schema(value, inPlace)
      case "schemas":
        if (value.kind === "list") {
          this.#reportEmpty(name, value)
          return value.items.map((item) => this.schema(item, inPlace))
        }
        return this.#fields.wrong(value, `\`${name}\` must be a list of schemas, found ${kindOf(value)}`)
      case "schema map":
        return this.#schemaMap(name, value, inPlace)
      case "type":
        return this.#type(value)
      case "pattern":
        return this.#pattern(value)
      case "any":
        return plainOf(value)
      default:
        return this.#plain(name, kind, value)
    }
  }

  /** A map of schemas. */
  #schemaMap(name: string, value: DocumentNode, inPlace: boolean): unknown {
    if (value.kind !== "map")
      return this.#fields.wrong(value, `\`${name}\` must be a map of schemas, found ${kindOf(value)}`)
    const entries = [...value.entries].map(([key, entry]) => {
      if (name === "patternProperties") this.#checkPattern(key, entry.key)
      return [key, this.schema(entry.value, inPlace, isNull(entry.value))] as const
    })
    return Object.fromEntries(entries)
  }

  /** A value that is not a schema. A wrong type is an error: the check would be missing. */
  #plain(name: string, kind: string, value: DocumentNode): unknown {
    const plain = plainOf(value)
    if (name === "enum" && value.kind === "list") this.#reportEmpty(name, value)
    const right: Record<string, boolean> = {
      number: typeof plain === "number" && (name !== "multipleOf" || plain > 0),
      limit: typeof plain === "number" || typeof plain === "boolean",
      count: typeof plain === "number" && Number.isInteger(plain) && plain >= 0,
      text: typeof plain === "string",
      flag: typeof plain === "boolean",
      list: Array.isArray(plain),
      texts: Array.isArray(plain) && plain.every((each) => typeof each === "string"),
      "texts map":
        typeof plain === "object" &&
        plain !== null &&
        Object.values(plain).every(
          (each) => Array.isArray(each) && each.every((one) => typeof one === "string"),
        ),
    }
    if (right[kind] === true) return kind === "texts" ? [...new Set(plain as string[])] : plain
    const expected = {
      limit: "a number",
      count: "a whole number of 0 or more",
      texts: "a list of strings",
      flag: "`true` or `false`",
    }[kind]
    const effect = annotations.has(name) ? "aside" : "wrong"
    // "a whole number …, found a number" would contradict itself.
    const found = typeof plain === "number" ? `\`${plain}\`` : kindOf(value)
    return this.#fields[effect](value, `\`${name}\` must be ${expected ?? `a ${kind}`}, found ${found}`)
  }

  /** An empty list of choices would accept no value. The author most likely meant no constraint. */
  #reportEmpty(name: string, { items, span }: DocumentList): void {
    if (items.length > 0 || name === "prefixItems") return
    const detail = `an empty \`${name}\` is not checked: no value could match it`
    const help = `Add an entry to \`${name}\`, or remove it.`
    this.unmatched.push({ span, source: undefined, detail, help })
  }

  /** The type, or a list of types. `file` of 2.0 is a body without a schema. */
  #type(value: DocumentNode): unknown {
    const plain = plainOf(value)
    // An unquoted `null` in YAML is not a string. In this list it can only mean the type.
    const names = Array.isArray(plain) ? plain.map((each) => each ?? "null") : [plain]
    if (plain === "file" && this.#dialect === "2.0") return undefined
    const bad = names.find((each) => !typeNames.includes(each as string))
    if (bad === undefined && names.length > 0) return Array.isArray(plain) ? names : plain
    const hint = typeof bad === "string" ? didYouMean(bad, typeNames) : ""
    const found = typeof bad === "object" ? `${kindOf(value)} is` : `\`${shown(String(bad))}\` is`
    return this.#fields.wrong(value, `${found} not a type${hint}`)
  }

  #pattern(value: DocumentNode): unknown {
    if (value.kind !== "scalar" || typeof value.value !== "string")
      return this.#fields.wrong(value, `\`pattern\` must be a string, found ${kindOf(value)}`)
    this.#checkPattern(value.value, value.span)
    return value.value
  }

  #checkPattern(source: string, span: Span): void {
    try {
      schemaPattern(source, { stepsLeft: 0 })
    } catch (error) {
      const detail = `this pattern is not checked, because the gateway cannot run it: ${(error as Error).message}`
      this.unmatched.push({ span, source, detail })
    }
  }

  /** Converts keywords of 2.0 and 3.0 to 2020-12. */
  #modern(json: Record<string, unknown>, node: DocumentMap): JsonSchema {
    for (const [limit, exclusive] of [
      ["minimum", "exclusiveMinimum"],
      ["maximum", "exclusiveMaximum"],
    ] as const) {
      if (typeof json[exclusive] !== "boolean") continue
      if (json[exclusive] === true && json[limit] !== undefined) {
        json[exclusive] = json[limit]
        delete json[limit]
      } else delete json[exclusive]
    }
    // Many documents write a single example without a list.
    if ("examples" in json && !Array.isArray(json["examples"])) json["examples"] = [json["examples"]]
    if ("example" in json) {
      json["examples"] ??= [json["example"]]
      delete json["example"]
    }
    const nullable = json["nullable"]
    delete json["nullable"]
    if (nullable !== true) return json
    if (this.#dialect === "3.1") {
      const key = node.entries.get("nullable")?.key
      if (key !== undefined)
        this.#fields.report.add("SP8014", key, "`nullable` has no effect since OpenAPI 3.1", {
          help: 'Write `type: [TYPE, "null"]`.',
        })
      return json
    }
    return orNull(json)
  }
}

/** `nullable: true`. The specification gives it no meaning next to `allOf` and `$ref`, but every author who writes it there means this. */
function orNull(json: Record<string, unknown>): JsonSchema {
  const { type } = json
  if (typeof type === "string") return { ...json, type: type === "null" ? type : [type, "null"] }
  if (Array.isArray(type)) return { ...json, type: [...new Set([...type, "null"])] }
  const judging = Object.keys(json).filter(
    (name) => keywords[name]?.startsWith("schema") || name === "enum" || name === "const",
  )
  return judging.length === 0 ? json : { anyOf: [json, { type: "null" }] }
}
