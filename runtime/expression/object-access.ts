import { adapterFor } from "./adapt.ts"
import type { DeclaredMethod, DeclaredObject } from "./environment.ts"
import { ExpressionError } from "./expression-error.ts"
import { type CelMap, type JsonObject, kindOf, mapGet } from "./values.ts"

type Read = (operand: unknown) => unknown

function missing(field: string): ExpressionError {
  return new ExpressionError("no-such-key", `there is no \`${field}\``)
}

/** A field of a value without declared fields: an own property, or the key of a map. */
function undeclared(operand: unknown, field: string): unknown {
  const kind = kindOf(operand)
  if (kind === "map" || kind === "object") return mapGet(operand as CelMap | JsonObject, field)
  throw new ExpressionError("type", `${kind} has no field \`${field}\``)
}

function fieldOf(operand: unknown, field: string, object: DeclaredObject | undefined): unknown {
  const declared = object?.fields.has(field) === true && !(field in Object.prototype)
  return declared ? (operand as Record<string, unknown>)[field] : undeclared(operand, field)
}

/**
 * Reads `operand.field` or, with `test`, whether it is present. A declared field is a plain property read, so that getters of classes work. Every other
 * name, and names that all objects inherit, must be an own property.
 */
export function fieldReader(field: string, object: DeclaredObject | undefined, test: boolean): Read {
  const declared = object?.fields.has(field) === true && !(field in Object.prototype)
  const get: Read = declared
    ? (operand) => (operand as Record<string, unknown>)[field]
    : (operand) => undeclared(operand, field)
  if (test) return (operand) => get(operand) !== undefined
  return (operand) => {
    const value = get(operand)
    if (value === undefined) throw missing(field)
    return value
  }
}

/** Reads `operand[name]` of an object type, where only the evaluation knows the name. */
export function readNamedField(operand: unknown, name: unknown, object: DeclaredObject): unknown {
  if (typeof name !== "string")
    throw new ExpressionError("type", `the name of a field must be a string, not ${kindOf(name)}`)
  const value = fieldOf(operand, name, object)
  if (value === undefined) throw missing(name)
  const type = object.fields.get(name) ?? object.open
  const adapt = type === undefined ? undefined : adapterFor(type)
  return adapt === undefined ? value : adapt(value)
}

/** Calls a declared method. An exception of the host becomes the error `other`, with that exception as its cause. */
export function methodCaller(name: string, method: DeclaredMethod): (...values: unknown[]) => unknown {
  const { call } = method
  const invoke = (object: unknown, args: unknown[]): unknown => {
    if (call !== undefined) return call(object, ...args)
    const own = (object as Record<string, unknown>)[name]
    if (typeof own !== "function" || own === Reflect.get(Object.prototype, name)) throw missing(name)
    return Reflect.apply(own, object, args)
  }
  return (object, ...args) => {
    let value: unknown
    try {
      value = invoke(object, args)
    } catch (error) {
      if (error instanceof ExpressionError) throw error
      const failure = new ExpressionError("other", `\`${name}\` failed`)
      failure.cause = error
      throw failure
    }
    if (value === undefined) throw missing(name)
    return value
  }
}
