import { digestOf } from "../plan/canonical.ts"
import type { ValueSchema } from "../plan/value-schema.ts"
import { childKeywords, deferredKeyword, inPlace, inPlaceLists } from "./deferred.ts"

/** The keyword for properties whose schemas are pieces, by name. */
export const partsKeyword = "parts"
/** Value of `partsKeyword`: pairs of a property and the name of its piece. */
export type PieceParts = readonly (readonly string[])[]
/** The keyword for branches of `allOf`, `anyOf`, `oneOf` that are pieces, by name. */
export const branchesKeyword = "branches"

/** Value of `branchesKeyword`. */
export interface Branches {
  readonly rule: "allOf" | "anyOf" | "oneOf"
  readonly names: readonly string[]
}

/** Prefix of the names of pieces. */
export const pieceMark = "piece:"

// Limits in keywords. Compiling a keyword takes about 0.1 ms.
const partMost = 12
const branchMost = 24
const sharedMost = 40
/** Limit on properties, and branches, that are compiled together. */
const entriesMost = 16
const nodesPerSlice = 200

const childMaps = ["patternProperties"]

interface Cut {
  readonly schema: ValueSchema
  /** The number of keywords to compile in it. */
  readonly weight: number
}
type Cutting = Generator<undefined, Cut>
type Keywords = { [keyword: string]: unknown }

/**
 * Splits a schema into pieces that are compiled one by one, because compiling one large schema would block the process. References in it are absolute. A
 * schema for a part of the value can always become a piece. An alternative for the same value can do so only if no schema needs its annotations
 * (`unevaluatedProperties`, `unevaluatedItems`).
 */
export class Cutter {
  readonly #add: (name: string, piece: ValueSchema) => void
  readonly #cutsInPlace: boolean
  #nodes = 0

  /** `add` receives the pieces, inner ones first. */
  constructor(add: (name: string, piece: ValueSchema) => void, cutsInPlace: boolean) {
    this.#add = add
    this.#cutsInPlace = cutsInPlace
  }

  /** The schema without its pieces. Yields from time to time. */
  *cut(schema: ValueSchema): Generator<undefined, ValueSchema> {
    return (yield* this.#within(schema)).schema
  }

  *#within(schema: ValueSchema): Cutting {
    this.#nodes += 1
    if (this.#nodes % nodesPerSlice === 0) yield
    if (typeof schema === "boolean") return { schema, weight: schema ? 0 : 1 }
    const made: Keywords = { ...schema }
    let weight = ownWeight(schema)
    for (const key of childKeywords) weight += yield* this.#child(made, key, partMost)
    for (const key of inPlace) weight += yield* this.#child(made, key, this.#inPlaceMost)
    for (const key of childMaps) weight += yield* this.#map(made, key, partMost)
    weight += yield* this.#map(made, "dependentSchemas", this.#inPlaceMost)
    weight += yield* this.#list(made, "prefixItems", partMost)
    for (const key of inPlaceLists) weight += yield* this.#branches(made, key)
    weight += yield* this.#properties(made)
    return { schema: made, weight }
  }

  get #inPlaceMost(): number {
    return this.#cutsInPlace ? branchMost : Number.POSITIVE_INFINITY
  }

  *#child(made: Keywords, key: string, most: number): Generator<undefined, number> {
    if (made[key] === undefined) return 0
    const cut = this.#offWhereLarge(yield* this.#within(made[key] as ValueSchema), most)
    made[key] = cut.schema
    return cut.weight
  }

  *#map(made: Keywords, key: string, most: number): Generator<undefined, number> {
    if (made[key] === undefined) return 0
    const cuts: [string, Cut][] = []
    for (const [name, each] of Object.entries(made[key] as Record<string, ValueSchema>))
      cuts.push([name, this.#offWhereLarge(yield* this.#within(each), most)])
    made[key] = Object.fromEntries(cuts.map(([name, { schema }]) => [name, schema]))
    return weightOf(cuts.map(([, cut]) => cut))
  }

  *#list(made: Keywords, key: string, most: number): Generator<undefined, number> {
    if (made[key] === undefined) return 0
    const cuts: Cut[] = []
    for (const each of made[key] as readonly ValueSchema[])
      cuts.push(this.#offWhereLarge(yield* this.#within(each), most))
    made[key] = cuts.map(({ schema }) => schema)
    return weightOf(cuts)
  }

  *#branches(made: Keywords, rule: Branches["rule"]): Generator<undefined, number> {
    const count = (made[rule] as readonly ValueSchema[] | undefined)?.length ?? 0
    const weight = yield* this.#list(made, rule, this.#inPlaceMost)
    if (!this.#cutsInPlace || count <= entriesMost || made[branchesKeyword] !== undefined) return weight
    const names = (made[rule] as readonly ValueSchema[]).map((each) => this.#off(each))
    delete made[rule]
    made[branchesKeyword] = { rule, names } satisfies Branches
    return 1
  }

  /** `properties` keeps the names, because other keywords depend on them. */
  *#properties(made: Keywords): Generator<undefined, number> {
    if (made["properties"] === undefined) return 0
    const cuts: [string, Cut][] = []
    for (const [name, each] of Object.entries(made["properties"] as Record<string, ValueSchema>))
      cuts.push([name, this.#offWhereLarge(yield* this.#within(each), partMost)])
    const weight = weightOf(cuts.map(([, cut]) => cut))
    if (cuts.length <= entriesMost && weight <= sharedMost) {
      made["properties"] = Object.fromEntries(cuts.map(([name, { schema }]) => [name, schema]))
      return weight
    }
    made["properties"] = Object.fromEntries(cuts.map(([name]) => [name, true]))
    // A list of pairs: in a table, ajv would interpret a key `$id`.
    made[partsKeyword] = cuts.flatMap(([name, { schema }]) =>
      schema === true ? [] : [[name, this.#off(schema)]],
    ) satisfies PieceParts
    return 1
  }

  #offWhereLarge(cut: Cut, most: number): Cut {
    return cut.weight > most ? { schema: { [deferredKeyword]: this.#off(cut.schema) }, weight: 2 } : cut
  }

  /** The name of the piece for a schema. */
  #off(schema: ValueSchema): string {
    if (typeof schema === "object" && Object.keys(schema).length === 1) {
      const known = schema[deferredKeyword]
      if (typeof known === "string") return known
    }
    const name = `${pieceMark}${digestOf(schema)}`
    this.#add(name, schema)
    return name
  }
}

function ownWeight(schema: Keywords): number {
  const { required = [], enum: values = [] } = schema as { required?: unknown[]; enum?: unknown[] }
  return Object.keys(schema).length + Math.min(required.length, 200) / 4 + Math.min(values.length, 200) / 10
}

function weightOf(cuts: readonly Cut[]): number {
  return cuts.reduce((sum, { weight }) => sum + weight, 0)
}

/** Whether any part of a schema depends on annotations (`unevaluatedProperties`, `unevaluatedItems`). Yields from time to time. */
export function* usesAnnotations(schema: unknown): Generator<undefined, boolean> {
  const left = [schema]
  let nodes = 0
  for (let node = left.pop(); node !== undefined; node = left.pop()) {
    if (typeof node !== "object" || node === null) continue
    nodes += 1
    if (nodes % nodesPerSlice === 0) yield
    if ("unevaluatedProperties" in node || "unevaluatedItems" in node) return true
    for (const inner of Object.values(node)) if (typeof inner === "object") left.push(inner)
  }
  return false
}
