import { canonicalJson } from "../../runtime/plan/canonical.ts"
import { registeredFormats, textFormats } from "../../runtime/plan/value-schema.ts"
import { same } from "./same.ts"

/** A schema with keywords, as in a plan. */
export type Keywords = { readonly [keyword: string]: unknown }

/** What a difference does to the set of valid values: smaller, larger, or possibly both. */
export type Effect = "narrower" | "wider" | "other"

/** One difference at a keyword. */
export interface AssertionChange {
  readonly effect: Effect
  readonly keyword: string
  readonly words: string
}

type Comparing = (before: Keywords, after: Keywords) => AssertionChange[]

/** The differences in keywords without subschemas. All keywords must hold, so each is compared separately. */
export function assertionChanges(before: Keywords, after: Keywords): AssertionChange[] {
  return comparisons.flatMap((compare) => compare(before, after))
}

const shownMax = 60

function shown(value: unknown): string {
  const text = JSON.stringify(value)
  return `\`${text.length > shownMax ? `${text.slice(0, shownMax)}…` : text}\``
}

function listed(values: readonly unknown[]): string {
  const [first, second, third, ...others] = values.map(shown)
  const named = [first, second, third].filter((each) => each !== undefined).join(", ")
  return others.length === 0 ? named : `${named} and ${others.length} more`
}

/** Compares sets of valid values: a removed value is no longer valid, an added one is now valid. */
function setChanges(keyword: string, old: readonly unknown[], next: readonly unknown[]): AssertionChange[] {
  const keysOf = (values: readonly unknown[]) => new Set(values.map((value) => canonicalJson(value)))
  const [before, after] = [keysOf(old), keysOf(next)]
  const removed = old.filter((value) => !after.has(canonicalJson(value)))
  const added = next.filter((value) => !before.has(canonicalJson(value)))
  return [
    ...(added.length === 0
      ? []
      : [{ effect: "wider", keyword, words: `${listed(added)} is now also valid` } as const]),
    ...(removed.length === 0
      ? []
      : [{ effect: "narrower", keyword, words: `${listed(removed)} is no longer valid` } as const]),
  ]
}

const allTypes = ["null", "boolean", "object", "array", "number", "string"]

/** `integer` is part of `number`. */
function typesOf({ type }: Keywords): readonly string[] {
  const types = type === undefined ? allTypes : ([type].flat() as string[])
  return types.includes("number") ? [...new Set([...types, "integer"])] : types
}

const types: Comparing = (before, after) => setChanges("type", typesOf(before), typesOf(after))

/** The values that a schema enumerates; undefined: any. */
function valuesOf(schema: Keywords): readonly unknown[] | undefined {
  const named = schema["enum"] as readonly unknown[] | undefined
  if (!("const" in schema)) return named
  return named === undefined || named.some((each) => same(each, schema["const"])) ? [schema["const"]] : []
}

/** `enum` and `const`. */
const values: Comparing = (before, after) => {
  const [old, next] = [valuesOf(before), valuesOf(after)]
  const keyword = ["enum", "const"].find((each) => each in after || each in before) ?? "enum"
  if (old === undefined && next === undefined) return []
  if (old === undefined)
    return [{ effect: "narrower", keyword, words: `only ${listed(next ?? [])} is valid` }]
  if (next === undefined)
    return [{ effect: "wider", keyword, words: `values other than ${listed(old)} are valid too` }]
  return setChanges(keyword, old, next)
}

/** A bound with the stricter of its inclusive and exclusive keywords. `sign` -1 compares lower bounds like upper ones. */
function bound(inclusive: string, exclusive: string, sign: 1 | -1): Comparing {
  const of = (schema: Keywords): { readonly at: number; readonly out: boolean } => {
    const at = (keyword: string) => sign * ((schema[keyword] as number | undefined) ?? sign * Infinity)
    const [closed, open] = [at(inclusive), at(exclusive)]
    return open <= closed && open !== Infinity ? { at: open, out: true } : { at: closed, out: false }
  }
  const words = ({ at, out }: ReturnType<typeof of>): string =>
    at === Infinity ? "any number" : `${sideWords(sign, out)} ${sign * at}`
  return (before, after) => {
    const [old, next] = [of(before), of(after)]
    if (old.at === next.at && old.out === next.out) return []
    const effect = next.at < old.at || (next.at === old.at && next.out) ? "narrower" : "wider"
    const keyword = [inclusive, exclusive].find((each) => !same(before[each], after[each])) ?? inclusive
    return [{ effect, keyword, words: `${words(next)} is valid, before ${words(old)}` }]
  }
}

function sideWords(sign: 1 | -1, out: boolean): string {
  if (sign === 1) return out ? "less than" : "up to"
  return out ? "more than" : "at least"
}

const counted: readonly (readonly [keyword: string, what: string])[] = [
  ["Length", "characters"],
  ["Items", "items"],
  ["Properties", "properties"],
]

/** `maxLength`, `minItems` and the other keywords that count. An absent one is 0 or no limit. */
function counts(side: "max" | "min"): Comparing {
  return (before, after) =>
    counted.flatMap(([name, what]): AssertionChange[] => {
      const keyword = `${side}${name}`
      const none = side === "max" ? Infinity : 0
      const [old, next] = [before[keyword] ?? none, after[keyword] ?? none] as [number, number]
      if (old === next) return []
      const effect = (side === "max") === next < old ? "narrower" : "wider"
      const limit = (count: number) =>
        count === none ? "any number of" : `at ${side === "max" ? "most" : "least"} ${count}`
      const words = `${limit(next)} ${what}, before ${limit(old)}`
      return [{ effect, keyword, words }]
    })
}

/** `multipleOf`. A divisor of the old number allows more values, a multiple of it fewer; otherwise it is both. */
const multiples: Comparing = (before, after) => {
  const [old, next] = [before["multipleOf"], after["multipleOf"]] as (number | undefined)[]
  if (old === next) return []
  const keyword = "multipleOf"
  const words = `valid are ${next === undefined ? "any number" : `multiples of ${next}`}, before ${old === undefined ? "any number" : `multiples of ${old}`}`
  if (next === undefined) return [{ effect: "wider", keyword, words }]
  if (old === undefined) return [{ effect: "narrower", keyword, words }]
  const divides = (whole: number, by: number) =>
    Number.isSafeInteger(whole) && Number.isSafeInteger(by) && whole % by === 0
  const effect = divides(next, old) ? "narrower" : divides(old, next) ? "wider" : "other"
  return [{ effect, keyword, words }]
}

const patterns: Comparing = (before, after) => {
  const [old, next] = [before["pattern"], after["pattern"]] as (string | undefined)[]
  if (old === next) return []
  const effect = old === undefined ? "narrower" : next === undefined ? "wider" : "other"
  const words =
    next === undefined ? "strings no longer need to match a pattern" : `strings must match ${shown(next)}`
  return [{ effect, keyword: "pattern", words }]
}

const judgedFormats: ReadonlySet<string> = new Set([...textFormats, ...registeredFormats])

/** Formats that are checked; others are annotations. */
const formats: Comparing = (before, after) => {
  const of = ({ format }: Keywords) => (judgedFormats.has(format as string) ? (format as string) : undefined)
  const [old, next] = [of(before), of(after)]
  if (old === next) return []
  const pair = `${old} ${next}`
  const narrower = old === undefined || pair === "int64 int32"
  const wider = next === undefined || pair === "int32 int64"
  const words =
    next === undefined ? `the format no longer has to be \`${old}\`` : `the format must be \`${next}\``
  return [{ effect: narrower ? "narrower" : wider ? "wider" : "other", keyword: "format", words }]
}

const unique: Comparing = (before, after) => {
  const [old, next] = [before["uniqueItems"] === true, after["uniqueItems"] === true]
  if (old === next) return []
  const words = next ? "items must be unique" : "items no longer have to be unique"
  return [{ effect: next ? "narrower" : "wider", keyword: "uniqueItems", words }]
}

const required: Comparing = (before, after) => {
  const of = (schema: Keywords) => (schema["required"] ?? []) as readonly string[]
  return requiredChanges("required", of(before), of(after), "")
}

const dependentRequired: Comparing = (before, after) => {
  const of = (schema: Keywords) => (schema["dependentRequired"] ?? {}) as Readonly<Record<string, string[]>>
  const [old, next] = [of(before), of(after)]
  const lists = (table: typeof old, name: string) => (Object.hasOwn(table, name) ? (table[name] ?? []) : [])
  return [...new Set([...Object.keys(old), ...Object.keys(next)])].flatMap((name) =>
    requiredChanges("dependentRequired", lists(old, name), lists(next, name), ` beside ${shown(name)}`),
  )
}

/** Names that are required on one side only. */
function requiredChanges(
  keyword: string,
  old: readonly string[],
  next: readonly string[],
  beside: string,
): AssertionChange[] {
  const gone = old.filter((name) => !next.includes(name))
  const come = next.filter((name) => !old.includes(name))
  return [
    ...(gone.length === 0
      ? []
      : [{ effect: "wider", keyword, words: `${listed(gone)} is no longer required${beside}` } as const]),
    ...(come.length === 0
      ? []
      : [{ effect: "narrower", keyword, words: `${listed(come)} is required${beside}` } as const]),
  ]
}

/** Each compares one keyword or a pair of them. */
const comparisons: readonly Comparing[] = [
  types,
  values,
  bound("maximum", "exclusiveMaximum", 1),
  bound("minimum", "exclusiveMinimum", -1),
  counts("max"),
  counts("min"),
  multiples,
  patterns,
  formats,
  unique,
  required,
  dependentRequired,
]
