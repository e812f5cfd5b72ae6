import { isNumberType, numberTypes } from "../../../runtime/azure/csharp/numbers.ts"
import { lineage, type Member, typeInfo } from "../../../runtime/azure/csharp/table.ts"
import { type CsType, printType, sameType } from "../../../runtime/azure/csharp/type.ts"
import type { CsNode } from "../../../runtime/plan/csharp.ts"
import { CsharpMistake } from "./source.ts"
import { isValueType } from "./type-names.ts"
import { type Typed, typed } from "./typed.ts"

/** A conversion: the resulting node, and its cost; lower is better. */
export interface Converted {
  readonly node: CsNode
  readonly cost: number
}

/** Implicit numeric conversions, nearest first. */
const widening: Readonly<Record<string, readonly string[]>> = {
  sbyte: ["short", "int", "long", "float", "double", "decimal"],
  byte: ["short", "ushort", "int", "uint", "long", "ulong", "float", "double", "decimal"],
  short: ["int", "long", "float", "double", "decimal"],
  ushort: ["int", "uint", "long", "ulong", "float", "double", "decimal"],
  char: ["ushort", "int", "uint", "long", "ulong", "float", "double", "decimal"],
  int: ["long", "float", "double", "decimal"],
  uint: ["long", "ulong", "float", "double", "decimal"],
  long: ["float", "double", "decimal"],
  ulong: ["float", "double", "decimal"],
  float: ["double"],
}

export function change(node: CsNode, from: CsType, to: CsType): CsNode {
  return { k: "convert", from: printType(from), to: printType(to), on: node }
}

/** Whether fields of anonymous types keep this type at run time: a double without a fraction stays a double in JSON. */
export function isBoxedField({ name }: CsType): boolean {
  return name === "double" || name === "float"
}

/** The implicit conversion of an expression to a type, or undefined. Callers handle functions themselves. */
export function implicit(from: Typed, to: CsType): Converted | undefined {
  const { type, node } = from
  if (sameType(type, to) || type.name === "never") return { node, cost: 0 }
  if (type.name === "null") return acceptsNull(to) ? { node, cost: to.name === "object" ? 2 : 1 } : undefined
  if (type.name === "void") return undefined
  if (to.name === "dynamic" || to.name === "object")
    return {
      node: isValueType(type) || type.name === "?" ? change(node, type, { name: "object", args: [] }) : node,
      cost: 8,
    }
  if (type.name === "dynamic") return { node: change(node, { name: "object", args: [] }, to), cost: 5 }
  return (
    numeric(from, to) ??
    nullable(from, to) ??
    itemwise(type, node, to) ??
    reference(from, to) ??
    declared(from, to, "op_Implicit")
  )
}

function acceptsNull(to: CsType): boolean {
  return !isValueType(to)
}

/**
 * Implicit conversions of numbers. A constant int fits any whole type that has its value. The cost grows with the distance, so that the
 * nearest overload is chosen.
 */
function numeric({ type, node, constant }: Typed, to: CsType): Converted | undefined {
  if (!isNumberType(to.name)) return undefined
  const steps = Object.hasOwn(widening, type.name) ? (widening[type.name] as readonly string[]) : []
  const distance = steps.indexOf(to.name)
  if (distance >= 0) return { node: change(node, type, to), cost: 1 + distance * 0.2 }
  if (type.name !== "int" || typeof constant !== "number") return undefined
  const { least, most } = numberTypes[to.name] as { least?: bigint; most?: bigint }
  const fits =
    least !== undefined && most !== undefined && BigInt(constant) >= least && BigInt(constant) <= most
  return fits ? { node: change(node, type, to), cost: 1.9 } : undefined
}

/** A value becomes nullable after it was converted to the inner type. */
function nullable(from: Typed, to: CsType): Converted | undefined {
  if (to.name !== "?") return undefined
  const inner = to.args[0] as CsType
  if (from.type.name === "?") {
    const bare = from.type.args[0] as CsType
    const way = numeric(typed(from.node, bare), inner)
    return way === undefined ? undefined : { node: change(from.node, from.type, to), cost: way.cost + 1 }
  }
  const way = implicit(from, inner)
  return way === undefined ? undefined : { node: way.node, cost: way.cost + 1 }
}

/** A tuple as another tuple type, when no item needs a change. */
function itemwise(type: CsType, node: CsNode, to: CsType): Converted | undefined {
  if (type.name !== "ValueTuple" || to.name !== "ValueTuple" || type.args.length !== to.args.length)
    return undefined
  const ways = type.args.map((arg, index) => implicit(typed(node, arg), to.args[index] as CsType))
  return ways.every((way) => way?.node === node)
    ? { node, cost: Math.max(...ways.map((way) => way?.cost ?? 0)) }
    : undefined
}

/** To a base type, an interface, or a sequence of a base type of the elements. */
function reference({ type, node }: Typed, to: CsType): Converted | undefined {
  const above = lineage(type)
  const distance = above.findIndex((base) => base.name === to.name && fitsArguments(base, to))
  if (distance < 0) return undefined
  return { node, cost: 1 + distance * 0.5 }
}

/** The type arguments of a generic type. Sequences of reference types are covariant in .NET. */
function fitsArguments(base: CsType, to: CsType): boolean {
  if (base.args.length !== to.args.length) return false
  return base.args.every((arg, index) => {
    const wanted = to.args[index] as CsType
    if (sameType(arg, wanted)) return true
    // A sequence of references is also a sequence of their base types.
    return !isValueType(arg) && !isValueType(wanted) && lineage(arg).some((above) => sameType(above, wanted))
  })
}

/** A conversion that one of the two types declares: `op_Implicit` or `op_Explicit`. */
export function declared(
  from: Typed,
  to: CsType,
  name: "op_Implicit" | "op_Explicit",
): Converted | undefined {
  let best: Converted | undefined
  for (const owner of [...lineage(from.type), ...lineage(to)])
    for (const member of typeInfo(owner.name)?.members.get(name) ?? []) {
      const way = throughMember(from, to, member)
      if (way !== undefined && (best === undefined || way.cost < best.cost)) best = way
    }
  return best
}

/** A conversion that a type declares. It costs more than any built-in one. */
function throughMember(from: Typed, to: CsType, member: Member): Converted | undefined {
  const parameter = member.parameters[0]?.type as CsType
  // The result must have the target type. The parameter must accept the source type or one of its bases.
  if (!sameType(member.result, to) && !(to.name === member.result.name && to.args.length === 0))
    return undefined
  const way = sameType(from.type, parameter)
    ? { node: from.node, cost: 0 }
    : (numeric(from, parameter) ?? (from.type.name === "null" ? undefined : reference(from, parameter)))
  if (way === undefined) return undefined
  return { node: { k: "call", member: member.id, args: [way.node] }, cost: 10 + way.cost }
}

/** Converts a value, or throws that its type is wrong. */
export function demand(
  from: Typed,
  to: CsType,
  place: { readonly start: number; readonly end: number },
): CsNode {
  const way = implicit(from, to)
  if (way !== undefined) return way.node
  throw new CsharpMistake(
    "type",
    `expected \`${printType(to)}\`, found \`${printType(from.type)}\``,
    place.start,
    place.end,
    explicit(from, to) === undefined
      ? "Use a value of that type."
      : `Cast it: \`(${printType(to)})\` before it, or convert it.`,
  )
}

/** The explicit conversion `(T)x`. Undefined when there is none. */
export function explicit(from: Typed, to: CsType): CsNode | undefined {
  const { type, node } = from
  const way = implicit(from, to)
  if (way !== undefined) return way.node
  const [a, b] = [bare(type), bare(to)]
  const isNumeric = (name: string): boolean => isNumberType(name) || name === "char"
  if (isNumeric(a.name) && isNumeric(b.name)) return change(node, type, to)
  if (sameType(a, b)) return change(node, type, to)
  const own = declared(from, to, "op_Explicit") ?? (type.name === "?" ? undefined : throughNumbers(from, to))
  if (own !== undefined) return own.node
  if (type.name === "object" || type.name === "null") return change(node, { name: "object", args: [] }, to)
  const related =
    lineage(b).some((base) => base.name === a.name) || lineage(a).some((base) => base.name === b.name)
  return related || isInterface(a) || isInterface(b) ? change(node, type, to) : undefined
}

/** `(byte)jtoken` through another numeric type, as in C# when a type declares only some conversions. */
function throughNumbers(from: Typed, to: CsType): Converted | undefined {
  if (!isNumberType(to.name) || lineage(from.type).length < 2) return undefined
  const first = declared(from, { name: "long", args: [] }, "op_Explicit")
  return first === undefined
    ? undefined
    : { node: change(first.node, { name: "long", args: [] }, to), cost: first.cost + 5 }
}

function bare(type: CsType): CsType {
  return type.name === "?" ? (type.args[0] as CsType) : type
}

function isInterface(type: CsType): boolean {
  return /^I[A-Z]/.test(type.name) && !isValueType(type)
}
