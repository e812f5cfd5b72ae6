import { lineage, type Member, type Parameter } from "../../../runtime/azure/csharp/table.ts"
import { type CsType, named, printType, sameType, substitute } from "../../../runtime/azure/csharp/type.ts"
import type { CsNode } from "../../../runtime/plan/csharp.ts"
import { type Converted, implicit } from "./conversions.ts"
import type { Scope } from "./scope.ts"
import type { ArgumentSyntax, ExpressionSyntax } from "./syntax-tree.ts"
import { isValueType, resolveType } from "./type-names.ts"
import { type Typed, types } from "./typed.ts"

type Lambda = Extract<ExpressionSyntax, { kind: "lambda" }>

/** An argument before its parameter is known: a checked value, an unchecked function, or an assignable target. */
export type Given =
  | { readonly kind: "value"; readonly name?: string; readonly value: Typed; readonly at: ArgumentSyntax }
  | { readonly kind: "lambda"; readonly name?: string; readonly lambda: Lambda; readonly at: ArgumentSyntax }
  | { readonly kind: "out"; readonly name?: string; readonly at: ArgumentSyntax }

/** Lambdas are not checked yet: their types depend on the overload that is chosen. */
export function readArguments(args: readonly ArgumentSyntax[], scope: Scope): Given[] {
  return args.map((at): Given => {
    const label = at.name === undefined ? {} : { name: at.name }
    if (at.out !== undefined) return { kind: "out", ...label, at }
    const value = at.value as ExpressionSyntax
    if (value.kind === "lambda") return { kind: "lambda", ...label, lambda: value, at }
    const group = scope.rules.group(value, scope)
    if (group !== undefined) return { kind: "lambda", ...label, lambda: group, at }
    return { kind: "value", ...label, value: scope.operand(value), at }
  })
}

/** A member with matched arguments: their nodes, the result type, and the cost of their conversions. */
export interface Fit {
  readonly member: Member
  readonly args: readonly CsNode[]
  readonly result: CsType
  readonly types: readonly string[]
  readonly cost: number
}

/**
 * Matches arguments with the parameters of a member. `owner` holds the type arguments of the object, `written` the type arguments in the call.
 * Returns undefined when they do not fit. Throws when the body of a function is wrong.
 */
export function fitMember(
  member: Member,
  owner: ReadonlyMap<string, CsType>,
  given: readonly Given[],
  written: readonly CsType[],
  scope: Scope,
): Fit | undefined {
  if (written.length > 0 && written.length !== member.generics.length) {
    // Methods of a sequence are extension methods in .NET, which take the element type as a type argument as well: `ToArray<string>()`.
    const element = member.owner === "IEnumerable" ? owner.get("T") : undefined
    const [first, ...rest] = written
    if (element === undefined || first === undefined || rest.length !== member.generics.length)
      return undefined
    if (!isKindOf(element, first)) return undefined
    return fitMember(member, new Map([...owner, ["T", first]]), given, rest, scope)
  }
  const straight = place(member.parameters, given, false)
  const found = straight === undefined ? undefined : attempt(member, straight, owner, written, scope)
  if (found !== undefined) return found
  const expanded = place(member.parameters, given, true)
  const spread = expanded === undefined ? undefined : attempt(member, expanded, owner, written, scope)
  return spread === undefined ? undefined : { ...spread, cost: spread.cost + 3 }
}

/** Whether elements of one type are elements of the other. A reference type is also any of its base types. */
function isKindOf(element: CsType, wanted: CsType): boolean {
  if (sameType(element, wanted)) return true
  return !isValueType(element) && lineage(element).some((base) => sameType(base, wanted))
}

type Placed = readonly {
  readonly parameter: Parameter
  readonly given: readonly Given[]
  readonly spread: boolean
}[]

/** Assigns arguments to parameters: by name, by order, and the rest to `params` when it is `spread`. */
function place(
  parameters: readonly Parameter[],
  given: readonly Given[],
  spread: boolean,
): Placed | undefined {
  const last = parameters[parameters.length - 1]
  if (spread && last?.kind !== "params") return undefined
  const slots: Given[][] = parameters.map(() => [])
  let next = 0
  for (const argument of given) {
    const index =
      argument.name === undefined
        ? Math.min(next++, spread ? parameters.length - 1 : next)
        : parameters.findIndex(({ name }) => name === argument.name)
    const slot = slots[index]
    const isRest = spread && index === parameters.length - 1
    if (slot === undefined || (slot.length > 0 && !isRest)) return undefined
    slot.push(argument)
  }
  const complete = parameters.every(
    (parameter, index) =>
      (slots[index] as Given[]).length > 0 ||
      parameter.fallback !== undefined ||
      (spread && index === parameters.length - 1),
  )
  if (!complete) return undefined
  return parameters.map((parameter, index) => ({
    parameter,
    given: slots[index] as Given[],
    spread: spread && index === parameters.length - 1,
  }))
}

/**
 * Tries one overload. The cost adds up the conversions of all arguments; the cheapest overload is chosen. Type arguments that are written
 * count, others are inferred.
 */
function attempt(
  member: Member,
  placed: Placed,
  owner: ReadonlyMap<string, CsType>,
  written: readonly CsType[],
  scope: Scope,
): Fit | undefined {
  const names = new Set(member.generics)
  const bound: TypeArguments = new Map(owner)
  member.generics.forEach((name, index) => {
    bound.delete(name)
    const type = written[index]
    if (type !== undefined) bound.set(name, type)
  })
  if (written.length === 0) inferFromValues(placed, names, bound)
  const args: CsNode[] = []
  let cost = member.generics.length > 0 ? 0.5 : 0
  for (const { parameter, given, spread } of placed) {
    const made =
      given.length === 0 && !spread ? leftOut(parameter) : put(parameter, given, spread, names, bound, scope)
    if (made === undefined) return undefined
    args.push(made.node)
    cost += made.cost
  }
  if (isOpen(member.result, names, bound) || member.generics.some((name) => !bound.has(name)))
    return undefined
  const carried = member.generics.length > 0 ? member.generics : member.typed ? [...owner.keys()] : []
  return {
    member,
    args,
    result: substitute(member.result, bound),
    types: member.typed ? carried.map((name) => printType(bound.get(name) ?? types.object)) : [],
    cost,
  }
}

function inferFromValues(placed: Placed, names: ReadonlySet<string>, bound: TypeArguments): void {
  for (const { parameter, given, spread } of placed)
    for (const argument of given) {
      const wanted = spread ? (parameter.type.args[0] as CsType) : parameter.type
      if (argument.kind === "value") infer(wanted, argument.value.type, names, bound)
    }
}

function leftOut({ fallback, type }: Parameter): Converted {
  return { node: { k: "const", type: printType(type), value: fallback ?? null }, cost: 0.2 }
}

/** The argument of one parameter, or the items of a `params` parameter. */
function put(
  parameter: Parameter,
  given: readonly Given[],
  spread: boolean,
  names: ReadonlySet<string>,
  bound: TypeArguments,
  scope: Scope,
): Converted | undefined {
  if (!spread) return one(given[0] as Given, parameter.type, parameter.kind === "out", names, bound, scope)
  const element = parameter.type.args[0] as CsType
  const items: CsNode[] = []
  let cost = 0
  for (const argument of given) {
    const made = one(argument, element, false, names, bound, scope)
    if (made === undefined) return undefined
    items.push(made.node)
    cost += made.cost
  }
  return { node: { k: "array", type: printType(substitute(element, bound)), items }, cost }
}

/** One argument, converted to the type of its parameter; undefined if it does not fit. */
function one(
  given: Given,
  wanted: CsType,
  isOut: boolean,
  names: ReadonlySet<string>,
  bound: TypeArguments,
  scope: Scope,
): Converted | undefined {
  if (isOut !== (given.kind === "out")) return undefined
  if (given.kind === "out") return outPlace(given.at, substitute(wanted, bound), scope)
  if (given.kind === "value") {
    const target = substitute(wanted, bound)
    return isOpen(target, names, bound) ? undefined : implicit(given.value, target)
  }
  return functionFor(given.lambda, wanted, names, bound, scope)
}

/** `out var x` declares x; `out x` writes to an existing variable. */
function outPlace({ out }: ArgumentSyntax, type: CsType, scope: Scope): Converted | undefined {
  if (out === undefined) return undefined
  if (out.type === undefined && out.name !== "_") {
    const known = scope.find(out.name)
    if (known === undefined) throw scope.unknown(out.name, 0, 0)
    return printType(known.type) === printType(type)
      ? { node: { k: "out", slot: known.slot }, cost: 0 }
      : undefined
  }
  if (
    out.type !== undefined &&
    out.type.name !== "var" &&
    printType(resolveType(out.type)) !== printType(type)
  )
    return undefined
  return { node: { k: "out", slot: scope.declare(out.name, type).slot }, cost: 0 }
}

/** A function for `Func` or `Action`. The types of its parameters are known here; its result may determine another type parameter. */
function functionFor(
  lambda: Lambda,
  wanted: CsType,
  names: ReadonlySet<string>,
  bound: TypeArguments,
  scope: Scope,
): Converted | undefined {
  const isAction = wanted.name === "Action"
  if (wanted.name !== "Func" && !isAction) return undefined
  const params = (isAction ? wanted.args : wanted.args.slice(0, -1)).map((type) => substitute(type, bound))
  if (params.length !== lambda.params.length || params.some((type) => isOpen(type, names, bound)))
    return undefined
  const result = isAction ? types.void : (wanted.args.at(-1) as CsType)
  const known = isAction || isOpen(result, names, bound) ? undefined : substitute(result, bound)
  const made = scope.rules.lambda(lambda, params, isAction ? types.void : known, scope)
  if (made === undefined) return undefined
  if (known === undefined && !isAction) infer(result, made.result, names, bound)
  return { node: made.node, cost: made.cost }
}

/** All arguments as values, for a member that is only known at run time. */
export function looseArguments(given: readonly Given[]): CsNode[] | undefined {
  const nodes: CsNode[] = []
  for (const argument of given) {
    if (argument.kind !== "value") return undefined
    const way = implicit(argument.value, named("object"))
    if (way === undefined) return undefined
    nodes.push(argument.value.type.name === "int" ? argument.value.node : way.node)
  }
  return nodes
}

/** The type parameters inferred so far. */
type TypeArguments = Map<string, CsType>

/** Infers the type parameters `names` in `wanted` from the type of an argument. A mismatch is detected later. */
function infer(wanted: CsType, given: CsType, names: ReadonlySet<string>, bound: TypeArguments): void {
  if (["null", "never"].includes(given.name)) return
  if (names.has(wanted.name) && wanted.args.length === 0) {
    const known = bound.get(wanted.name)
    // Of several arguments, the first whose type is not `object` decides.
    if (known === undefined || known.name === "object") bound.set(wanted.name, given)
    return
  }
  if (wanted.args.length === 0) return
  if (wanted.name === "?" && given.name !== "?") {
    infer(wanted.args[0] as CsType, given, names, bound)
    return
  }
  const match = lineage(given).find(
    (base) => base.name === wanted.name && base.args.length === wanted.args.length,
  )
  if (match !== undefined)
    wanted.args.forEach((arg, index) => {
      infer(arg, match.args[index] as CsType, names, bound)
    })
}

/** Whether a type contains type parameters that are not inferred yet. */
function isOpen(type: CsType, names: ReadonlySet<string>, bound: ReadonlyMap<string, CsType>): boolean {
  if (type.args.length === 0) return names.has(type.name) && !bound.has(type.name)
  return type.args.some((arg) => isOpen(arg, names, bound))
}
