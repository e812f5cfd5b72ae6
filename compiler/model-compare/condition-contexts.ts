import { type CompiledCondition, compileCondition } from "../../runtime/expression/condition.ts"
import { Literals } from "../../runtime/expression/literals.ts"
import type { ConditionChange } from "../../runtime/model/model-pair.ts"
import type { Condition, ModelPlan } from "../../runtime/plan/authorization-model.ts"
import type { AccessExample, ExampleTuple } from "./example.ts"

/** Contexts that are tried for one condition. */
const contextsMax = 5_000
/** Values that are tried for one parameter. */
const valuesMax = 40

type Context = Readonly<Record<string, unknown>>
type ParameterType = NonNullable<Condition["parameters"]>[string]

/**
 * Finds contexts under which the conditions of an example are true, by trying values near those that the expressions name. A condition that
 * the two models define differently may have to be true in one of them only.
 */
export class ConditionContexts {
  readonly #models: readonly [ModelPlan, ModelPlan]
  readonly #found = new Map<string, Context | undefined>()

  constructor(before: ModelPlan, after: ModelPlan) {
    this.#models = [before, after]
  }

  /** The example with a context for each condition; undefined when no tried context fits one of them. */
  withContexts(example: AccessExample): AccessExample | undefined {
    const tuples: ExampleTuple[] = []
    for (const tuple of example.tuples) {
      const context =
        tuple.condition === undefined ? undefined : this.#contextFor(tuple.condition, tuple.onlyIn)
      if (tuple.condition !== undefined && context === undefined) return undefined
      tuples.push(context === undefined ? tuple : { ...tuple, context })
    }
    return { ...example, tuples }
  }

  /** In which model alone the condition is true under a known context. */
  changeOf(name: string): ConditionChange | "same" {
    const [old, next] = [this.#contextFor(name, "old"), this.#contextFor(name, "new")]
    if (old === undefined) return next === undefined ? "same" : "wider"
    return next === undefined ? "narrower" : "other"
  }

  #contextFor(name: string, onlyIn: ExampleTuple["onlyIn"]): Context | undefined {
    const key = `${name} ${onlyIn}`
    if (!this.#found.has(key)) this.#found.set(key, this.#search(name, onlyIn))
    return this.#found.get(key)
  }

  #search(name: string, onlyIn: ExampleTuple["onlyIn"]): Context | undefined {
    const [old, next] = this.#models.map(({ model }) => model.conditions?.[name])
    const [was, is] = [old && compiled(old), next && compiled(next)]
    const fits = (context: Context): boolean => {
      // A tuple of a condition that a model does not have counts in the other model only.
      const [before, after] = [was?.evaluate({ stored: context }), is?.evaluate({ stored: context })]
      if (onlyIn === "old") return before === true && after === false
      if (onlyIn === "new") return before === false && after === true
      return (before ?? true) === true && (after ?? true) === true
    }
    const known = [old, next].filter((each) => each !== undefined)
    const used = new Set([was, is].flatMap((each) => each?.used ?? []))
    for (const context of contextsOf(known, [...used].sort())) if (fits(context)) return context
    return undefined
  }
}

/** Undefined: it does not compile, which a validated model's does. */
function compiled(condition: Condition): CompiledCondition | undefined {
  const made = compileCondition(condition)
  return made.ok ? made.condition : undefined
}

/** Combinations of values of the parameters, those that differ from the first values in few parameters early. */
function* contextsOf(conditions: readonly Condition[], names: readonly string[]): Iterable<Context> {
  const words = new Literals()
  for (const { expression } of conditions) words.add(expression)
  const values = names.map((name) => {
    const declared = conditions.flatMap(({ parameters }) => parameters?.[name] ?? [])
    return unique(declared.flatMap((type) => valuesOf(type, words))).slice(0, valuesMax)
  })
  if (values.some((each) => each.length === 0)) return
  const chosen = values.map(() => 0)
  for (let left = contextsMax; left > 0; left--) {
    yield Object.fromEntries(names.map((name, at) => [name, values[at]?.[chosen[at] ?? 0]]))
    let at = 0
    for (; at < chosen.length; at++) {
      chosen[at] = ((chosen[at] ?? 0) + 1) % (values[at]?.length ?? 1)
      if (chosen[at] !== 0) break
    }
    if (at === chosen.length) return
  }
}

const unique = (values: readonly unknown[]): unknown[] => [
  ...new Map(values.map((value) => [JSON.stringify(value), value])).values(),
]

/** Values for a parameter, as JSON. */
function valuesOf(
  { type_name: type, generic_types: generics = [] }: ParameterType,
  words: Literals,
): unknown[] {
  const texts = [...words.texts]
  switch (type) {
    case "TYPE_NAME_BOOL":
      return [true, false]
    case "TYPE_NAME_STRING":
      return [...texts, "a", ""]
    case "TYPE_NAME_INT":
    case "TYPE_NAME_UINT":
      return integersNear(words)
        .filter((value) => type === "TYPE_NAME_INT" || value >= 0n)
        .map(jsonInteger)
    case "TYPE_NAME_DOUBLE":
      return [...words.doubles, ...[...words.integers].map(Number), 0].flatMap((at) => [
        at,
        at - 0.5,
        at + 0.5,
      ])
    case "TYPE_NAME_TIMESTAMP":
      return [...texts.flatMap(timesNear), ...["2020-01-01T00:00:00Z", "2030-01-01T00:00:00Z"]]
    case "TYPE_NAME_DURATION":
      return [...texts.filter((text) => /^-?\d[\d.a-zµ]*$/.test(text)), "1s", "0s", "1h", "100000h"]
    case "TYPE_NAME_IPADDRESS":
      return [...texts.flatMap(addressesOf), "192.0.2.1", "2001:db8::1"]
    case "TYPE_NAME_LIST": {
      const elements = generics.flatMap((each) => valuesOf(each, words))
      return [elements.slice(0, valuesMax), [], ...elements.map((each) => [each])]
    }
    case "TYPE_NAME_MAP":
      return mapsOf(
        generics.flatMap((each) => valuesOf(each, words)),
        words,
      )
    default:
      return [...texts, ...integersNear(words).map(jsonInteger), ...words.doubles, true, false, {}]
  }
}

function integersNear({ integers }: Literals): bigint[] {
  return [...integers, 0n].flatMap((at) => [at, at - 1n, at + 1n])
}

/** Beyond 2^53 only a text is exact. */
function jsonInteger(value: bigint): number | string {
  const number = Number(value)
  return Number.isSafeInteger(number) ? number : String(value)
}

function timesNear(text: string): string[] {
  const at = /^\d{4}-/.test(text) ? Date.parse(text) : Number.NaN
  if (Number.isNaN(at)) return []
  const other = [at - 1_000, at + 1_000].map((ms) => new Date(ms).toISOString())
  return [text, ...other]
}

/** An address, or the first one of a network. */
function addressesOf(text: string): string[] {
  const [address = ""] = text.split("/")
  return /^[\d.]+$|^[\da-f:]*:[\da-f:.]*$/i.test(address) ? [address] : []
}

/** Maps with one value under all names, and under each of them. */
function mapsOf(values: readonly unknown[], { texts, fields }: Literals): unknown[] {
  const names = [...fields, ...texts]
  const all = values.map((value) => Object.fromEntries(names.map((name) => [name, value])))
  return [...all, {}, ...names.flatMap((name) => values.map((value) => ({ [name]: value })))]
}
