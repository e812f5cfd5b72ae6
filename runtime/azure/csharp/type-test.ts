import { CsTuple } from "./collections.ts"
import { Decimal } from "./decimal.ts"
import { CsException, nullReference } from "./errors.ts"
import { convertNumber, dotnetName, isNumberType, numberTypes } from "./numbers.ts"
import { typeInfo } from "./table.ts"
import type { CsType } from "./type.ts"
import { Boxed, typeNameOf } from "./values.ts"

/** Whether a value has a type, for `is`: false for null. Of generic types it tests only the type itself, not its arguments. */
export function isInstance(value: unknown, type: CsType): boolean {
  if (value === null || value === undefined) return false
  const { name } = type
  if (name === "object") return true
  if (name === "?") return isInstance(value, type.args[0] as CsType)
  if (name === "[]") {
    const isBytes = type.args[0]?.name === "byte"
    return isBytes ? value instanceof Uint8Array : Array.isArray(value)
  }
  if (name === "Func" || name === "Action") return typeof value === "function"
  if (isNumberType(name)) return isNumber(value, name)
  if (value instanceof CsException) return value.isA(name)
  return typeInfo(name)?.holds?.(value) === true
}

function isNumber(value: unknown, name: string): boolean {
  if (value instanceof Boxed) return value.typeName === name
  if (name === "int") return typeof value === "number" && Number.isInteger(value)
  // A whole double from a variable of the gateway is a plain number like any int.
  if (name === "double") return typeof value === "number" && !Number.isInteger(value)
  if (name === "long") return typeof value === "bigint"
  return name === "decimal" && value instanceof Decimal
}

/** Converts a value to `object`: values whose type would be ambiguous are boxed. */
export function box(value: unknown, from: string): unknown {
  if (from === "double" && typeof value === "number")
    return Number.isInteger(value) ? new Boxed("double", value) : value
  if (["int", "long", "decimal", "string", "bool"].includes(from)) return value
  if (
    (isNumberType(from) || from === "char") &&
    (typeof value === "number" || typeof value === "bigint" || typeof value === "string")
  )
    return new Boxed(from, value)
  return value
}

/** Converts an `object` to a value type. Numbers from outside the program are accepted if they fit. @throws InvalidCastException */
export function unbox(value: unknown, type: CsType): unknown {
  if (value === null || value === undefined) throw nullReference()
  const { name } = type
  const bare = value instanceof Boxed ? value.value : value
  if (isNumberType(name)) {
    if (value instanceof Boxed && value.typeName !== name) throw castError(value, name)
    const holds = numberTypes[name]?.holds
    if (holds === "decimal" ? bare instanceof Decimal : typeof bare === "number" || typeof bare === "bigint")
      return fitted(bare, name)
    throw castError(value, name)
  }
  if (name === "char") {
    if (typeof bare === "string" && bare.length === 1) return bare
    throw castError(value, name)
  }
  return cast(value, type)
}

function fitted(value: unknown, name: string): unknown {
  const holds = numberTypes[name]?.holds
  if (holds === "decimal" || name === "double" || name === "float")
    return typeof value === "bigint" ? Number(value) : value
  if (typeof value === "number" && !Number.isInteger(value)) throw castError(value, name)
  if (holds === "number" && typeof value === "bigint") return convertNumber(value, "long", name, true)
  return convertNumber(value, typeof value === "bigint" ? "long" : "int", name, true)
}

/** A cast between reference types; null stays null. @throws InvalidCastException */
export function cast(value: unknown, type: CsType): unknown {
  if (value === null || value === undefined || isInstance(value, type)) return value ?? null
  throw castError(value, type.name)
}

function castError(value: unknown, name: string): CsException {
  const shown = value instanceof Boxed ? `System.${dotnetName(value.typeName)}` : typeNameOf(value)
  return new CsException(
    "InvalidCastException",
    `Unable to cast object of type '${shown}' to type '${dotnetName(name)}'.`,
  )
}

/** The initial value of a variable of a type, and the result of `default`. */
export function defaultOf(type: CsType): unknown {
  const { name } = type
  if (name === "decimal") return Decimal.fromInt(0)
  if (isNumberType(name)) return numberTypes[name]?.holds === "bigint" ? 0n : 0
  if (name === "bool") return false
  if (name === "char") return "\0"
  if (name === "ValueTuple") return new CsTuple(type.args.map(defaultOf))
  const make = typeInfo(name)?.isValue === true ? typeInfo(name)?.members.get("default")?.[0]?.run : undefined
  return make === undefined ? null : (make as () => unknown)()
}
