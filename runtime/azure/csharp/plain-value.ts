import { CsDictionary, CsHashSet, CsList } from "./collections.ts"
import { CsException, CsLimitError } from "./errors.ts"
import { JArray, JObject, JProperty, type JToken, JValue } from "./json-tree.ts"
import { budgeted } from "./run.ts"
import { Boxed, CsObject, toText } from "./values.ts"

/** Deepest nesting that is gone into; what lies deeper is shown as its text. */
const depthMax = 128

/**
 * A value a program left, as data of JavaScript: JSON and collections as objects and lists, numbers as numbers, everything else (times, ids) as its
 * text. An object of JSON is that JSON where it is shown as a text. Null for what can't be had: a program's bounds hold here too.
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

/** Defined and not set: `__proto__` is a name as any other. */
function ownMembers(members: Iterable<[string, unknown]>, depth: number): object {
  const made = {}
  for (const [name, each] of members)
    Object.defineProperty(made, name, { value: plainOf(each, depth + 1), enumerable: true })
  return made
}

function shownAsText(token: JToken, made: object): object {
  // A member of that name is the data's.
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
