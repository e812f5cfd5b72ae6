import { type CsType, printType, sameType } from "../../../runtime/azure/csharp/type.ts"
import type { CsNode } from "../../../runtime/plan/csharp.ts"
import { readArguments } from "./arguments.ts"
import { demand, explicit } from "./conversions.ts"
import {
  callOf,
  candidates,
  choose,
  getMember,
  indexMember,
  unknownMember,
  valueParameter,
} from "./members.ts"
import type { Scope } from "./scope.ts"
import { CsharpMistake } from "./source.ts"
import type { ExpressionSyntax } from "./syntax-tree.ts"
import { type Typed, typed, types } from "./typed.ts"

type Of<K extends ExpressionSyntax["kind"]> = Extract<ExpressionSyntax, { kind: K }>

/** An assignable target: how to read it, and how to assign a value. */
interface Target {
  readonly read: () => Typed
  readonly write: (value: Typed) => Typed
  readonly type: CsType
}

/** Assignments, also with an operator. `a op= b` reads and writes the target, which is evaluated once. */
export function checkAssign(expression: Of<"assign">, scope: Scope): Typed {
  const { op, value } = expression
  const target = targetOf(expression.target, scope, op !== "=")
  if (op === "=") {
    // A lambda needs the target's type; any other value has one of its own.
    const made = value.kind === "lambda" ? scope.rules.delegate(value, target.type, scope) : undefined
    return target.write(
      made === undefined ? scope.rules.expression(value, scope, target.type) : typed(made, target.type),
    )
  }
  const before = target.read()
  const right = scope.rules.expression(value, scope, target.type)
  // The right side is evaluated only if the target is null.
  if (op === "??=") {
    const node = {
      k: "binary",
      op: "??",
      type: "object",
      left: before.node,
      right: demand(right, target.type, value),
    } as const
    return target.write(typed(node, target.type))
  }
  const made = scope.rules.binary(
    op.slice(0, -1),
    before,
    right,
    { start: expression.start, end: expression.end, left: expression.target, right: value },
    scope,
  )
  return target.write(back(made, target.type, expression))
}

/** `x += y` converts the result back to the type of x, as C# does for `byte` and `short`. */
function back(value: Typed, type: CsType, place: ExpressionSyntax): Typed {
  if (sameType(value.type, type)) return value
  const node = explicit(value, type)
  return node === undefined ? typed(demand(value, type, place), type) : typed(node, type)
}

/** `x++`, `--x`: the value before or after the change. */
export function checkStep(expression: Of<"step">, scope: Scope): Typed {
  const target = targetOf(expression.on, scope, true)
  const before = target.read()
  // An `int`, which fits every numeric type.
  const one: Typed = { node: { k: "const", type: "int", value: 1 }, type: types.int, constant: 1 }
  const sum = scope.rules.binary(
    expression.op === "++" ? "+" : "-",
    before,
    one,
    { start: expression.start, end: expression.end, left: expression.on, right: expression.on },
    scope,
  )
  if (expression.before) return target.write(back(sum, target.type, expression))
  // The old value is kept in a slot, because it is the result although the target has the new one.
  const kept = scope.place()
  const held = typed({ k: "local", slot: kept }, before.type)
  const next = scope.rules.binary(
    expression.op === "++" ? "+" : "-",
    held,
    one,
    { start: expression.start, end: expression.end, left: expression.on, right: expression.on },
    scope,
  )
  const step: CsNode = {
    k: "sequence",
    first: { k: "set", slot: kept, value: before.node },
    rest: [back(next, target.type, expression).node],
    keep: "last",
  }
  const written = target.write(typed(step, target.type))
  return typed(
    { k: "sequence", first: written.node, rest: [{ k: "local", slot: kept }], keep: "last" },
    before.type,
  )
}

/** `twice`: the target is read and written, so its operands are evaluated once and stored. */
function targetOf(target: ExpressionSyntax, scope: Scope, twice: boolean): Target {
  if (target.kind === "name") return variableTarget(target, scope)
  if (target.kind === "member") return memberTarget(target, scope)
  if (target.kind === "index") return indexTarget(target, scope, twice)
  throw new CsharpMistake(
    "type",
    "this expression cannot be assigned to",
    target.start,
    target.end,
    "Assign to a variable, a property or an element.",
  )
}

/** `_` takes a value and keeps none, unless it is the name of a variable. */
function variableTarget(target: Of<"name">, scope: Scope): Target {
  const variable = scope.find(target.name)
  if (variable === undefined && target.name === "_")
    // Discards: C# evaluates the value for its effects.
    return {
      type: types.object,
      read: () => typed({ k: "const", type: "null", value: null }, types.null),
      write: (value) => value,
    }
  if (variable === undefined) throw scope.unknown(target.name, target.start, target.end)
  const { slot, type } = variable
  return {
    type,
    read: () => typed({ k: "local", slot }, type),
    write: (value) => typed({ k: "set", slot, value: demand(value, type, target) }, type),
  }
}

/** A property. Read-only ones get a finding of their own, since the name is right. */
function memberTarget(target: Of<"member">, scope: Scope): Target {
  const on = scope.rules.expression(target.on, scope)
  const place = { start: target.nameStart, end: target.end }
  const found = candidates(on.type, target.name, "set", false)
  const [setter] = found
  if (setter === undefined) {
    if (candidates(on.type, target.name, "get", false).length > 0)
      throw new CsharpMistake(
        "type",
        `\`${target.name}\` of \`${printType(on.type)}\` is read-only`,
        place.start,
        place.end,
        "Keep the value in a variable.",
      )
    throw unknownMember(on.type, target.name, false, place)
  }
  return {
    type: setter.member.result,
    read: () => getMember(on, target.name, place, scope),
    write: (value) => {
      // The setter of the table has the value as its only parameter here.
      const member = { ...setter.member, parameters: [valueParameter(setter.member)] }
      const given = [{ kind: "value" as const, value, at: place }]
      return callOf(
        choose([{ member, owner: setter.owner }], given, [], scope, place, target.name),
        on.node,
        place.start,
      )
    },
  }
}

/** An indexer. `twice`: the target is read and written. */
function indexTarget(target: Of<"index">, scope: Scope, twice: boolean): Target {
  const on = scope.rules.expression(target.on, scope)
  const given = readArguments(target.args, scope)
  const [first] = given
  // One operand that is a value: then the slots hold it. `out` arguments cannot be stored.
  if (!twice || first?.kind !== "value") return plainIndex(target, on, given, scope)
  // `list[i++] += 1` must increment i once: the operands are stored.
  const [object, key] = [scope.place(), scope.place()]
  const held = typed({ k: "local", slot: object }, on.type)
  const keys = [
    { ...first, value: { ...first.value, node: { k: "local" as const, slot: key } } },
    ...given.slice(1),
  ]
  const inner = plainIndex(target, held, keys, scope)
  return {
    type: inner.type,
    read: inner.read,
    write: (value) => {
      const rest: CsNode[] = [{ k: "set", slot: key, value: first.value.node }, inner.write(value).node]
      return typed(
        { k: "sequence", first: { k: "set", slot: object, value: on.node }, rest, keep: "last" },
        inner.type,
      )
    },
  }
}

/** An indexer whose operands are used once. */
function plainIndex(
  target: Of<"index">,
  on: Typed,
  given: ReturnType<typeof readArguments>,
  scope: Scope,
): Target {
  const read = (): Typed => indexMember(on, given, undefined, scope, target)
  return {
    type: read().type,
    read,
    write: (value) => indexMember(on, given, { kind: "value", value, at: target }, scope, target),
  }
}
