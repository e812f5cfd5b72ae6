import { digestOf } from "../plan/canonical.ts"
import type { ValueSchema } from "../plan/value-schema.ts"
import { childKeywords, deferredKeyword, inPlace, inPlaceLists } from "./deferred.ts"

/** The keyword that has the schemas of properties by the names of pieces. */
export const partsKeyword = "parts"
/** What stands under `partsKeyword`: properties, and the names of pieces. */
export type PieceParts = readonly (readonly string[])[]
/** The keyword that has the branches of `allOf`, `anyOf`, `oneOf` by the names of pieces. */
export const branchesKeyword = "branches"

/** What stands under `branchesKeyword`. */
export interface Branches {
  readonly rule: "allOf" | "anyOf" | "oneOf"
  readonly names: readonly string[]
}

/** What names of pieces begin with. */
export const pieceMark = "piece:"

// In keywords, which cost some 0.1 ms each to be compiled.
const partMost = 12
const branchMost = 24
const sharedMost = 40
/** Properties, and branches, that are compiled together. */
const entriesMost = 16
const nodesPerSlice = 200

const childMaps = ["patternProperties"]

interface Cut {
  readonly schema: ValueSchema
  /** How much there is to compile in it. */
  readonly weight: number
}
type Cutting = Generator<undefined, Cut>
type Keywords = { [keyword: string]: unknown }

/**
 * Cuts a schema into pieces that are compiled one by one: compiling one large schema would keep everything else waiting. References in it are absolute. Schemas
 * of parts of a value may always be cut off; alternatives for the same value only where nobody asks what they have seen of it (`unevaluatedProperties`, `unevaluatedItems`).
 */
export class Cutter {
  readonly #add: (name: string, piece: ValueSchema) => void
  readonly #cutsInPlace: boolean
  #nodes = 0

  /** `add` is told the pieces, each after those inside of it. */
  constructor(add: (name: string, piece: ValueSchema) => void, cutsInPlace: boolean) {
    this.#add = add
    this.#cutsInPlace = cutsInPlace
  }

  /** The schema without what was cut off. Yields now and then. */
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

  /** `properties` keeps the names: other keywords go by them. */
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
    // A list: ajv would look for `$id` in a table.
    made[partsKeyword] = cuts.flatMap(([name, { schema }]) =>
      schema === true ? [] : [[name, this.#off(schema)]],
    ) satisfies PieceParts
    return 1
  }

  #offWhereLarge(cut: Cut, most: number): Cut {
    return cut.weight > most ? { schema: { [deferredKeyword]: this.#off(cut.schema) }, weight: 2 } : cut
  }

  /** The name of what a schema is elsewhere. */
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

/** Whether a schema asks anywhere what others have seen of a value. Yields now and then. */
export function* asksWhatWasSeen(schema: unknown): Generator<undefined, boolean> {
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
