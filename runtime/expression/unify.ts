import { type CelTypeTree, listOf, mapOf, simpleTypes } from "./types.ts"

/** The types bound to the type letters of a signature in one call. */
export interface TypeBindings {
  [letter: string]: CelTypeTree | undefined
}

/** Empty bindings. */
export function newBindings(): TypeBindings {
  return { A: undefined, B: undefined }
}

const { dyn } = simpleTypes
const nullable = new Set(["timestamp", "duration", "ipaddress"])

function isLetter(type: CelTypeTree): boolean {
  return type.name.length === 1 && type.name >= "A" && type.name <= "Z"
}

function acceptsNull(type: CelTypeTree, isObject: (name: string) => boolean): boolean {
  return nullable.has(type.name) || isObject(type.name)
}

/**
 * Whether an argument of type `actual` is accepted where `wanted` is declared. `dyn` is always accepted, inside lists and maps too: then the evaluation
 * checks. Type letters are bound here. Null is accepted for timestamps, durations, addresses and objects.
 */
export function accepts(
  wanted: CelTypeTree,
  actual: CelTypeTree,
  bindings: TypeBindings,
  isObject: (name: string) => boolean,
): boolean {
  if (isLetter(wanted)) {
    const bound = bindings[wanted.name]
    if (bound === undefined || bound.name === "dyn") {
      if (bound === undefined) bindings[wanted.name] = actual
      return true
    }
    if (bound.name === "null" && acceptsNull(actual, isObject)) {
      bindings[wanted.name] = actual
      return true
    }
    return accepts(bound, actual, bindings, isObject)
  }
  if (wanted.name === "dyn" || actual.name === "dyn") return true
  if (actual.name === "null" && acceptsNull(wanted, isObject)) return true
  if (wanted.name !== actual.name || wanted.args.length !== actual.args.length) return false
  return wanted.args.every((arg, index) => accepts(arg, actual.args[index] ?? dyn, bindings, isObject))
}

/** A signature's type with its letters replaced. */
export function resolve(type: CelTypeTree, bindings: TypeBindings): CelTypeTree {
  if (isLetter(type)) return bindings[type.name] ?? dyn
  const [first, second] = type.args
  if (type.name === "list" && first !== undefined) return listOf(resolve(first, bindings))
  if (type.name === "map" && first !== undefined && second !== undefined) {
    return mapOf(resolve(first, bindings), resolve(second, bindings))
  }
  return type
}

/** The common type of two types, or `dyn` if they differ. */
export function join(left: CelTypeTree | undefined, right: CelTypeTree): CelTypeTree {
  return left === undefined || left.text === right.text ? right : dyn
}
