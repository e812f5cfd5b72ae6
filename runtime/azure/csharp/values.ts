import { CsException, invalidOperation } from "./errors.ts"
import { doubleText } from "./number-text.ts"
import { chargeItems } from "./run.ts"

/** An object of the library. Data never reaches its fields: programs get at it only through the members of the table. */
export abstract class CsObject {
  /** The type's full name as .NET has it where that shows (`GetType`, the default `ToString`). */
  abstract readonly typeName: string
  /** `ToString()`. */
  text(): string {
    return this.typeName
  }
  /** `Equals`; by reference unless the type says otherwise. */
  same(other: unknown): boolean {
    return this === other
  }
  /** A key under which equal objects meet in dictionaries and sets. */
  hash(): unknown {
    return this
  }
  /** The elements `foreach` and LINQ go through; undefined when there is nothing to go through. */
  elements(): readonly unknown[] | undefined {
    return undefined
  }
}

/** A number or character that went into an `object` and could not be told from another type there. */
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

/** In capital letters, character by character: one that becomes several stays as it is (`ß`). */
export function upperText(text: string): string {
  const made = text.toUpperCase()
  return made.length === text.length ? made : mapped(text, (each) => each.toUpperCase())
}

/** In small letters, character by character. */
export function lowerText(text: string): string {
  const made = text.toLowerCase()
  return made.length === text.length ? made : mapped(text, (each) => each.toLowerCase())
}

function mapped(text: string, change: (each: string) => string): string {
  return Array.from(text, (each) => (change(each).length === each.length ? change(each) : each)).join("")
}

/** `ToString()` in the invariant culture; null gives the empty text, as in concatenations. */
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

/** `object.Equals`: values by value, texts by their characters, the rest as its type says. */
export function same(a: unknown, b: unknown): boolean {
  if (a === b) return true
  if (a instanceof CsObject) return a.same(b)
  if (b instanceof CsObject) return b.same(a)
  // A whole number from outside may be a bigint where a program made an int.
  if (typeof a === "bigint" && typeof b === "number") return Number.isInteger(b) && BigInt(b) === a
  if (typeof a === "number" && typeof b === "bigint") return same(b, a)
  return false
}

/** The key of a value in dictionaries, sets, `Distinct` and `GroupBy`. */
export function keyOf(value: unknown): unknown {
  return value instanceof CsObject ? value.hash() : value
}

/** The elements of anything `foreach` takes. @throws NullReferenceException, InvalidCastException */
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

/** .NET's name of the type a value has, as far as the value tells. */
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

/** Order of `Comparer<T>.Default`. Texts by code unit, where .NET would ask the culture: the order is the same on every machine. */
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

/**
 * Texts in the order of the invariant culture as far as letters go: without case first, and of two that differ in case
 * only the one with the small letter comes first.
 */
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
