import { CsharpError } from "../../expression/expression-error.ts"
import { CsDictionary, CsHashSet, CsList } from "./collections.ts"
import { DateTime } from "./date-time.ts"
import { CsException, CsLimitError } from "./errors.ts"
import { JArray, JObject, JProperty, JToken, JValue } from "./json-tree.ts"
import { writeJson } from "./json-write.ts"
import { readJson } from "./library/json-read.ts"
import { budgeted } from "./run.ts"
import { Boxed, CsObject, toText } from "./values.ts"

/** Depth limit; deeper values become their text. */
const depthMax = 128

/** The form of a library object in the cache. */
export interface KeptValue {
  readonly form: "json" | "date"
  readonly text: string
}

/**
 * A value of a program as JavaScript data: JSON and collections as objects and lists, numbers as numbers, everything else (times, ids) as text. A JSON
 * object converts to its JSON as a text. Null if the conversion exceeds the limits of a program.
 */
export function plainValue(value: unknown): unknown {
  if (!(value instanceof CsObject)) return scalar(value)
  try {
    return budgeted(() => plainOf(value, 0))
  } catch (error) {
    if (error instanceof CsException || error instanceof CsLimitError) return null
    throw error
  }
}

/** A value of the library as a value of CEL. Deep trees end as text, because conditions and templates do not go deeper. */
function plainOf(value: unknown, depth: number): unknown {
  if (value instanceof JValue) return scalar(value.value)
  if (value instanceof Boxed) return scalar(value.value)
  if (depth >= depthMax || !(value instanceof CsObject)) return scalar(value)
  if (value instanceof JProperty) return plainOf(value.value, depth)
  if (value instanceof JObject) return shownAsText(value, ownMembers(jsonMembers(value), depth))
  if (value instanceof CsDictionary) return ownMembers(dictionaryMembers(value), depth)
  if (value instanceof JArray || value instanceof CsList || value instanceof CsHashSet)
    return value.elements().map((each) => plainOf(each, depth + 1))
  return value.text()
}

function* jsonMembers(value: JObject): Iterable<[string, unknown]> {
  for (const property of value.properties.values()) yield [property.name, property.value]
}

function* dictionaryMembers(value: CsDictionary): Iterable<[string, unknown]> {
  for (const key of value.keys()) yield [toText(key), value.get(key)]
}

/** Defined and not assigned: `__proto__` is an ordinary name. */
function ownMembers(members: Iterable<[string, unknown]>, depth: number): object {
  const made = {}
  for (const [name, each] of members)
    Object.defineProperty(made, name, { value: plainOf(each, depth + 1), enumerable: true })
  return made
}

function shownAsText(token: JToken, made: object): object {
  // A member of the data with this name takes precedence.
  if (!Object.hasOwn(made, "toString"))
    Object.defineProperty(made, "toString", { value: () => budgeted(() => token.text()) })
  return made
}

function scalar(value: unknown): unknown {
  if (value === null || value === undefined) return null
  if (typeof value === "bigint") return Number.isSafeInteger(Number(value)) ? Number(value) : value.toString()
  if (typeof value === "string" || typeof value === "boolean") return value
  return typeof value === "number" && Number.isFinite(value) ? value : toText(value)
}

/**
 * A library object as text, to outlive the exchange: JSON, or a time. Undefined for other objects.
 * @throws CsharpError if it is too large or nested too deeply
 */
export function keep(value: unknown): KeptValue | undefined {
  if (value instanceof DateTime) return { form: "date", text: `${value.kind} ${value.ticks}` }
  if (!(value instanceof JToken)) return undefined
  return { form: "json", text: withSite(() => writeJson(value, false)) }
}

/** The inverse of `keep`. @throws CsharpError for a text that is not from `keep` */
export function restore({ form, text }: KeptValue): unknown {
  if (form === "json") return withSite(() => readJson(text))
  const [kind, ticks] = text.split(" ")
  return new DateTime(BigInt(ticks ?? "0"), kind === "utc" || kind === "local" ? kind : "unspecified")
}

/** C# exceptions and limits leave the wing as one class of error. */
function withSite<Value>(run: () => Value): Value {
  try {
    return budgeted(run)
  } catch (error) {
    if (error instanceof CsException) throw new CsharpError(error.type, error.message, undefined)
    if (error instanceof CsLimitError) throw new CsharpError("limit", error.message, undefined)
    throw error
  }
}
