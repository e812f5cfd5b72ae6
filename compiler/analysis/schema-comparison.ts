import type { PlanBody } from "../../runtime/plan/plan.ts"
import type { ValueSchema } from "../../runtime/plan/value-schema.ts"
import { ownOf, same } from "./same.ts"
import { assertionChanges, type Effect, type Keywords } from "./schema-assertions.ts"

/** A difference between two schemas. `pointer`: JSON pointer, with the schema's place in its document before it, if known. */
export interface SchemaChange {
  readonly effect: Effect
  readonly pointer: string
  readonly words: string
}

/** A schema, and the plan's resource that contains it, to which its `$defs` belong. */
interface Located {
  readonly schema: ValueSchema
  readonly resource: string
}

/** The effect on the whole schema if fewer values fit here: fewer fit (`along`), more fit (`against`, inside of `not`), or unknown. */
type Sense = "along" | "against" | "unknown"

type Origins = Readonly<Record<string, string>>

/** Compares schemas of two plans by the values that fit. If it cannot prove that fewer (or more) values fit, the effect is `other`. */
export class SchemaComparison {
  readonly #before: PlanBody["schemas"]
  readonly #after: PlanBody["schemas"]
  readonly #origins: Origins
  readonly #known = new Map<string, readonly SchemaChange[]>()

  constructor(before: PlanBody, after: PlanBody, origins: Origins = {}) {
    this.#before = before.schemas
    this.#after = after.schemas
    this.#origins = origins
  }

  /** Compares schemas by their names in the plans; undefined: everything fits. */
  compare(before: string | undefined, after: string | undefined): readonly SchemaChange[] {
    const key = `${before} ${after}`
    let found = this.#known.get(key)
    if (found === undefined) {
      const walk = new Walk(this.#before, this.#after, this.#origins)
      found = walk.compare(located(before), located(after))
      this.#known.set(key, found)
    }
    return found
  }
}

function located(name: string | undefined): Located {
  return { schema: name === undefined ? true : { $ref: name }, resource: "" }
}

const visitsMax = 50_000
const referencesMax = 100

/** Walks two schemas together. `sense` says whether a wider part makes the whole wider or narrower (`not`). */
class Walk {
  readonly #tables: { readonly before: PlanBody["schemas"]; readonly after: PlanBody["schemas"] }
  readonly #origins: Origins
  readonly #found: SchemaChange[] = []
  /** Pairs of named schemas that were compared: each is reported once, and cycles end. */
  readonly #seen = new Set<string>()
  #visits = 0

  constructor(before: PlanBody["schemas"], after: PlanBody["schemas"], origins: Origins) {
    this.#tables = { before, after }
    this.#origins = origins
  }

  compare(before: Located, after: Located): readonly SchemaChange[] {
    this.#schemas(before, after, "#", "along")
    return this.#found
  }

  #add(effect: Effect, pointer: string, words: string, sense: Sense): void {
    const turned = effect === "narrower" ? "wider" : effect === "wider" ? "narrower" : "other"
    const meant = sense === "along" ? effect : sense === "against" ? turned : "other"
    this.#found.push({ effect: meant, pointer, words })
  }

  /** Compares two schemas. Equal ones end at once; their names are digests, so most do. */
  #schemas(first: Located, second: Located, at: string, sense: Sense): void {
    if (++this.#visits > visitsMax) {
      if (this.#visits === visitsMax + 1) this.#add("other", at, "the comparison stopped at its limit", sense)
      return
    }
    const [before, after] = [this.#opened(first, "before"), this.#opened(second, "after")]
    if (before.resource === after.resource || !hasOwnReferences(before.schema))
      if (same(before.schema, after.schema)) return
    if (before.name !== undefined && after.name !== undefined) {
      const pair = `${before.name} ${after.name} ${sense}`
      if (this.#seen.has(pair)) return
      this.#seen.add(pair)
    }
    const place = after.name === undefined ? undefined : ownOf(this.#origins, `schemas.${after.name}`)
    const pointer = place === undefined ? at : place.includes("#") ? place : `${place}#`
    if (before.schema === false) {
      this.#add("wider", pointer, "it was not allowed before", sense)
      return
    }
    if (after.schema === false) {
      this.#add("narrower", pointer, "it is no longer allowed", sense)
      return
    }
    const plain = { before: withKeywords(before), after: withKeywords(after) }
    const sides = {
      before: asListOfOne(plain.before, plain.after),
      after: asListOfOne(plain.after, plain.before),
    }
    new Level(sides, pointer, sense, {
      add: (...change) => this.#add(...change),
      schemas: (...pair) => this.#schemas(...pair),
      opened: (schema, side) => this.#opened(schema, side),
    }).compare()
  }

  /**
   * Follows a schema that is only a reference, or a list of one schema. `name`: that of the last schema on the way that has one in the
   * plan.
   */
  #opened({ schema, resource }: Located, side: "before" | "after"): Located & { readonly name?: string } {
    let at: Located & { readonly name?: string } = { schema, resource }
    for (let steps = 0; steps < referencesMax; steps += 1) {
      if (typeof at.schema === "boolean") return at
      const words = Object.keys(at.schema).filter((word) => word !== "$defs")
      const [only] = words
      const value = only === undefined ? undefined : at.schema[only]
      if (words.length !== 1) return at
      if (only === "$ref") at = this.#target(value as string, at.resource, side)
      else if ((only === "allOf" || only === "anyOf") && (value as ValueSchema[]).length === 1)
        at = { ...at, schema: (value as [ValueSchema])[0] }
      else return at
    }
    return at
  }

  /** The target of a reference, which may be a member of a resource. */
  #target(
    reference: string,
    resource: string,
    side: "before" | "after",
  ): Located & { readonly name: string } {
    const name = reference.startsWith("#") ? `${resource}${reference}` : reference
    const [digest = "", member] = name.split("#/$defs/")
    const whole = ownOf(this.#tables[side], digest)
    if (member === undefined || typeof whole !== "object")
      return { schema: whole ?? true, resource: digest, name }
    const members = whole["$defs"] as Readonly<Record<string, ValueSchema>>
    return { schema: ownOf(members, member) ?? true, resource: digest, name }
  }
}

function withKeywords({ schema, resource }: Located): Side {
  return { schema: typeof schema === "boolean" ? {} : schema, resource }
}

/** Treats a schema as a list with one entry if the other side is only a list: `$ref` became `anyOf` with `null`. */
function asListOfOne(side: Side, other: Side): Side {
  const [only, second] = Object.keys(other.schema).filter((word) => word !== "$defs")
  const isList = only === "allOf" || only === "anyOf" || only === "oneOf"
  if (!isList || second !== undefined || only in side.schema) return side
  return { ...side, schema: { [only]: [side.schema] } }
}

function hasOwnReferences(schema: ValueSchema): boolean {
  return JSON.stringify(schema).includes('"#/$defs/')
}

interface Side {
  readonly schema: Keywords
  readonly resource: string
}

interface Visitor {
  add(effect: Effect, pointer: string, words: string, sense: Sense): void
  schemas(before: Located, after: Located, pointer: string, sense: Sense): void
  opened(schema: Located, side: "before" | "after"): Located
}

/** Keywords for everything that no other keyword at their place names, and those other keywords. */
const counting = ["unevaluatedProperties", "unevaluatedItems"]
const counted = [
  ...["allOf", "anyOf", "oneOf", "$ref", "not", "if", "then", "else", "dependentSchemas"],
  ...["additionalProperties", "patternProperties", "propertyNames", "items", "prefixItems", "contains"],
  ...["minContains", "maxContains"],
]

/** Two schemas with keywords at one place. Every keyword must hold, so if one becomes narrower, the whole schema does. */
class Level {
  readonly #before: Side
  readonly #after: Side
  readonly #at: string
  readonly #visitor: Visitor
  readonly #sense: Sense
  /** `unevaluated…` depends on what other keywords at this place name: a difference in those can make it both wider and narrower. */
  readonly #counts: boolean

  constructor({ before, after }: { before: Side; after: Side }, at: string, sense: Sense, visitor: Visitor) {
    this.#before = before
    this.#after = after
    this.#at = at
    this.#visitor = visitor
    this.#sense = sense
    this.#counts = [before, after].some(({ schema }) => counting.some((word) => word in schema))
  }

  /** Compares all keywords of a schema. */
  compare(): void {
    const [before, after] = [this.#before.schema, this.#after.schema]
    for (const { effect, keyword, words } of assertionChanges(before, after))
      this.#add(effect, keyword, words)
    if (this.#counts) {
      this.#named("properties")
      this.#counted()
    } else {
      this.#object()
      this.#array()
      this.#logic()
    }
    for (const word of counting) this.#value(word)
  }

  #counted(): void {
    for (const word of counted)
      if (!same(this.#before.schema[word], this.#after.schema[word]) || this.#isOwn(word))
        this.#add("other", word, "other properties or items count as declared")
  }

  #add(effect: Effect, keyword: string, words: string): void {
    this.#visitor.add(effect, `${this.#at}/${keyword}`, words, this.#sense)
  }

  /** Compares the subschema at a keyword. A missing keyword accepts everything. */
  #value(keyword: string, sense: Sense = this.#sense): void {
    this.#pair(this.#before.schema[keyword], this.#after.schema[keyword], keyword, sense)
  }

  /** Compares two schemas under one keyword; a missing one accepts everything. */
  #pair(before: unknown, after: unknown, keyword: string, sense = this.#sense): void {
    if (before === undefined && after === undefined) return
    this.#visitor.schemas(
      { ...this.#before, schema: (before ?? true) as ValueSchema },
      { ...this.#after, schema: (after ?? true) as ValueSchema },
      `${this.#at}/${keyword}`,
      sense,
    )
  }

  #maps(keyword: string): [Readonly<Record<string, unknown>>, Readonly<Record<string, unknown>>] {
    const of = ({ schema }: Side) => (schema[keyword] ?? {}) as Readonly<Record<string, unknown>>
    return [of(this.#before), of(this.#after)]
  }

  /** Keywords of objects. */
  #object(): void {
    this.#named("properties")
    this.#named("patternProperties")
    this.#value("additionalProperties")
    this.#value("propertyNames")
    const [old, next] = this.#maps("dependentSchemas")
    for (const name of namesOf(old, next))
      this.#pair(ownOf(old, name), ownOf(next, name), `dependentSchemas/${escaped(name)}`)
  }

  /** A property that only one side names is an additional property on the other side, unless a pattern matches it. */
  #named(keyword: "properties" | "patternProperties"): void {
    const [old, next] = this.#maps(keyword)
    const missing = (side: Side): unknown => {
      const others = side.schema["additionalProperties"] ?? true
      const free = others === true || (keyword === "properties" && !("patternProperties" in side.schema))
      return free ? others : undefined
    }
    for (const name of namesOf(old, next)) {
      const before = ownOf(old, name) ?? missing(this.#before)
      const after = ownOf(next, name) ?? missing(this.#after)
      const place = `${keyword}/${escaped(name)}`
      const alone = ownOf(old, name) === undefined || ownOf(next, name) === undefined
      if (before === undefined || after === undefined) this.#add("other", place, "other rules apply to it")
      else if (alone && this.#counts) this.#add("other", place, "another property counts as declared")
      else this.#pair(before, after, place)
    }
  }

  /** Keywords of arrays. */
  #array(): void {
    const [before, after] = [this.#before.schema, this.#after.schema]
    const of = (schema: Keywords) => (schema["prefixItems"] ?? []) as readonly unknown[]
    const [old, next] = [of(before), of(after)]
    for (let at = 0; at < Math.max(old.length, next.length); at += 1)
      this.#pair(old[at] ?? before["items"] ?? true, next[at] ?? after["items"] ?? true, `prefixItems/${at}`)
    this.#value("items")
    this.#contains()
  }

  /** `contains` with its bounds. */
  #contains(): void {
    const words = [
      "an item that matches `contains` is required",
      "an item that matches `contains` is no longer required",
    ] as const
    if (!this.#onBothSides("contains", words)) return
    const [before, after] = [this.#before.schema, this.#after.schema]
    const counts = ["minContains", "maxContains"].filter((word) => !same(before[word], after[word]))
    for (const word of counts) this.#add("other", word, "another number of items must match `contains`")
    // If fewer items match `contains`, more arrays satisfy `maxContains`.
    const isBounded = "maxContains" in before || "maxContains" in after
    this.#value("contains", isBounded ? "unknown" : this.#sense)
  }

  /** Whether both sides have a keyword. Reports it if only one has it. */
  #onBothSides(keyword: string, [come, gone]: readonly [come: string, gone: string]): boolean {
    const [old, next] = [this.#before.schema[keyword], this.#after.schema[keyword]]
    if (old === undefined && next !== undefined) this.#add("narrower", keyword, come)
    if (old !== undefined && next === undefined) this.#add("wider", keyword, gone)
    return old !== undefined && next !== undefined
  }

  /** Keywords that combine schemas. */
  #logic(): void {
    this.#lists(
      "allOf",
      "narrower",
      "values must also match another schema",
      "values no longer have to match a schema",
    )
    this.#lists("anyOf", "wider", "another alternative is valid", "some values are no longer allowed")
    this.#oneOf()
    this.#negation()
    this.#conditional()
  }

  #listOf(side: Side, keyword: string): Located[] {
    const list = ((side.schema[keyword] ?? []) as ValueSchema[]).map((schema) => ({ ...side, schema }))
    const { $ref } = side.schema
    return keyword === "allOf" && $ref !== undefined ? [...list, { ...side, schema: { $ref } }] : list
  }

  /** Pairs equal members first, then the others in order. `added`: the effect of an additional member. */
  #lists(
    keyword: "allOf" | "anyOf" | "oneOf",
    added: "narrower" | "wider",
    come: string,
    gone: string,
  ): void {
    const [old, next] = [this.#listOf(this.#before, keyword), this.#listOf(this.#after, keyword)]
    const removed = added === "wider" ? "narrower" : "wider"
    if (keyword !== "allOf" && (old.length === 0 || next.length === 0)) {
      if (next.length > 0) this.#add("narrower", keyword, "values must match one of several schemas")
      if (old.length > 0) this.#add("wider", keyword, "values no longer have to match one of several schemas")
      return
    }
    const isIn = (list: readonly Located[], { schema, resource }: Located) =>
      list.some(
        (each) => same(each.schema, schema) && (each.resource === resource || !hasOwnReferences(each.schema)),
      )
    const left = old.map((each, at) => ({ each, at })).filter(({ each }) => !isIn(next, each))
    const right = next.map((each, at) => ({ each, at })).filter(({ each }) => !isIn(old, each))
    left.forEach(({ each }, index) => {
      const other = right[index]
      if (other === undefined) this.#add(removed, keyword, gone)
      else this.#visitor.schemas(each, other.each, `${this.#at}/${keyword}/${other.at}`, this.#sense)
    })
    for (const { at } of right.slice(left.length)) this.#add(added, `${keyword}/${at}`, come)
  }

  /** If no value fits two members, `oneOf` behaves like `anyOf`. */
  #oneOf(): void {
    const sides = (["before", "after"] as const).map((side) =>
      this.#listOf(side === "before" ? this.#before : this.#after, "oneOf").map((each) =>
        this.#visitor.opened(each, side),
      ),
    )
    if (sides.every((list) => disjoint(list.map(({ schema }) => schema))))
      this.#lists("oneOf", "wider", "another alternative is valid", "some values are no longer allowed")
    else if (!same(this.#before.schema["oneOf"], this.#after.schema["oneOf"]) || this.#isOwn("oneOf"))
      this.#add("other", "oneOf", "other alternatives exclude each other")
  }

  #negation(): void {
    const sense = this.#sense === "along" ? "against" : this.#sense === "against" ? "along" : "unknown"
    const words = ["some values are no longer valid", "some values are valid again"] as const
    if (this.#onBothSides("not", words)) this.#value("not", sense)
  }

  /** `if`, `then` and `else`. */
  #conditional(): void {
    const words = [
      "some values must also match another schema",
      "values no longer have to match another schema",
    ] as const
    if (!this.#onBothSides("if", words)) return
    if (same(this.#before.schema["if"], this.#after.schema["if"]) && !this.#isOwn("if")) {
      this.#value("then")
      this.#value("else")
    } else this.#add("other", "if", "another schema applies to other values")
  }

  /** Whether equal text can differ in meaning, because it refers to schemas of another resource. */
  #isOwn(keyword: string): boolean {
    const { resource, schema } = this.#before
    return resource !== this.#after.resource && JSON.stringify(schema[keyword] ?? "").includes('"#/$defs/')
  }
}

function namesOf(...tables: readonly object[]): string[] {
  return [...new Set(tables.flatMap((table) => Object.keys(table)))].sort()
}

/** Escapes a name for a JSON pointer (RFC 6901 section 3). */
function escaped(name: string): string {
  return name.replaceAll("~", "~0").replaceAll("/", "~1")
}

/**
 * Whether no value fits two of the schemas, as far as it follows from their types, or from the values of a property that all require.
 * References are not followed.
 */
function disjoint(schemas: readonly ValueSchema[]): boolean {
  return schemas.every((one, at) => schemas.slice(at + 1).every((other) => areDisjoint(one, other)))
}

function areDisjoint(one: ValueSchema, other: ValueSchema): boolean {
  if (typeof one === "boolean" || typeof other === "boolean") return one === false || other === false
  return byTypes(one, other) || byValues(one, other) || byProperty(one, other)
}

function byTypes(one: Keywords, other: Keywords): boolean {
  const typesOf = ({ type }: Keywords) => (type === undefined ? undefined : ([type].flat() as string[]))
  const [first, second] = [typesOf(one), typesOf(other)]
  if (first === undefined || second === undefined) return false
  const group = (type: string) => (type === "integer" ? "number" : type)
  return !first.some((type) => second.some((each) => group(each) === group(type)))
}

function byValues(one: Keywords, other: Keywords): boolean {
  const valuesOf = (schema: Keywords) =>
    "const" in schema ? [schema["const"]] : (schema["enum"] as unknown[] | undefined)
  const [first, second] = [valuesOf(one), valuesOf(other)]
  if (first === undefined || second === undefined) return false
  return !first.some((value) => second.some((each) => same(each, value)))
}

/** Recognizes a discriminator: a property that both require, with disjoint values. */
function byProperty(one: Keywords, other: Keywords): boolean {
  if (one["type"] !== "object" || other["type"] !== "object") return false
  const required = ({ required }: Keywords) => (required ?? []) as readonly string[]
  const propertyOf = ({ properties }: Keywords, name: string): ValueSchema | undefined =>
    properties !== undefined && Object.hasOwn(properties as object, name)
      ? (properties as Record<string, ValueSchema>)[name]
      : undefined
  return required(one).some((name) => {
    const [first, second] = [propertyOf(one, name), propertyOf(other, name)]
    if (!required(other).includes(name) || typeof first !== "object" || typeof second !== "object")
      return false
    return byTypes(first, second) || byValues(first, second)
  })
}
