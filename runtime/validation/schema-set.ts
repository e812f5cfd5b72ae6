import { Ajv2020, type ErrorObject, type ValidateFunction } from "ajv/dist/2020.js"
import type { DataValidateFunction } from "ajv/dist/types/index.js"
import type { ValueSchema } from "../plan/value-schema.ts"
import { countedKeyword, deferred, deferredKeyword } from "./deferred.ts"
import { addKnownFormats } from "./formats.ts"
import { measure } from "./measure.ts"
import { linearPattern } from "./pattern.ts"
import { type Shape, shapeOf } from "./shape.ts"
import { hasRepetition } from "./unique-items.ts"
import { type Violation, violationOf } from "./violation.ts"

/** A compiled schema. */
export interface Validator {
  /** What is wrong with a value, at most `violationsMax`; none when it fits. */
  validate(value: unknown): readonly Violation[]
  /** Types the schema has a place for: what text is to be read as where a message has nothing but text. */
  readonly shape: Shape
}

const violationsMax = 100
/** Calls of schemas for one value: alternatives that refer to themselves double with each level of the value. */
const calls = { least: 5_000, perValue: 64, most: 500_000 }

/**
 * The schemas of a plan, compiled by ajv. Compiling makes functions out of text (`new Function`); what is in the text comes from `ValueSchema` alone, whose keywords
 * are a fixed list, and ajv quotes what they hold. Patterns run in linear time. @throws Error for a schema that can't be compiled.
 */
export class SchemaSet {
  readonly #schemas: Readonly<Record<string, ValueSchema>>
  readonly #ajv: Ajv2020
  readonly #validators = new Map<string, Validator>()
  /** Names of all schemas and members of circles, each after those it refers to. */
  readonly #names: readonly string[]
  #next = 0
  #callsLeft = 0

  /** What `previous` has compiled is taken over: a name stands for one content. */
  constructor(schemas: Readonly<Record<string, ValueSchema>>, previous?: SchemaSet) {
    this.#schemas = schemas
    this.#ajv = this.#createAjv()
    const order = inOrder(schemas)
    for (const name of order) this.#ajv.addSchema(deferred(schemas[name] as ValueSchema, name), name)
    this.#names = order.flatMap((name) => [
      name,
      ...membersOf(schemas[name]).map((member) => `${name}#/$defs/${member}`),
    ])
    if (previous === undefined) return
    for (const name of this.#names) {
      const known = previous.#validators.get(name)
      if (known !== undefined) this.#validators.set(name, known)
    }
  }

  /** Compiles the next schema, so that no step is longer than one of them; false when all are done. @throws Error with its name when it can't be compiled. */
  compileNext(): boolean {
    const name = this.#names[this.#next]
    if (name === undefined) return false
    this.#next += 1
    this.get(name)
    return true
  }

  /** The validator of a schema, by its name in the plan. */
  get(name: string): Validator {
    let known = this.#validators.get(name)
    if (known === undefined) {
      const compiled = this.#compiledOf(name)
      const shape = shapeOf(this.#schemas, name)
      known = { validate: (value) => this.#judge(compiled, value), shape }
      this.#validators.set(name, known)
    }
    return known
  }

  #compiledOf(name: string): ValidateFunction {
    try {
      const compiled = this.#ajv.getSchema(name)
      if (compiled !== undefined) return compiled
    } catch (error) {
      throw new Error(`the schema \`${name}\` can't be compiled: ${(error as Error).message}`)
    }
    throw new Error(`there is no schema \`${name}\``)
  }

  #judge(compiled: ValidateFunction, value: unknown): readonly Violation[] {
    const count = measure(value)
    if (typeof count === "string") return [{ pointer: "", message: count }]
    this.#callsLeft = Math.min(calls.most, calls.least + calls.perValue * count)
    try {
      if (compiled(value) === true) return []
    } catch (error) {
      if (error instanceof TooComplex) return [{ pointer: "", message: "is too complex to be judged" }]
      throw error
    }
    return (compiled.errors ?? []).slice(0, violationsMax).map((error: ErrorObject) => violationOf(error))
  }

  #createAjv(): Ajv2020 {
    const ajv = new Ajv2020({
      strict: false,
      allErrors: true,
      inlineRefs: false,
      ownProperties: true,
      validateSchema: false,
      meta: false,
      logger: false,
      multipleOfPrecision: 9,
      code: { regExp: Object.assign(linearPattern as never, { code: "linearPattern" }) },
    })
    addKnownFormats(ajv)
    // ajv compares each object of a list with all others.
    ajv.removeKeyword("uniqueItems")
    ajv.addKeyword({
      keyword: "uniqueItems",
      type: "array",
      validate: (wanted: boolean, items: readonly unknown[]) => !wanted || !hasRepetition(items),
    })
    ajv.addKeyword({
      keyword: deferredKeyword,
      schemaType: "string",
      errors: "full",
      compile: (name: string) => {
        let target: ValidateFunction | undefined
        const follow: DataValidateFunction = (value, context) => {
          target ??= this.#compiledOf(name)
          const fits = target(value, context) as boolean
          if (!fits && target.errors) follow.errors = target.errors
          return fits
        }
        return follow
      },
    })
    ajv.addKeyword({
      keyword: countedKeyword,
      validate: () => {
        this.#callsLeft -= 1
        if (this.#callsLeft < 0) throw new TooComplex()
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

/** Names of the schemas, each after those it refers to. With an own stack: chains of references may be long. */
function inOrder(schemas: Readonly<Record<string, ValueSchema>>): string[] {
  const done = new Set<string>()
  const order: string[] = []
  for (const start of Object.keys(schemas)) {
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

/** Names of the other schemas that a schema refers to. */
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
