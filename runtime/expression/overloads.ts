import type { Signature } from "./signatures.ts"
import type { CallNode } from "./syntax-tree.ts"
import { type CelTypeTree, simpleTypes } from "./types.ts"
import { accepts, join, newBindings, resolve } from "./unify.ts"

type IsObject = (name: string) => boolean

const noBindings = newBindings()

/** The result type if the arguments fit; type variables are bound from left to right. */
function match(
  { parameters, returns, isGeneric }: Signature,
  types: readonly CelTypeTree[],
  isObject: IsObject,
): CelTypeTree | undefined {
  if (parameters.length !== types.length) return undefined
  const bindings = isGeneric ? newBindings() : noBindings
  for (let index = 0; index < types.length; index++) {
    const wanted = parameters[index]
    const type = types[index]
    if (wanted === undefined || type === undefined || !accepts(wanted, type, bindings, isObject))
      return undefined
  }
  return isGeneric ? resolve(returns, bindings) : returns
}

/** The overload with exactly these types. There is at most one, and no other applies unless a type is `dyn` or null. */
function exactly(overloads: readonly Signature[], types: readonly CelTypeTree[]): CelTypeTree | undefined {
  const [first, second, third] = types
  for (const { parameters, returns } of overloads) {
    if (parameters.length === types.length && parameters[0] === first && parameters[1] === second) {
      if (types.length < 3 || (types.length === 3 && parameters[2] === third)) return returns
    }
  }
  return undefined
}

/** Whether one of the types is assignable to several parameter types. */
function isAnyOpen(types: readonly CelTypeTree[]): boolean {
  for (const type of types) if (type === simpleTypes.dyn || type === simpleTypes.null) return true
  return false
}

/** The result type of a call with these argument types; `dyn` if a `dyn` argument leaves it open; undefined if no overload applies. */
export function findOverload(
  overloads: readonly Signature[],
  types: readonly CelTypeTree[],
  isObject: IsObject,
): CelTypeTree | undefined {
  let result = isAnyOpen(types) ? undefined : exactly(overloads, types)
  if (result !== undefined) return result
  for (const signature of overloads) {
    const returns = match(signature, types, isObject)
    if (returns === undefined) continue
    // If one overload of a name returns bool, all do.
    if (returns === simpleTypes.bool) return returns
    result = join(result, returns)
  }
  return result
}

function count(number: number): string {
  return `${number} argument${number === 1 ? "" : "s"}`
}

/** The only wrong argument: the call would be valid with `dyn` in its place. */
function culprit(
  overloads: readonly Signature[],
  types: readonly CelTypeTree[],
  isObject: IsObject,
): number | undefined {
  const wrong = types.flatMap((_, index) => {
    const others = types.map((type, position) => (position === index ? simpleTypes.dyn : type))
    return findOverload(overloads, others, isObject) === undefined ? [] : [index]
  })
  return wrong.length === 1 ? wrong[0] : undefined
}

/** Where and why no overload applies to a call. `types` starts with the receiver if the overloads do. */
export function callFault(
  node: CallNode,
  overloads: readonly Signature[],
  types: readonly CelTypeTree[],
  isObject: IsObject,
): { message: string; start: number; end: number } {
  const name = `\`${node.name}\``
  const given = types.map((type) => `\`${type.text}\``).join(" and ")
  if (node.form === "operator") {
    return { message: `${name} does not take ${given}`, start: node.start, end: node.end }
  }
  const offset = types.length - node.args.length
  const place = { start: node.nameStart, end: node.end }
  const receiver = types[0]
  if (offset === 1 && receiver !== undefined) {
    const fitting = overloads.filter(
      (row) => row.parameters[0] && accepts(row.parameters[0], receiver, newBindings(), isObject),
    )
    if (fitting.length === 0) {
      return {
        message: `${name} is not a method of \`${receiver.text}\``,
        start: node.nameStart,
        end: node.nameEnd,
      }
    }
  }
  const sameCount = overloads.filter((row) => row.parameters.length === types.length)
  if (sameCount.length === 0) {
    const counts = [...new Set(overloads.map((row) => row.parameters.length - offset))]
    return { message: `${name} takes ${counts.map(count).join(" or ")}, not ${node.args.length}`, ...place }
  }
  const index = culprit(sameCount, types, isObject)
  const type = index === undefined ? undefined : types[index]
  const argument = index === undefined ? undefined : node.args[index - offset]
  if (index === undefined || type === undefined || argument === undefined) {
    return { message: `${name} does not take ${given}`, ...place }
  }
  const wanted = [
    ...new Set(sameCount.map((row) => row.parameters[index]?.text.replace(/<.*[A-Z].*>/, "") ?? "")),
  ]
  const list = wanted.map((text) => `\`${text}\``).join(", ")
  return {
    message: `${name} takes ${list} here, not \`${type.text}\``,
    start: argument.start,
    end: argument.end,
  }
}
