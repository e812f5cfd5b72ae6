import {
  _,
  Ajv2020,
  type ErrorObject,
  type Format,
  type KeywordCxt,
  str,
  type ValidateFunction,
} from "ajv/dist/2020.js"
import formats from "ajv-formats"
import { PatternWorkError, type SearchBudget } from "../pattern/run-program.ts"
import { canonicalJson } from "../plan/canonical.ts"
import { registeredFormats, textFormats, type ValueSchema } from "../plan/value-schema.ts"
import { countedKeyword, deferred } from "./deferred.ts"
import { schemaPattern } from "./pattern.ts"
import { addPieceKeywords } from "./piece-keywords.ts"
import { Cutter, pieceMark, usesAnnotations } from "./pieces.ts"
import { type SchemaShape, shapeOf } from "./shape.ts"
import { type Violation, violationOf } from "./violation.ts"

/** A compiled schema. */
export interface Validator {
  /** The violations of a value, at most `violationsMax`; empty if it is valid. */
  validate(value: unknown): readonly Violation[]
  /** The types that the schema allows: how to convert text from messages that contain only text. */
  readonly shape: SchemaShape
}

const violationsMax = 100
const schemasPerSlice = 50
/** Limit on schema calls for one value: the calls of alternatives that refer to themselves double with each level of the value. */
const calls = { least: 5_000, perValue: 64, most: 500_000 }
/** Longer texts match none of these formats: some of their patterns take time quadratic in the text. */
const formatCharactersMax = 2048
/** Formats of OpenAPI's registry: numbers, and texts of any length. */
const otherFormats = [...registeredFormats, "float", "double", "password", "binary"] as const
const depthMax = 100
const valuesMax = 200_000

/**
 * ajv records the properties matched by `patternProperties` in the annotations of an adjacent `$ref`. It does not check whether the `$ref` failed and
 * has no annotations, and throws a TypeError (ajv 8.20).
 */
function withNotes(code: string): string {
  return code.replace(/\b(props\d+)\[(key\d+)\] = true;/g, "if ($1 !== true) ($1 ??= {})[$2] = true;")
}

/** Limit on pattern steps for one value, of about 25 ns each: they block the process. */
const patternStepsMax = 600_000

/**
 * The schemas of a plan, compiled by ajv. ajv generates code (`new Function`). The generated text depends only on `ValueSchema`, whose keywords are a
 * fixed list, and ajv quotes their values. Patterns run with a step limit. @throws Error for a schema that cannot be compiled.
 */
export class SchemaSet {
  readonly #schemas: Readonly<Record<string, ValueSchema>>
  readonly #ajv: Ajv2020
  readonly #compiled = new Map<string, ValidateFunction>()
  readonly #validators = new Map<string, Validator>()
  readonly #known = new Set<string>()
  /** Shared with the schemas taken from `previous`, which count by it as well. */
  readonly #calls: { left: number }
  readonly #patternWork: SearchBudget
  readonly #work: Generator<undefined, void>

  /** Reuses what `previous` has compiled: equal names mean equal content. */
  constructor(schemas: Readonly<Record<string, ValueSchema>>, previous?: SchemaSet) {
    this.#schemas = schemas
    this.#calls = previous === undefined ? { left: 0 } : previous.#calls
    this.#patternWork = previous === undefined ? { stepsLeft: 0 } : previous.#patternWork
    this.#ajv = this.#createAjv()
    this.#work = this.#prepare(previous)
  }

  /** Does the next unit of work, some milliseconds; false if all is done. @throws Error with the name of a schema that cannot be compiled. */
  compileNext(): boolean {
    return this.#work.next().done !== true
  }

  /** The validator of a schema, by its name in the plan. */
  get(name: string): Validator {
    while (this.compileNext());
    return this.#validators.get(name) ?? this.#validatorOf(name)
  }

  #validatorOf(name: string): Validator {
    const compiled = this.#compiledOf(name)
    const shape = shapeOf(this.#schemas, name)
    const made = { validate: (value: unknown) => this.#judge(compiled, value), shape }
    this.#validators.set(name, made)
    return made
  }

  /** Splits all schemas, then compiles the pieces, referenced ones first. */
  *#prepare(previous: SchemaSet | undefined): Generator<undefined, void> {
    const pieces: string[] = []
    const add = (name: string, schema: ValueSchema): void => {
      if (this.#known.has(name)) return
      this.#known.add(name)
      this.#ajv.addSchema(schema, name)
      pieces.push(name)
    }
    let seen = false
    for (const [index, schema] of Object.values(this.#schemas).entries()) {
      seen = (yield* usesAnnotations(schema)) || seen
      if (index % schemasPerSlice === 0) yield
    }
    // Without this option ajv records no annotations. Its code for annotations throws with some `patternProperties` (8.x).
    this.#ajv.opts.unevaluated = seen
    const cutter = new Cutter(add, !seen)
    const order = yield* inOrder(this.#schemas)
    yield
    for (const name of order) {
      const schema = yield* deferred(this.#schemas[name] as ValueSchema, name)
      const made = yield* this.#cut(cutter, schema)
      add(name, made)
      for (const member of membersOf(made)) pieces.push(`${name}#/$defs/${member}`)
      yield
    }
    for (const name of pieces) {
      const known = previous === undefined ? undefined : previous.#compiled.get(name)
      if (known !== undefined) this.#compiled.set(name, known)
      const judged = previous === undefined ? undefined : previous.#validators.get(name)
      if (known !== undefined && judged !== undefined) this.#validators.set(name, judged)
      else if (name.startsWith(pieceMark)) this.#compiledOf(name)
      else this.#validatorOf(name)
      yield
    }
  }

  /** Members of a cycle are split one by one: they are compiled under their own names. */
  *#cut(cutter: Cutter, schema: ValueSchema): Generator<undefined, ValueSchema> {
    const members = membersOf(schema)
    if (members.length === 0) return yield* cutter.cut(schema)
    const { $defs, ...own } = schema as { readonly $defs: Record<string, ValueSchema> }
    const made: [string, ValueSchema][] = []
    for (const member of members) made.push([member, yield* cutter.cut($defs[member] as ValueSchema)])
    return { ...own, $defs: Object.fromEntries(made) }
  }

  #compiledOf(name: string): ValidateFunction {
    const known = this.#compiled.get(name)
    if (known !== undefined) return known
    try {
      const compiled = this.#ajv.getSchema(name)
      if (compiled !== undefined) {
        this.#compiled.set(name, compiled)
        return compiled
      }
    } catch (error) {
      throw new Error(`the schema \`${name}\` can't be compiled: ${(error as Error).message}`)
    }
    throw new Error(`there is no schema \`${name}\``)
  }

  #judge(compiled: ValidateFunction, value: unknown): readonly Violation[] {
    const count = measure(value)
    if (typeof count === "string") return [{ pointer: "", message: count }]
    this.#patternWork.stepsLeft = patternStepsMax
    this.#calls.left = Math.min(calls.most, calls.least + calls.perValue * count)
    try {
      if (compiled(value) === true) return []
    } catch (error) {
      // A schema that only refers to itself overflows the stack.
      if (error instanceof TooComplex || error instanceof RangeError)
        return [{ pointer: "", message: "is too complex to be judged" }]
      if (error instanceof PatternWorkError)
        return [{ pointer: "", message: "has texts that take too long to compare with their patterns" }]
      throw error
    }
    return (compiled.errors ?? []).slice(0, violationsMax).map((error: ErrorObject) => violationOf(error))
  }

  #createAjv(): Ajv2020 {
    const compilePattern = (source: string) => schemaPattern(source, this.#patternWork)
    const ajv = new Ajv2020({
      strict: false,
      strictNumbers: true,
      allErrors: true,
      inlineRefs: false,
      ownProperties: true,
      validateSchema: false,
      meta: false,
      logger: false,
      multipleOfPrecision: 9,
      code: {
        optimize: false,
        regExp: Object.assign(compilePattern as never, { code: "compilePattern" }),
        process: withNotes,
      },
    })
    addKnownFormats(ajv)
    addLengths(ajv)
    // ajv would compare each object of a list with all others.
    ajv.removeKeyword("uniqueItems")
    ajv.addKeyword({
      keyword: "uniqueItems",
      type: "array",
      validate: (wanted: boolean, items: readonly unknown[]) => !wanted || !hasRepetition(items),
    })
    addPieceKeywords(ajv, (name) => this.#compiledOf(name))
    ajv.addKeyword({
      keyword: countedKeyword,
      validate: () => {
        this.#calls.left -= 1
        if (this.#calls.left < 0) throw new TooComplex()
        return true
      },
    })
    return ajv
  }
}

class TooComplex extends Error {}

function membersOf(schema: ValueSchema | undefined): string[] {
  return typeof schema === "object" ? Object.keys(schema["$defs"] ?? {}) : []
}

/** Names of the schemas, referenced ones first. Uses its own stack, because chains of references can be long. Yields from time to time. */
function* inOrder(schemas: Readonly<Record<string, ValueSchema>>): Generator<undefined, string[]> {
  const done = new Set<string>()
  const order: string[] = []
  for (const [index, start] of Object.keys(schemas).entries()) {
    if (index % schemasPerSlice === 0) yield
    const way = [{ name: start, left: referencesOf(schemas[start]) }]
    const entered = new Set([start])
    for (let top = way.at(-1); top !== undefined; top = way.at(-1)) {
      const next = top.left.pop()
      if (next === undefined) {
        way.pop()
        if (!done.has(top.name)) order.push(top.name)
        done.add(top.name)
      } else if (!done.has(next) && !entered.has(next) && Object.hasOwn(schemas, next)) {
        entered.add(next)
        way.push({ name: next, left: referencesOf(schemas[next]) })
      }
    }
  }
  return order
}

/** Names of other schemas that a schema references. */
function referencesOf(schema: unknown): string[] {
  const names = new Set<string>()
  const left = [schema]
  for (let node = left.pop(); node !== undefined; node = left.pop()) {
    if (typeof node !== "object" || node === null) continue
    for (const [key, value] of Object.entries(node)) {
      if (key === "$ref" && typeof value === "string" && !value.startsWith("#"))
        names.add(value.split("#", 1)[0] as string)
      else if (typeof value === "object" && value !== null) left.push(value)
    }
  }
  return [...names]
}

/** Adds the validated formats. ajv ignores all others. */
function addKnownFormats(ajv: Ajv2020): void {
  formats.default(ajv as never, { mode: "full", formats: [...textFormats, ...otherFormats] })
  for (const name of textFormats) {
    const fits = testOf(ajv.formats[name] as Format)
    ajv.addFormat(name, (text: string) => text.length <= formatCharactersMax && fits(text))
  }
  // ajv accepts any whole number. The largest 64-bit integer is not representable: it reads as 2^63.
  ajv.addFormat("int64", {
    type: "number",
    validate: (value: number) => Number.isInteger(value) && Math.abs(value) <= 2 ** 63,
  })
}

function testOf(format: Format): (text: string) => boolean {
  if (format instanceof RegExp) return (text) => format.test(text)
  if (typeof format === "function") return format as (text: string) => boolean
  const validate = (format as { readonly validate: RegExp | ((text: string) => boolean) }).validate
  return validate instanceof RegExp ? (text) => validate.test(text) : validate
}

/** The number of values in a value, including itself; or why it is too complex to validate. */
function measure(value: unknown): number | string {
  const count = countOf(value, 0)
  if (Number.isNaN(count)) return `is nested deeper than ${depthMax}`
  return count > valuesMax ? `has more than ${valuesMax} values` : count
}

/** NaN if it is nested too deep. */
function countOf(value: unknown, depth: number): number {
  if (depth > depthMax) return Number.NaN
  if (typeof value !== "object" || value === null) return 1
  let count = 1
  if (Array.isArray(value)) for (const item of value) count += countOf(item, depth + 1)
  else
    for (const name in value) count += countOf((value as Readonly<Record<string, unknown>>)[name], depth + 1)
  return count
}

/**
 * `maxLength` and `minLength` count characters, not UTF-16 units (JSON Schema 2020-12 Validation §6.3). ajv iterates over each text for that. The number
 * of units usually suffices: a text has at most as many characters, and at least half as many.
 */
function addLengths(ajv: Ajv2020): void {
  for (const keyword of ["maxLength", "minLength"] as const) {
    ajv.removeKeyword(keyword)
    ajv.addKeyword({
      keyword,
      type: "string",
      schemaType: "number",
      error: {
        message: ({ schemaCode }) =>
          str`must NOT have ${keyword === "maxLength" ? "more" : "fewer"} than ${schemaCode} characters`,
        params: ({ schemaCode }) => _`{limit: ${schemaCode}}`,
      },
      code: (context) => judge(context, keyword),
    })
  }
}

function judge(context: KeywordCxt, keyword: "maxLength" | "minLength"): void {
  const { gen, data, schema } = context
  const limit = schema as number
  const count = gen.scopeValue("func", { ref: charactersOf })
  if (keyword === "maxLength") context.fail(_`${data}.length > ${limit} && ${count}(${data}) > ${limit}`)
  else context.fail(_`${data}.length < ${limit * 2} && ${count}(${data}) < ${limit}`)
}

/** An unpaired surrogate counts as one character. */
function charactersOf(text: string): number {
  let count = 0
  for (const _character of text) count += 1
  return count
}

/** Whether two items of a list are equal as JSON. Takes time linear in the list. */
function hasRepetition(items: readonly unknown[]): boolean {
  const seen = new Set<string>()
  for (const item of items) {
    const text = canonicalJson(item)
    if (seen.has(text)) return true
    seen.add(text)
  }
  return false
}
