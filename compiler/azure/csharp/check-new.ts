import { arrayOf, type CsType, named, printType } from "../../../runtime/azure/csharp/type.ts"
import type { CsNode } from "../../../runtime/plan/csharp.ts"
import { readArguments } from "./arguments.ts"
import { commonType } from "./check-function.ts"
import { change, demand, isBoxedField } from "./conversions.ts"
import { callOf, candidates, choose, indexMember, unknownMember, valueParameter } from "./members.ts"
import type { Scope } from "./scope.ts"
import { CsharpMistake } from "./source.ts"
import type { ExpressionSyntax, Initializer } from "./syntax-tree.ts"
import { resolveType } from "./type-names.ts"
import { type Typed, typed, types } from "./typed.ts"

type Of<K extends ExpressionSyntax["kind"]> = Extract<ExpressionSyntax, { kind: K }>

/** `new T(…) { … }`: the constructor call, then the members of the initializer. */
export function checkNew(expression: Of<"new">, scope: Scope, wanted: CsType | undefined): Typed {
  const type = expression.type === undefined ? wanted : resolveType(expression.type)
  if (type === undefined)
    throw new CsharpMistake(
      "type",
      "the type of `new(…)` is not known here",
      expression.start,
      expression.end,
      "Write the type after `new`.",
    )
  const found = candidates(type, "new", "new", true)
  if (found.length === 0)
    throw new CsharpMistake(
      "type",
      `\`${printType(type)}\` cannot be created with \`new\``,
      expression.start,
      expression.end,
      "Use a type that policies can create: lists, dictionaries, JSON and XML objects.",
    )
  const { start, end } = expression.type ?? expression
  const made = callOf(
    choose(found, readArguments(expression.args, scope), [], scope, { start, end }, printType(type)),
    undefined,
    start,
  )
  const value = typed(made.node, made.type.name === type.name ? type : made.type)
  return expression.init === undefined ? value : initialized(value, expression.init, scope)
}

/** An object initializer: the new object is kept in a slot while its parts are set. */
function initialized(value: Typed, init: readonly Initializer[], scope: Scope): Typed {
  const slot = scope.place()
  const held = typed({ k: "local", slot }, value.type)
  const rest: CsNode[] = init.map((item) => initialize(held, item, scope))
  return typed(
    { k: "sequence", first: { k: "set", slot, value: value.node }, rest, keep: "first" },
    value.type,
  )
}

/** One part of an initializer: a property, an index, or an item for `Add`. */
function initialize(on: Typed, item: Initializer, scope: Scope): CsNode {
  const place = { start: item.start, end: item.end }
  if (item.kind === "item") {
    const found = candidates(on.type, "Add", "method", false)
    if (found.length === 0) throw unknownMember(on.type, "Add", false, place)
    const given = readArguments(
      item.values.map((value) => ({ value, start: value.start, end: value.end })),
      scope,
    )
    return callOf(choose(found, given, [], scope, place, "Add"), on.node, item.start).node
  }
  const value = { kind: "value" as const, value: scope.rules.expression(item.value, scope), at: place }
  if (item.kind === "index") {
    const keys = readArguments(
      item.keys.map((key) => ({ value: key, start: key.start, end: key.end })),
      scope,
    )
    return indexMember(on, keys, value, scope, place).node
  }
  const [setter] = candidates(on.type, item.name, "set", false)
  if (setter === undefined) throw unknownMember(on.type, item.name, false, place)
  const member = { ...setter.member, parameters: [valueParameter(setter.member)] }
  return callOf(
    choose([{ member, owner: setter.owner }], [value], [], scope, place, item.name),
    on.node,
    item.start,
  ).node
}

/** `new T[] {…}`, `new[] {…}`, `new T[n]`. */
export function checkArray(expression: Of<"array">, scope: Scope): Typed {
  const element = expression.type === undefined ? undefined : resolveType(expression.type)
  if (expression.size !== undefined) {
    const length = demand(scope.rules.expression(expression.size, scope), types.int, expression.size)
    return typed(
      { k: "new-array", type: printType(element ?? types.object), length },
      arrayOf(element ?? types.object),
    )
  }
  const items = expression.items ?? []
  const values = items.map((item) => scope.rules.expression(item, scope, element))
  const type = element ?? commonType(values)
  const nodes = values.map((value, index) => demand(value, type, items[index] as ExpressionSyntax))
  return typed({ k: "array", type: printType(type), items: nodes }, arrayOf(type))
}

/** `new { Name = value }`. */
export function checkAnonymous(expression: Of<"anonymous">, scope: Scope): Typed {
  const values = expression.fields.map(({ value }) => scope.rules.expression(value, scope))
  const names = expression.fields.map(({ name }) => name)
  const items = values.map(({ node, type }) => (isBoxedField(type) ? change(node, type, types.object) : node))
  return typed(
    { k: "anonymous", names, items },
    {
      name: "anonymous",
      args: values.map(({ type }) => (type.name === "null" ? named("object") : type)),
      fields: names,
    },
  )
}
