import type { CsEnum } from "../collections.ts"
import { argument, CsException, invalidOperation } from "../errors.ts"
import { JArray, JObject, JProperty, type JsonKind, JToken, JValue } from "../json-tree.ts"
import { writeJson } from "../json-write.ts"
import { declareType } from "../table.ts"
import { type CsType, named, parseType } from "../type.ts"
import { toText } from "../values.ts"
import { fromToken, tokenAs, toToken, typedToken } from "./json-convert.ts"
import { declareArrays, declareObjects } from "./json-objects.ts"
import { selectTokens } from "./json-path.ts"
import { readJson } from "./json-read.ts"
import { declareEnum } from "./object.ts"

type Row = (...values: never[]) => unknown

/** All descendants of a token, parents first: properties and their values. */
function descendants(token: JToken, found: JToken[] = []): JToken[] {
  for (const child of token.children()) {
    found.push(child)
    descendants(child, found)
  }
  return found
}

/** A child by key: objects by text, arrays by number. */
function childOf(self: JToken, key: unknown): JToken | null {
  if (self instanceof JObject) {
    if (typeof key !== "string")
      throw argument(
        `Accessed JObject values with invalid key value: ${toText(key)}. Object property name expected.`,
      )
    return self.get(key)
  }
  if (self instanceof JArray) {
    if (typeof key !== "number")
      throw argument(
        `Accessed JArray values with invalid key value: "${toText(key)}". Int32 array index expected.`,
      )
    return self.at(key)
  }
  throw invalidOperation(`Cannot access child value on ${self.typeName}.`)
}

function setChild(self: JToken, key: unknown, value: unknown): void {
  const token = toToken(value)
  if (self instanceof JObject && typeof key === "string") self.set(key, token)
  else if (self instanceof JArray && typeof key === "number") self.setAt(key, token)
  else childOf(self, key)
}

function formatted(self: JToken, formatting: CsEnum | null): string {
  if (formatting === null) return self.text()
  return writeJson(self, formatting.has("Indented"))
}

/** Members of all tokens that read. */
const reading: Record<string, Row> = {
  "this[object key]: JToken": childOf,
  "set this[object key]: JToken": setChild,
  "Type: JTokenType": (self: JToken) => kindEnum(self.kind),
  "Parent: JToken": (self: JToken) => self.parent,
  "Root: JToken": (self: JToken) => self.root,
  "Path: string": (self: JToken) => self.path,
  "HasValues: bool": (self: JToken) => self.children().length > 0,
  "First: JToken": (self: JToken) => self.children()[0] ?? null,
  "Last: JToken": (self: JToken) => self.children().at(-1) ?? null,
  "Next: JToken": (self: JToken) => sibling(self, 1),
  "Previous: JToken": (self: JToken) => sibling(self, -1),
  "ToString(): string": (self: JToken) => self.text(),
  "ToString(Formatting formatting): string": formatted,
  "SelectToken(string path): JToken": (self: JToken, path: string) => selectOne(self, path),
  "SelectToken(string path, bool errorWhenNoMatch): JToken": (
    self: JToken,
    path: string,
    strict: boolean,
  ) => {
    const found = selectOne(self, path)
    if (found === null && strict) throw new CsException("JsonException", `Path '${path}' found no match.`)
    return found
  },
  "SelectTokens(string path): IEnumerable<JToken>": (self: JToken, path: string) => selectTokens(self, path),
  "Children(): IEnumerable<JToken>": (self: JToken) => self.children(),
  "typed Children<R>(): IEnumerable<R>": (types: readonly CsType[], self: JToken) =>
    self.children().filter((child) => matchesType(child, types[0] as CsType)),
  "Values(): IEnumerable<JToken>": (self: JToken) =>
    self.children().map((child) => (child instanceof JProperty ? child.value : child)),
  "typed Values<R>(): IEnumerable<R>": (types: readonly CsType[], self: JToken) =>
    self
      .children()
      .map((child) => tokenAs(child instanceof JProperty ? child.value : child, types[0] as CsType)),
  "typed Value<R>(object key): R": (types: readonly CsType[], self: JToken, key: unknown) =>
    tokenAs(childOf(self, key), types[0] as CsType),
  "typed Value<R>(): R": (types: readonly CsType[], self: JToken) => tokenAs(self, types[0] as CsType),
  "typed ToObject<R>(): R": (types: readonly CsType[], self: JToken) => tokenAs(self, types[0] as CsType),
  "DeepClone(): JToken": (self: JToken) => self.clone(),
  "static DeepEquals(JToken a, JToken b): bool": (a: JToken | null, b: JToken | null) => deepEqual(a, b),
  "Remove(): void": (self: JToken) => self.remove(),
  "Replace(JToken value): void": (self: JToken, value: JToken) => self.replace(value),
  "AddAfterSelf(object value): void": (self: JToken, value: unknown) => beside(self, value, 1),
  "AddBeforeSelf(object value): void": (self: JToken, value: unknown) => beside(self, value, 0),
  "static Parse(string text): JToken": readJson,
  "static FromObject(object value): JToken": (value: unknown) => toToken(value),
}

function beside(self: JToken, value: unknown, offset: number): void {
  if (self.parent instanceof JObject && self instanceof JProperty && value instanceof JProperty)
    self.parent.insertBeside(self, value, offset)
  else if (self.parent instanceof JArray)
    self.parent.insert(self.parent.items.indexOf(self) + offset, toToken(value))
  else throw invalidOperation("The parent is missing.")
}

function sibling(self: JToken, distance: number): JToken | null {
  const all = self.parent?.children() ?? []
  const at = all.indexOf(self)
  return at < 0 ? null : (all[at + distance] ?? null)
}

function selectOne(self: JToken, path: string): JToken | null {
  return selectTokens(self, path)[0] ?? null
}

function matchesType(token: JToken, type: CsType): boolean {
  const classes: Readonly<Record<string, unknown>> = { JObject, JArray, JValue, JProperty }
  if (!Object.hasOwn(classes, type.name)) return true
  return token instanceof (classes[type.name] as abstract new (...values: never[]) => JToken)
}

/** Objects are equal in any order of their members, arrays only in the same order. */
function deepEqual(a: JToken | null, b: JToken | null): boolean {
  if (a === null || b === null) return a === b
  if (a instanceof JValue || b instanceof JValue) return a.same(b)
  if (a.kind !== b.kind) return false
  if (a instanceof JObject && b instanceof JObject)
    return (
      a.properties.size === b.properties.size &&
      [...a.properties.keys()].every((name) => deepEqual(a.get(name), b.get(name)))
    )
  const [x, y] = [a.children(), b.children()]
  return x.length === y.length && x.every((child, index) => deepEqual(child, y[index] as JToken))
}

/** All values of `JTokenType` that a token here can have, in the order of Newtonsoft. */
const kinds: readonly JsonKind[] = [
  "None",
  "Object",
  "Array",
  "Property",
  "Integer",
  "Float",
  "String",
  "Boolean",
  "Null",
  "Date",
  "Bytes",
  "Guid",
  "Uri",
  "TimeSpan",
]
let kindEnum: (kind: JsonKind) => unknown = () => null

/** Types that convert to a token implicitly, and to which a token can be cast. */
const implicit: readonly (readonly [string, JsonKind])[] = [
  ["string", "String"],
  ["bool", "Boolean"],
  ["int", "Integer"],
  ["long", "Integer"],
  ["uint", "Integer"],
  ["ulong", "Integer"],
  ["short", "Integer"],
  ["byte", "Integer"],
  ["double", "Float"],
  ["float", "Float"],
  ["decimal", "Float"],
  ["DateTime", "Date"],
  ["DateTimeOffset", "Date"],
  ["Guid", "Guid"],
  ["TimeSpan", "TimeSpan"],
  ["Uri", "Uri"],
]

/** Implicit conversions to tokens and explicit ones from them, for each scalar type and its nullable form. */
function conversions(): Record<string, Row> {
  const rows: Record<string, Row> = {}
  for (const [type, kind] of implicit) {
    rows[`static op_Implicit(${type} value): JToken`] = (value: unknown) => typedToken(value, kind)
    const target = named(type)
    rows[`static op_Explicit(JToken value): ${type}`] = (token: JToken | null) => fromToken(token, target)
    if (type === "string" || type === "Uri") continue
    rows[`static op_Implicit(${type}? value): JToken`] = (value: unknown) => typedToken(value, kind)
    const optional = parseType(`${type}?`)
    rows[`static op_Explicit(JToken value): ${type}?`] = (token: JToken | null) => fromToken(token, optional)
  }
  const bytes = parseType("byte[]")
  rows["static op_Explicit(JToken value): byte[]"] = (token: JToken | null) => fromToken(token, bytes)
  rows["static op_Explicit(JToken value): char"] = (token: JToken | null) => fromToken(token, named("char"))
  rows["static op_Implicit(byte[] value): JToken"] = (value: Uint8Array) => toToken(value)
  return rows
}

/** Newtonsoft.Json: JToken and its kinds, JsonConvert. */
export function declareJson(): void {
  const byKind = declareEnum(
    "JTokenType",
    "Newtonsoft.Json.Linq",
    Object.fromEntries(kinds.map((name, index) => [name, index])),
  )
  kindEnum = (kind) => byKind.get(kind)
  declareEnum("Formatting", "Newtonsoft.Json", { None: 0, Indented: 1 })
  declareType(
    "JToken",
    { bases: ["IEnumerable<JToken>"], holds: (value) => value instanceof JToken },
    { ...reading, ...conversions() },
  )
  declareType(
    "JContainer",
    { bases: ["JToken"], holds: (value) => value instanceof JToken && !(value instanceof JValue) },
    {
      "Count: int": (self: JToken) => self.children().length,
      "Descendants(): IEnumerable<JToken>": (self: JToken) => descendants(self),
      "DescendantsAndSelf(): IEnumerable<JToken>": (self: JToken) => [self, ...descendants(self)],
    },
  )
  declareObjects()
  declareArrays()
  declareType(
    "JValue",
    { bases: ["JToken"], holds: (value) => value instanceof JValue },
    {
      "new(object value): JValue": (value: unknown) => toToken(value),
      "static CreateNull(): JValue": () => new JValue(null, "Null"),
      "static CreateString(string value): JValue": (value: string) => new JValue(value, "String"),
      "Value: object": (self: JValue) => self.value,
      "set Value: object": (self: JValue, value: unknown) => {
        const made = toToken(value) as JValue
        self.value = made.value
        self.kind = made.kind
      },
      "ToString(string format): string": (self: JValue) => self.text(),
    },
  )
  declareType(
    "JsonConvert",
    {},
    {
      "static SerializeObject(object value): string": (value: unknown) => writeJson(toToken(value), false),
      "static SerializeObject(object value, Formatting formatting): string": (
        value: unknown,
        formatting: CsEnum,
      ) => writeJson(toToken(value), formatting.has("Indented")),
      "static DeserializeObject(string text): object": readJson,
      "static typed DeserializeObject<R>(string text): R": (types: readonly CsType[], text: string) =>
        tokenAs(readJson(text), types[0] as CsType),
      "static ToString(object value): string": (value: unknown) => writeJson(toToken(value), false),
    },
  )
}
