import { argument, CsException, invalidOperation, outOfRange } from "./errors.ts"
import { writeJson } from "./json-write.ts"
import { chargeItems } from "./run.ts"
import { CsObject, same, toText } from "./values.ts"

/** The kind of value of a JValue. */
export type JsonKind =
  | "None"
  | "Object"
  | "Array"
  | "Property"
  | "Integer"
  | "Float"
  | "String"
  | "Boolean"
  | "Null"
  | "Date"
  | "Bytes"
  | "Guid"
  | "Uri"
  | "TimeSpan"

/** Newtonsoft's JToken: mutable, with a parent. A token that already has a parent is copied when it is added elsewhere. */
export abstract class JToken extends CsObject {
  parent: JObject | JArray | JProperty | null = null
  abstract readonly kind: JsonKind
  abstract clone(): JToken
  /** Children in order: values of an array, properties of an object, the value of a property. */
  abstract children(): readonly JToken[]
  override text(): string {
    return writeJson(this, true)
  }
  override elements(): readonly unknown[] {
    return this.children()
  }
  get root(): JToken {
    let at: JToken = this
    while (at.parent !== null) at = at.parent
    return at
  }
  /** `a.b[0].['odd name']`. */
  get path(): string {
    let written = ""
    for (let at: JToken = this; at.parent !== null; at = at.parent) {
      if (at instanceof JProperty) {
        // Newtonsoft writes plain names without quotes, and others in `['…']`.
        const name = /^[A-Za-z_][A-Za-z0-9_-]*$/.test(at.name) ? at.name : `['${at.name}']`
        written = `${name}${written === "" || written.startsWith("[") ? "" : "."}${written}`
      } else if (at.parent instanceof JArray) {
        const tail = written === "" || written.startsWith("[") ? written : `.${written}`
        written = `[${at.parent.items.indexOf(at)}]${tail}`
      }
    }
    return written
  }
  remove(): void {
    if (this.parent === null) throw invalidOperation("The parent is missing.")
    // First out of the parent, then without it: `drop` looks for the child.
    this.parent.drop(this)
    this.parent = null
  }
  replace(value: JToken): void {
    if (this.parent === null) throw invalidOperation("The parent is missing.")
    this.parent.swap(this, value)
    this.parent = null
  }
}

function adopt(parent: JObject | JArray | JProperty, token: JToken): JToken {
  if (token instanceof JProperty && !(parent instanceof JObject))
    throw argument(`Can not add ${token.typeName} to ${parent.typeName}.`)
  // No cycle is possible: a token with a parent is copied, and so is a root that is added to its own tree.
  const free = token.parent === null && parent.root !== token ? token : token.clone()
  free.parent = parent
  return free
}

/** A scalar. `kind` is kept beside the value because it decides how the value is written: `1` and `1.0` are both numbers here. */
export class JValue extends JToken {
  readonly typeName = "Newtonsoft.Json.Linq.JValue"
  value: unknown
  kind: JsonKind

  constructor(value: unknown, kind: JsonKind) {
    super()
    this.value = value
    this.kind = kind
  }
  override text(): string {
    return toText(this.value)
  }
  clone(): JToken {
    chargeItems(1)
    return new JValue(this.value, this.kind)
  }
  children(): readonly JToken[] {
    return []
  }
  // Newtonsoft throws here, too; policies catch it to tell a value from a list.
  override elements(): readonly unknown[] {
    throw invalidOperation(`Cannot access child value on Newtonsoft.Json.Linq.JValue.`)
  }
  override same(other: unknown): boolean {
    return other instanceof JValue && other.kind === this.kind && same(other.value, this.value)
  }
  override hash(): unknown {
    return `json:${this.kind}:${toText(this.value)}`
  }
  compareTo(other: unknown): number {
    const [a, b] = [toText(this.value), toText((other as JValue).value)]
    const numeric = ["Integer", "Float"].includes(this.kind)
    // The texts of numbers would sort 10 before 9.
    if (numeric) return Number(a) - Number(b)
    return a < b ? -1 : a > b ? 1 : 0
  }
}

/** A member of an object. It is a token of its own because documents ask for `Parent`, `Name` and `Value` of it. */
export class JProperty extends JToken {
  readonly typeName = "Newtonsoft.Json.Linq.JProperty"
  readonly kind = "Property"
  readonly name: string
  value: JToken

  constructor(name: string, value: JToken) {
    super()
    this.name = name
    this.value = adopt(this, value)
  }
  setValue(value: JToken): void {
    this.value.parent = null
    this.value = adopt(this, value)
  }
  clone(): JToken {
    return new JProperty(this.name, this.value.clone())
  }
  children(): readonly JToken[] {
    return [this.value]
  }
  drop(): void {
    // A property without its value has null, because JSON knows no property without one.
    this.setValue(new JValue(null, "Null"))
  }
  swap(_child: JToken, value: JToken): void {
    this.setValue(value)
  }
}

/** Properties keep the order in which they were added; the text of the object is written in it. */
export class JObject extends JToken {
  readonly typeName = "Newtonsoft.Json.Linq.JObject"
  readonly kind = "Object"
  readonly properties = new Map<string, JProperty>()

  get(name: string): JToken | null {
    return this.properties.get(name)?.value ?? null
  }
  set(name: string, value: JToken): void {
    const known = this.properties.get(name)
    if (known !== undefined) known.setValue(value)
    else this.add(new JProperty(name, value))
  }
  /** Adds a property; a name that exists is an error here, unlike `set`. */
  add(property: JProperty): void {
    chargeItems(1)
    if (this.properties.has(property.name))
      throw argument(
        `Can not add property ${property.name} to Newtonsoft.Json.Linq.JObject. Property with the same name already exists on object.`,
      )
    const mine = adopt(this, property) as JProperty
    this.properties.set(mine.name, mine)
  }
  delete(name: string): boolean {
    const known = this.properties.get(name)
    if (known !== undefined) known.parent = null
    return this.properties.delete(name)
  }
  clone(): JToken {
    const copy = new JObject()
    for (const property of this.properties.values()) copy.add(property.clone() as JProperty)
    return copy
  }
  children(): readonly JToken[] {
    chargeItems(this.properties.size)
    return [...this.properties.values()]
  }
  drop(child: JToken): void {
    this.delete((child as JProperty).name)
  }
  swap(child: JToken, value: JToken): void {
    if (!(value instanceof JProperty)) throw argument("Can not add a value to Newtonsoft.Json.Linq.JObject.")
    const { name } = child as JProperty
    if (value.name !== name && this.properties.has(value.name)) this.add(value)
    this.#reorder((mine) => (mine.name === name ? [adopt(this, value) as JProperty] : [mine]))
  }
  /** Inserts a property next to one of its own. @throws ArgumentException if the name exists */
  insertBeside(child: JProperty, property: JProperty, offset: number): void {
    this.add(property)
    const added = this.properties.get(property.name) as JProperty
    this.#reorder((mine) =>
      mine === added ? [] : mine !== child ? [mine] : offset === 0 ? [added, mine] : [mine, added],
    )
  }
  #reorder(change: (property: JProperty) => readonly JProperty[]): void {
    const all = [...this.properties.values()].flatMap(change)
    this.properties.clear()
    for (const property of all) this.properties.set(property.name, property)
  }
}

/** A list of tokens. Each item knows its array, so a token that has a parent is copied when it is added. */
export class JArray extends JToken {
  readonly typeName = "Newtonsoft.Json.Linq.JArray"
  readonly kind = "Array"
  readonly items: JToken[] = []

  add(value: JToken): void {
    chargeItems(1)
    this.items.push(adopt(this, value))
  }
  insert(index: number, value: JToken): void {
    if (index < 0 || index > this.items.length) throw outOfRange("index")
    chargeItems(1)
    this.items.splice(index, 0, adopt(this, value))
  }
  /** The item at an index. Throws the exception of .NET's list outside of the array. */
  at(index: number): JToken {
    const found = this.items[index]
    if (found === undefined)
      throw new CsException(
        "ArgumentOutOfRangeException",
        "Index was out of range. Must be non-negative and less than the size of the collection. (Parameter 'index')",
      )
    return found
  }
  setAt(index: number, value: JToken): void {
    this.at(index).parent = null
    this.items[index] = adopt(this, value)
  }
  clone(): JToken {
    const copy = new JArray()
    for (const item of this.items) copy.add(item.clone())
    return copy
  }
  children(): readonly JToken[] {
    chargeItems(this.items.length)
    return [...this.items]
  }
  drop(child: JToken): void {
    const index = this.items.indexOf(child)
    if (index >= 0) this.items.splice(index, 1)
  }
  swap(child: JToken, value: JToken): void {
    this.setAt(this.items.indexOf(child), value)
  }
}
