import { Anonymous, CsDictionary, CsEnum, CsList, CsTuple, type KeyValuePair } from "../collections.ts"
import { DateTime, DateTimeOffset } from "../date-time.ts"
import { Decimal } from "../decimal.ts"
import { argument, CsException, CsLimitError } from "../errors.ts"
import { JArray, JObject, JProperty, type JsonKind, JToken, JValue } from "../json-tree.ts"
import { jsonDepthMax } from "../json-write.ts"
import { convertNumber, isNumberType, numberTypes } from "../numbers.ts"
import { TimeSpan } from "../time-span.ts"
import type { CsType } from "../type.ts"
import { defaultOf } from "../type-test.ts"
import { Boxed, CsObject, toText } from "../values.ts"
import { fromBase64, toBase64 } from "./convert-type.ts"
import { Guid } from "./guid.ts"
import { parseNumber } from "./number.ts"
import { parseBool } from "./object.ts"
import { readDateTime } from "./time-types.ts"
import { CsUri, makeUri } from "./web.ts"

/** A value as a JSON token: scalars, lists, dictionaries, anonymous objects; a token is returned unchanged. @throws ArgumentException */
export function toToken(value: unknown, depth = 0): JToken {
  if (depth > jsonDepthMax) throw new CsLimitError("the object is nested too deeply for JSON")
  if (value instanceof JToken) return value
  const scalar = scalarToken(value)
  if (scalar !== undefined) return scalar
  const entries = entriesOf(value)
  if (entries !== undefined) {
    const made = new JObject()
    for (const [name, item] of entries) made.set(name, toToken(item, depth + 1))
    return made
  }
  const items = Array.isArray(value) ? value : value instanceof CsObject ? value.elements() : undefined
  if (items === undefined) throw argument(`Could not determine JSON object type for type ${toText(value)}.`)
  const made = new JArray()
  for (const item of items) made.add(toToken(item, depth + 1))
  return made
}

/** The properties of a value that is an object in JSON. */
function entriesOf(value: unknown): (readonly [string, unknown])[] | undefined {
  if (value instanceof Anonymous) return [...value.fields]
  if (value instanceof CsTuple) return value.items.map((item, index) => [`Item${index + 1}`, item])
  if (value instanceof CsDictionary)
    return (value.elements() as KeyValuePair[]).map((pair) => [toText(pair.key), pair.value])
  return undefined
}

/**
 * A value of the library as a JSON scalar; undefined for objects and lists. Ids, spans and URLs keep their own kind, so that they are read
 * back unchanged.
 */
function scalarToken(value: unknown): JValue | undefined {
  if (value === null || value === undefined) return new JValue(null, "Null")
  if (typeof value === "string") return new JValue(value, "String")
  if (typeof value === "boolean") return new JValue(value, "Boolean")
  if (typeof value === "bigint") return new JValue(value, "Integer")
  if (typeof value === "number")
    return Number.isInteger(value) ? new JValue(BigInt(value), "Integer") : new JValue(value, "Float")
  if (value instanceof Decimal) return new JValue(value, "Float")
  if (value instanceof Boxed) return boxedToken(value)
  if (value instanceof DateTime || value instanceof DateTimeOffset) return new JValue(value, "Date")
  if (value instanceof Uint8Array) return new JValue(toBase64(value), "String")
  if (value instanceof CsEnum) return new JValue(BigInt(value.value), "Integer")
  if (value instanceof Guid) return new JValue(value, "Guid")
  if (value instanceof TimeSpan) return new JValue(value, "TimeSpan")
  if (value instanceof CsUri) return new JValue(value, "Uri")
  return undefined
}

function boxedToken({ typeName, value }: Boxed): JValue {
  if (typeof value === "string") return new JValue(value, "String")
  if (typeName === "double" || typeName === "float") return new JValue(Number(value), "Float")
  return new JValue(BigInt(value), "Integer")
}

/** A token of the static type: a whole double stays a double. */
export function typedToken(value: unknown, kind: JsonKind): JToken {
  return value === null
    ? new JValue(null, "Null")
    : new JValue(kind === "Integer" ? BigInt(value as number) : value, kind)
}

function cannot(token: JToken, type: string): CsException {
  return argument(`Can not convert ${token.kind} to ${type}.`)
}

/** An explicit cast of a token, such as `(int)token`; null only for nullable types. @throws ArgumentException, FormatException */
export function fromToken(token: JToken | null, type: CsType): unknown {
  if (type.name === "?")
    return token === null || isNull(token) ? null : fromToken(token, type.args[0] as CsType)
  const { name } = type
  if (token === null || token === undefined) {
    if (name === "string" || name === "[]") return null
    throw new CsException("ArgumentNullException", "Value cannot be null. (Parameter 'value')")
  }
  const bare = token instanceof JProperty ? token.value : token
  if (!(bare instanceof JValue)) throw cannot(bare, dotted(name))
  if (isNull(bare)) {
    if (name === "string" || name === "[]" || name === "Uri") return null
    throw cannot(bare, dotted(name))
  }
  return scalarFrom(bare, type)
}

function dotted(name: string): string {
  return name.charAt(0).toUpperCase() + name.slice(1)
}

function isNull(token: JToken): boolean {
  return token instanceof JValue && token.kind === "Null"
}

/** The explicit conversion of a token to a scalar type. Newtonsoft parses strings and accepts numbers as booleans. */
function scalarFrom(token: JValue, type: CsType): unknown {
  const { value } = token
  const { name } = type
  if (name === "string") return value instanceof CsUri ? value.original : toText(value)
  if (isNumberType(name)) {
    if (typeof value === "string") return parseNumber(value, name)
    if (typeof value === "boolean") return convertNumber(value ? 1 : 0, "int", name, true)
    if (value instanceof Decimal) return convertNumber(value, "decimal", name, true)
    if (typeof value === "bigint") return convertNumber(value, "long", name, true)
    if (typeof value === "number") return rounded(value, name)
    throw cannot(token, dotted(name))
  }
  if (name === "bool") {
    if (typeof value === "boolean") return value
    if (typeof value === "bigint") return value !== 0n
    const found = typeof value === "string" ? parseBool(value) : undefined
    if (found === undefined)
      throw new CsException(
        "FormatException",
        `String '${toText(value)}' was not recognized as a valid Boolean.`,
      )
    return found
  }
  return otherScalar(token, name)
}

/** `(int)` of a JSON double rounds halves to even, like Convert.ToInt32. */
function rounded(value: number, name: string): unknown {
  if (numberTypes[name]?.least === undefined) return convertNumber(value, "double", name, true)
  const floor = Math.floor(value)
  const rest = value - floor
  return convertNumber(
    rest < 0.5 || (rest === 0.5 && floor % 2 === 0) ? floor : floor + 1,
    "double",
    name,
    true,
  )
}

/** The conversion to types of the library that JSON does not know: dates, addresses, ids, bytes. */
function otherScalar(token: JValue, name: string): unknown {
  const { value } = token
  if (name === "DateTime")
    return value instanceof DateTime
      ? value
      : value instanceof DateTimeOffset
        ? new DateTime(value.utcTicks, "local")
        : readDateTime(toText(value))
  if (name === "DateTimeOffset") {
    if (value instanceof DateTimeOffset) return value
    const read = value instanceof DateTime ? value : readDateTime(toText(value))
    return new DateTimeOffset(read.ticks, 0)
  }
  if (name === "Uri") return value instanceof CsUri ? value : makeUri(toText(value))
  if (name === "Guid") return value instanceof Guid ? value : Guid.parse(toText(value))
  if (name === "[]") return value instanceof Uint8Array ? value : fromBase64(toText(value))
  if (name === "char") return toText(value).charAt(0)
  if (name === "object") return value
  throw cannot(token, name)
}

/**
 * `Value<T>()` and `ToObject<T>()`: tokens unchanged, scalars by cast, lists and dictionaries of either. Null becomes the type's default.
 * @throws InvalidCastException
 */
export function tokenAs(token: JToken | null, type: CsType, depth = 0): unknown {
  if (depth > jsonDepthMax) throw new CsLimitError("the JSON is nested too deeply")
  const { name, args } = type
  if (token === null || token === undefined) return defaultOf(type)
  if (["JToken", "JObject", "JArray", "JValue", "JProperty", "JContainer", "IEnumerable"].includes(name))
    return tokenOf(token, type, depth)
  if (name === "object" || name === "dynamic") return token instanceof JValue ? token.value : token
  if (name === "[]" && args[0]?.name !== "byte") return listOf(token, args[0] as CsType, depth)
  if (["List", "IList", "IReadOnlyList", "ICollection"].includes(name))
    return new CsList(listOf(token, args[0] as CsType, depth))
  if (["Dictionary", "IDictionary", "IReadOnlyDictionary"].includes(name)) {
    if (!(token instanceof JObject)) throw wrong(token, name)
    const made = new CsDictionary()
    for (const property of token.properties.values())
      made.set(property.name, tokenAs(property.value, args[1] as CsType, depth + 1))
    return made
  }
  return isNull(token) ? defaultOf(type) : fromToken(token, type)
}

/** A token as a token type. Null becomes null; another kind throws, as a cast does in C#. */
function tokenOf(token: JToken, type: CsType, depth: number): unknown {
  const { name } = type
  if (name === "IEnumerable" && type.args[0]?.name !== "JToken")
    return listOf(token, type.args[0] as CsType, depth)
  const fits: Readonly<Record<string, boolean>> = {
    JObject: token instanceof JObject,
    JArray: token instanceof JArray,
    JValue: token instanceof JValue,
    JProperty: token instanceof JProperty,
  }
  if (Object.hasOwn(fits, name) && !fits[name]) {
    if (isNull(token)) return null
    throw wrong(token, name)
  }
  return token
}

function wrong(token: JToken, name: string): CsException {
  return new CsException("InvalidCastException", `Cannot cast ${token.typeName} to ${name}.`)
}

function listOf(token: JToken, element: CsType, depth: number): unknown[] {
  if (isNull(token)) return []
  if (!(token instanceof JArray)) throw wrong(token, "array")
  return token.items.map((item) => tokenAs(item, element, depth + 1))
}
