import { CsException, invalidOperation } from "./errors.ts"
import { doubleText } from "./number-text.ts"
import { chargeItems } from "./run.ts"

/** An object of the library. Its fields are never accessible by names from data: programs use only the members in the table. */
export abstract class CsObject {
  /** The full .NET name of the type, for `GetType` and the default `ToString`. */
  abstract readonly typeName: string
  /** `ToString()`. */
  text(): string {
    return this.typeName
  }
  /** `Equals`; by reference unless the type overrides it. */
  same(other: unknown): boolean {
    return this === other
  }
  /** A key that is equal for equal objects, for dictionaries and sets. */
  hash(): unknown {
    return this
  }
  /** The elements for `foreach` and LINQ; undefined if the object is no sequence. */
  elements(): readonly unknown[] | undefined {
    return undefined
  }
}

/** A boxed number or character: as an `object`, its type would be ambiguous. */
export class Boxed extends CsObject {
  readonly typeName: string
  readonly value: number | bigint | string

  constructor(typeName: string, value: number | bigint | string) {
    super()
    this.typeName = typeName
    this.value = value
  }
  override text(): string {
    return toText(this.value)
  }
  override same(other: unknown): boolean {
    return other instanceof Boxed && other.typeName === this.typeName && other.value === this.value
  }
  override hash(): unknown {
    return `${this.typeName}:${this.value}`
  }
}

/** Upper case, character by character: a character with a longer upper case stays unchanged (`ß`). */
export function upperText(text: string): string {
  const made = text.toUpperCase()
  return made.length === text.length ? made : mapped(text, (each) => each.toUpperCase())
}

/** Lower case, character by character. */
export function lowerText(text: string): string {
  const made = text.toLowerCase()
  return made.length === text.length ? made : mapped(text, (each) => each.toLowerCase())
}

function mapped(text: string, change: (each: string) => string): string {
  return Array.from(text, (each) => (change(each).length === each.length ? change(each) : each)).join("")
}

/** `ToString()` in the invariant culture; null becomes the empty text, as in concatenations. */
export function toText(value: unknown): string {
  switch (typeof value) {
    case "string":
      return value
    case "number":
      return doubleText(value)
    case "bigint":
      return value.toString()
    case "boolean":
      return value ? "True" : "False"
    case "function":
      return "System.Func"
    default:
  }
  if (value === null || value === undefined) return ""
  if (value instanceof CsObject) return value.text()
  if (value instanceof CsException) return exceptionText(value)
  if (value instanceof Uint8Array) return "System.Byte[]"
  if (Array.isArray(value)) return "System.Object[]"
  return "System.Object"
}

function exceptionText(exception: CsException): string {
  const inner = exception.inner === null ? "" : ` ---> ${exceptionText(exception.inner)}`
  return `System.${exception.type}: ${exception.message}${inner}`
}

/** `object.Equals`: values by value, texts by characters, other objects by their type's rule. */
export function same(a: unknown, b: unknown): boolean {
  if (a === b) return true
  if (a instanceof CsObject) return a.same(b)
  if (b instanceof CsObject) return b.same(a)
  // A whole number from outside can be a bigint where a program has an int.
  if (typeof a === "bigint" && typeof b === "number") return Number.isInteger(b) && BigInt(b) === a
  if (typeof a === "number" && typeof b === "bigint") return same(b, a)
  return false
}

/** The key of a value in dictionaries, sets, `Distinct` and `GroupBy`. */
export function keyOf(value: unknown): unknown {
  return value instanceof CsObject ? value.hash() : value
}

/** The elements of any value that `foreach` accepts. @throws NullReferenceException, InvalidCastException */
export function elementsOf(value: unknown): readonly unknown[] {
  if (Array.isArray(value)) return value as unknown[]
  if (typeof value === "string") {
    chargeItems(value.length)
    return value.split("")
  }
  if (value instanceof Uint8Array) {
    chargeItems(value.length)
    return [...value]
  }
  if (value === null || value === undefined)
    throw new CsException("ArgumentNullException", "Value cannot be null. (Parameter 'source')")
  if (value instanceof CsObject) {
    const elements = value.elements()
    if (elements !== undefined) return elements
  }
  throw new CsException("InvalidCastException", `A ${typeNameOf(value)} is no sequence.`)
}

/** The .NET name of a value's type, as far as the value determines it. */
export function typeNameOf(value: unknown): string {
  switch (typeof value) {
    case "string":
      return "System.String"
    case "number":
      return Number.isInteger(value) ? "System.Int32" : "System.Double"
    case "bigint":
      return "System.Int64"
    case "boolean":
      return "System.Boolean"
    case "function":
      return "System.Func"
    default:
  }
  if (value instanceof CsObject) return value.typeName
  if (value instanceof CsException) return `System.${value.type}`
  if (value instanceof Uint8Array) return "System.Byte[]"
  if (Array.isArray(value)) return "System.Object[]"
  return "System.Object"
}

/** The order of `Comparer<T>.Default`. Texts are compared by code unit and not by culture: the order is equal on every machine. */
export function compareValues(a: unknown, b: unknown): number {
  if (a === b) return 0
  if (a === null || a === undefined) return b === null || b === undefined ? 0 : -1
  if (b === null || b === undefined) return 1
  if (a instanceof Boxed && b instanceof Boxed) return compareValues(a.value, b.value)
  if (isComparable(a) && isComparable(b)) return a.compareTo(b)
  if (typeof a === "string" && typeof b === "string") return compareText(a, b)
  const bothNumbers = isNumeric(a) && isNumeric(b)
  if (bothNumbers || (typeof a === "boolean" && typeof b === "boolean")) return a < b ? -1 : a > b ? 1 : 0
  throw invalidOperation("Failed to compare two elements in the array.")
}

/** Order of texts like the invariant culture, as far as letters are concerned: first without case; if only the case differs, the lower-case letter comes first. */
export function compareText(a: string, b: string): number {
  const [x, y] = [a.toLowerCase(), b.toLowerCase()]
  if (x !== y) return x < y ? -1 : 1
  return a === b ? 0 : a < b ? 1 : -1
}

function isNumeric(value: unknown): value is number | bigint {
  return typeof value === "number" || typeof value === "bigint"
}

interface Comparable {
  compareTo(other: unknown): number
}

function isComparable(value: unknown): value is Comparable {
  return value instanceof CsObject && "compareTo" in value
}
