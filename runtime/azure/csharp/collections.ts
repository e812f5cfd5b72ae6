import { argument, argumentNull, CsException, invalidOperation, outOfRange } from "./errors.ts"
import { chargeItems } from "./run.ts"
import { CsObject, keyOf, same, toText } from "./values.ts"

/** System.Collections.Generic.List. */
export class CsList extends CsObject {
  readonly typeName: string = "System.Collections.Generic.List`1"
  items: unknown[]
  constructor(items: unknown[] = []) {
    super()
    this.items = items
  }
  add(item: unknown): void {
    chargeItems(1)
    // Growing is cheap until the list is large; then each item is charged as if the list were copied.
    if (this.items.length >= 1_000_000) chargeItems(this.items.length + 1)
    this.items.push(item)
  }
  at(index: number): unknown {
    if (index < 0 || index >= this.items.length) throw listRange()
    return this.items[index]
  }
  override elements(): readonly unknown[] {
    return this.items
  }
}

export const listRange = (): CsException =>
  new CsException(
    // The message of .NET, word for word: documents compare `context.LastError.Message`.
    "ArgumentOutOfRangeException",
    "Index was out of range. Must be non-negative and less than the size of the collection. (Parameter 'index')",
  )

/** The elements of one key, from `GroupBy`. */
export class Grouping extends CsObject {
  readonly typeName = "System.Linq.Grouping"
  readonly key: unknown
  readonly items: unknown[] = []
  constructor(key: unknown) {
    super()
    this.key = key
  }
  override elements(): readonly unknown[] {
    return this.items
  }
}

/** An entry of a dictionary. Its text is `[key, value]`, as in .NET. */
export class KeyValuePair extends CsObject {
  readonly typeName = "System.Collections.Generic.KeyValuePair`2"
  readonly key: unknown
  readonly value: unknown
  constructor(key: unknown, value: unknown) {
    super()
    this.key = key
    this.value = value
  }
  override text(): string {
    return `[${toText(this.key)}, ${toText(this.value)}]`
  }
  override same(other: unknown): boolean {
    return other instanceof KeyValuePair && same(other.key, this.key) && same(other.value, this.value)
  }
}

/** How keys are compared: by the rules of their type, or as texts without letter case. */
export type KeyComparison = "default" | "ignore-case"

/** System.Collections.Generic.Dictionary, in insertion order. */
export class CsDictionary extends CsObject {
  readonly typeName = "System.Collections.Generic.Dictionary`2"
  readonly comparison: KeyComparison
  // Made on first use, because the context has dictionaries that most programs never ask.
  #made: Map<unknown, [unknown, unknown]> | undefined

  constructor(comparison: KeyComparison = "default") {
    super()
    this.comparison = comparison
  }
  get #entries(): Map<unknown, [unknown, unknown]> {
    this.#made ??= new Map()
    return this.#made
  }
  #key(key: unknown): unknown {
    if (key === null || key === undefined) throw argumentNull("key")
    // Upper case, because .NET's `OrdinalIgnoreCase` folds to upper case.
    return this.comparison === "ignore-case" && typeof key === "string" ? key.toUpperCase() : keyOf(key)
  }
  get size(): number {
    return this.#entries.size
  }
  has(key: unknown): boolean {
    return this.#entries.has(this.#key(key))
  }
  find(key: unknown): { readonly value: unknown } | undefined {
    const found = this.#entries.get(this.#key(key))
    return found === undefined ? undefined : { value: found[1] }
  }
  get(key: unknown): unknown {
    const found = this.#entries.get(this.#key(key))
    if (found === undefined) throw keyNotFound(key)
    return found[1]
  }
  set(key: unknown, value: unknown): void {
    chargeItems(1)
    const id = this.#key(key)
    const known = this.#entries.get(id)
    // The first key's spelling stays, as in .NET.
    if (known !== undefined) known[1] = value
    else this.#entries.set(id, [key, value])
  }
  add(key: unknown, value: unknown): void {
    // `Add` of a known key throws; the indexer replaces.
    if (this.has(key)) throw argument(`An item with the same key has already been added. Key: ${toText(key)}`)
    this.set(key, value)
  }
  delete(key: unknown): boolean {
    return this.#entries.delete(this.#key(key))
  }
  clear(): void {
    this.#entries.clear()
  }
  keys(): unknown[] {
    chargeItems(this.size)
    return [...this.#entries.values()].map(([key]) => key)
  }
  values(): unknown[] {
    chargeItems(this.size)
    return [...this.#entries.values()].map(([, value]) => value)
  }
  override elements(): readonly unknown[] {
    chargeItems(this.size)
    return [...this.#entries.values()].map(([key, value]) => new KeyValuePair(key, value))
  }
}

export function keyNotFound(key: unknown): CsException {
  return new CsException(
    "KeyNotFoundException",
    `The given key '${toText(key)}' was not present in the dictionary.`,
  )
}

/** System.Collections.Generic.HashSet, in insertion order. */
export class CsHashSet extends CsObject {
  readonly typeName = "System.Collections.Generic.HashSet`1"
  readonly comparison: KeyComparison
  readonly #items = new Map<unknown, unknown>()

  constructor(comparison: KeyComparison = "default") {
    super()
    this.comparison = comparison
  }
  #key(item: unknown): unknown {
    return this.comparison === "ignore-case" && typeof item === "string" ? item.toUpperCase() : keyOf(item)
  }
  get size(): number {
    return this.#items.size
  }
  has(item: unknown): boolean {
    return this.#items.has(this.#key(item))
  }
  add(item: unknown): boolean {
    if (this.has(item)) return false
    chargeItems(1)
    this.#items.set(this.#key(item), item)
    return true
  }
  delete(item: unknown): boolean {
    return this.#items.delete(this.#key(item))
  }
  clear(): void {
    this.#items.clear()
  }
  override elements(): readonly unknown[] {
    chargeItems(this.size)
    return [...this.#items.values()]
  }
}

/** Queue: first in, first out. */
export class CsQueue extends CsObject {
  readonly typeName = "System.Collections.Generic.Queue`1"
  items: unknown[] = []
  take(): unknown {
    if (this.items.length === 0) throw invalidOperation("Queue empty.")
    // `shift` moves the rest, so it is charged by the length.
    chargeItems(this.items.length >>> 8)
    return this.items.shift()
  }
  peek(): unknown {
    if (this.items.length === 0) throw invalidOperation("Queue empty.")
    return this.items[0]
  }
  put(item: unknown): void {
    chargeItems(1)
    this.items.push(item)
  }
  override elements(): readonly unknown[] {
    return this.items
  }
}

/** Stack: last in, first out; enumerated from the top. */
export class CsStack extends CsObject {
  readonly typeName = "System.Collections.Generic.Stack`1"
  items: unknown[] = []
  take(): unknown {
    if (this.items.length === 0) throw invalidOperation("Stack empty.")
    return this.items.pop()
  }
  peek(): unknown {
    if (this.items.length === 0) throw invalidOperation("Stack empty.")
    return this.items[this.items.length - 1]
  }
  put(item: unknown): void {
    chargeItems(1)
    this.items.push(item)
  }
  override elements(): readonly unknown[] {
    return this.items.toReversed()
  }
}

/** System.Tuple and value tuples: items in order. */
export class CsTuple extends CsObject {
  readonly typeName = "System.Tuple"
  readonly items: readonly unknown[]
  constructor(items: readonly unknown[]) {
    super()
    this.items = items
  }
  override text(): string {
    return `(${this.items.map(toText).join(", ")})`
  }
  override same(other: unknown): boolean {
    return (
      other instanceof CsTuple &&
      other.items.length === this.items.length &&
      this.items.every((item, index) => same(item, other.items[index]))
    )
  }
  override hash(): unknown {
    // NUL cannot be in a text of one item and look like two.
    return `tuple:${this.items.map((item) => toText(item)).join("\u0000")}`
  }
}

/** An object of an anonymous type: its fields in order, in a map and never as properties. */
export class Anonymous extends CsObject {
  readonly typeName = "<>f__AnonymousType"
  readonly fields: ReadonlyMap<string, unknown>
  constructor(fields: ReadonlyMap<string, unknown>) {
    super()
    this.fields = fields
  }
  override text(): string {
    return `{ ${[...this.fields].map(([name, value]) => `${name} = ${toText(value)}`).join(", ")} }`
  }
  override same(other: unknown): boolean {
    // Anonymous objects of one shape are equal by their fields, and their text has all of them.
    return other instanceof Anonymous && other.text() === this.text()
  }
  override hash(): unknown {
    return this.text()
  }
}

/** A value of an enumeration; flags are joined by `|`. */
export class CsEnum extends CsObject {
  readonly typeName: string
  readonly names: readonly string[]
  readonly value: number
  constructor(typeName: string, names: readonly string[], value: number) {
    super()
    this.typeName = typeName
    this.names = names
    this.value = value
  }
  has(name: string): boolean {
    return this.names.includes(name)
  }
  compareTo(other: unknown): number {
    return this.value - (other as CsEnum).value
  }
  override text(): string {
    return this.names.join(", ")
  }
  override same(other: unknown): boolean {
    return other instanceof CsEnum && other.typeName === this.typeName && other.value === this.value
  }
  override hash(): unknown {
    return `${this.typeName}:${this.value}`
  }
}

export function checkRange(index: number, count: number, length: number): void {
  // The sum could overflow in C#; numbers here cannot.
  if (index < 0 || count < 0 || index + count > length) throw outOfRange("index")
}
