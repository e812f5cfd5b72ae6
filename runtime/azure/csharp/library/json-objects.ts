import type { CsEnum } from "../collections.ts"
import { CsList, KeyValuePair } from "../collections.ts"
import type { OutPlace } from "../context-object.ts"
import { argument } from "../errors.ts"
import { JArray, JObject, JProperty, JToken, JValue } from "../json-tree.ts"
import { chargeItems } from "../run.ts"
import { declareType } from "../table.ts"
import { same } from "../values.ts"
import { toToken } from "./json-convert.ts"
import { readAs } from "./json-read.ts"

const objectRows: Record<string, (...values: never[]) => unknown> = {
  "new(): JObject": () => new JObject(),
  "new(params object[] content): JObject": (content: readonly unknown[]) => {
    const made = new JObject()
    for (const item of content) addContent(made, item)
    return made
  },
  "static Parse(string text): JObject": (text: string) => readAs(text, JObject, "Object"),
  "static FromObject(object value): JObject": (value: unknown) => {
    const token = toToken(value)
    if (!(token instanceof JObject))
      throw argument(`Object serialized to ${token.kind}. JObject instance expected.`)
    return token
  },
  "this[string name]: JToken": (self: JObject, name: string) => self.get(name),
  "set this[string name]: JToken": (self: JObject, name: string, value: unknown) =>
    self.set(name, toToken(value)),
  "Add(string name, JToken value): void": (self: JObject, name: string, value: unknown) =>
    self.add(new JProperty(name, toToken(value))),
  "Add(object content): void": addContent,
  "Remove(string name): bool": (self: JObject, name: string) => self.delete(name),
  "RemoveAll(): void": (self: JObject) => self.properties.clear(),
  "ContainsKey(string name): bool": (self: JObject, name: string) => self.properties.has(name),
  "Property(string name): JProperty": (self: JObject, name: string) => self.properties.get(name) ?? null,
  "Properties(): IEnumerable<JProperty>": (self: JObject) => self.children(),
  "PropertyValues(): IEnumerable<JToken>": (self: JObject) =>
    [...self.properties.values()].map(({ value }) => value),
  "GetValue(string name): JToken": (self: JObject, name: string) => self.get(name),
  "GetValue(string name, StringComparison comparison): JToken": (
    self: JObject,
    name: string,
    comparison: CsEnum,
  ) => self.get(name) ?? folded(self, name, comparison),
  "TryGetValue(string name, out JToken value): bool": (self: JObject, name: string, out: OutPlace) => {
    out.set(self.get(name))
    return self.properties.has(name)
  },
  "TryGetValue(string name, StringComparison comparison, out JToken value): bool": (
    self: JObject,
    name: string,
    comparison: CsEnum,
    out: OutPlace,
  ) => {
    const found = self.get(name) ?? folded(self, name, comparison)
    out.set(found)
    return found !== null
  },
  "Merge(object content): void": (self: JObject, content: unknown) => merge(self, toToken(content)),
  "DeepClone(): JToken": (self: JObject) => self.clone(),
  "op_Pairs(): IEnumerable<KeyValuePair<string, JToken>>": (self: JObject) => {
    chargeItems(self.properties.size)
    return [...self.properties.values()].map(({ name, value }) => new KeyValuePair(name, value))
  },
}

export function declareObjects(): void {
  declareType(
    "JObject",
    {
      bases: ["JContainer", "JToken", "IEnumerable<KeyValuePair<string, JToken>>"],
      holds: (value) => value instanceof JObject,
    },
    objectRows,
  )
  declareType(
    "JProperty",
    { bases: ["JContainer", "JToken"], holds: (value) => value instanceof JProperty },
    {
      "new(string name, object value): JProperty": (name: string, value: unknown) =>
        new JProperty(name, toToken(value)),
      "new(string name, params object[] values): JProperty": (name: string, values: readonly unknown[]) =>
        new JProperty(name, toToken(values)),
      "Name: string": (self: JProperty) => self.name,
      "Value: JToken": (self: JProperty) => self.value,
      "set Value: JToken": (self: JProperty, value: unknown) => self.setValue(toToken(value)),
    },
  )
}

function folded(self: JObject, name: string, comparison: CsEnum): JToken | null {
  if (comparison.names[0]?.endsWith("IgnoreCase") !== true) return null
  const found = [...self.properties.values()].find(
    (property) => property.name.toUpperCase() === name.toUpperCase(),
  )
  return found?.value ?? null
}

function addContent(self: JObject, item: unknown): void {
  if (item instanceof JProperty) self.add(item)
  else if (Array.isArray(item) || item instanceof CsList)
    for (const each of Array.isArray(item) ? item : item.items) addContent(self, each)
  else if (item instanceof JObject) for (const property of item.children()) self.add(property as JProperty)
  else throw argument("Can not add a value to Newtonsoft.Json.Linq.JObject.")
}

/** `JObject.Merge` with Newtonsoft's defaults: objects are merged, arrays are appended, and null replaces nothing. */
function merge(self: JObject, other: JToken): void {
  if (!(other instanceof JObject)) return
  for (const { name, value } of other.properties.values()) {
    const known = self.get(name)
    if (known instanceof JObject && value instanceof JObject) merge(known, value)
    else if (known instanceof JArray && value instanceof JArray)
      for (const item of value.items) known.add(item)
    else if (!(value instanceof JValue && value.kind === "Null" && known !== null)) self.set(name, value)
  }
}

/** `JArray`. Lists in its constructor are flattened, as Newtonsoft does. */
export function declareArrays(): void {
  const add = (self: JArray, item: unknown): void => {
    if (item instanceof JToken || !Array.isArray(item)) self.add(toToken(item))
    else for (const each of item) self.add(toToken(each))
  }
  declareType(
    "JArray",
    { bases: ["JContainer", "JToken", "IList<JToken>"], holds: (value) => value instanceof JArray },
    {
      "new(): JArray": () => new JArray(),
      "new(params object[] content): JArray": (content: readonly unknown[]) => {
        const made = new JArray()
        for (const item of content)
          for (const each of item instanceof CsList ? item.items : [item]) add(made, each)
        return made
      },
      "static Parse(string text): JArray": (text: string) => readAs(text, JArray, "Array"),
      "static FromObject(object value): JArray": (value: unknown) => {
        const token = toToken(value)
        if (!(token instanceof JArray))
          throw argument(`Object serialized to ${token.kind}. JArray instance expected.`)
        return token
      },
      "Count: int": (self: JArray) => self.items.length,
      "this[int index]: JToken": (self: JArray, index: number) => self.at(index),
      "set this[int index]: JToken": (self: JArray, index: number, value: unknown) =>
        self.setAt(index, toToken(value)),
      "Add(JToken item): void": (self: JArray, item: unknown) => self.add(toToken(item)),
      "Add(object item): void": add,
      "Insert(int index, JToken item): void": (self: JArray, index: number, item: unknown) =>
        self.insert(index, toToken(item)),
      "Remove(JToken item): bool": (self: JArray, item: JToken) => {
        const found = self.items.find((other) => same(other, item))
        if (found !== undefined) self.drop(found)
        return found !== undefined
      },
      "RemoveAt(int index): void": (self: JArray, index: number) => self.at(index).remove(),
      "Clear(): void": (self: JArray) => {
        self.items.length = 0
      },
      "IndexOf(JToken item): int": (self: JArray, item: JToken) =>
        self.items.findIndex((other) => same(other, item)),
      "Merge(object content): void": (self: JArray, content: unknown) => {
        for (const item of toToken(content).children()) self.add(item)
      },
    },
  )
}
