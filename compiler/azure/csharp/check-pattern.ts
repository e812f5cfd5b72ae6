import { type CsType, printType } from "../../../runtime/azure/csharp/type.ts"
import type { CsNode } from "../../../runtime/plan/csharp.ts"
import { commonType } from "./check-function.ts"
import { demand } from "./conversions.ts"
import type { Scope } from "./scope.ts"
import type { ExpressionSyntax, PatternSyntax, SwitchArm } from "./syntax-tree.ts"
import { resolveType } from "./type-names.ts"
import { type Typed, typed, types } from "./typed.ts"

type Of<K extends ExpressionSyntax["kind"]> = Extract<ExpressionSyntax, { kind: K }>

const yes: CsNode = { k: "const", type: "bool", value: true }

/** `x is …`: the value is kept in a slot, because a pattern may test it several times. */
export function checkIs(expression: Of<"is">, scope: Scope): Typed {
  const on = scope.rules.expression(expression.on, scope)
  const slot = scope.place()
  const held = typed({ k: "local", slot }, on.type)
  const test = checkPattern(held, expression.pattern, scope)
  return typed(
    { k: "sequence", first: { k: "set", slot, value: on.node }, rest: [test], keep: "last" },
    types.bool,
  )
}

/** The test of a pattern for a stored value. Names declared by the pattern are visible from here on. */
export function checkPattern(on: Typed, pattern: PatternSyntax, scope: Scope): CsNode {
  switch (pattern.kind) {
    case "any":
      return yes
    case "var": {
      const { slot } = scope.declare(pattern.name, on.type)
      return { k: "sequence", first: { k: "set", slot, value: on.node }, rest: [yes], keep: "last" }
    }
    case "type": {
      const type = resolveType(pattern.type)
      const value = demand(on, types.object, pattern)
      if (pattern.name === undefined || pattern.name === "_")
        return { k: "is", type: printType(type), on: value }
      return { k: "is", type: printType(type), on: value, slot: scope.declare(pattern.name, type).slot }
    }
    case "constant":
      return compare("==", on, pattern.value, scope)
    case "relation":
      return compare(pattern.op, on, pattern.value, scope)
    case "not":
      return { k: "unary", op: "!", type: "bool", on: checkPattern(on, pattern.inner, scope) }
    default: {
      const [left, right] = [checkPattern(on, pattern.left, scope), checkPattern(on, pattern.right, scope)]
      return { k: "binary", op: pattern.kind === "or" ? "||" : "&&", type: "bool", left, right }
    }
  }
}

/** A comparison in a pattern has the meaning of the operator. */
function compare(op: string, on: Typed, value: ExpressionSyntax, scope: Scope): CsNode {
  const { start, end } = value
  return scope.rules.binary(
    op,
    on,
    scope.rules.expression(value, scope),
    { start, end, left: value, right: value },
    scope,
  ).node
}

/** A switch expression as nested conditionals. Throws an exception when no arm matches. */
export function checkSwitch(expression: Of<"switch">, scope: Scope, wanted: CsType | undefined): Typed {
  const on = scope.rules.expression(expression.on, scope)
  const slot = scope.place()
  const held = typed({ k: "local", slot }, on.type)
  const arms = expression.arms.map((arm) => checkArm(held, arm, scope.inner(), wanted))
  const type = wanted ?? commonType(arms.map(({ value }) => value))
  let node: CsNode = {
    k: "throw",
    on: {
      k: "call",
      member: "InvalidOperationException.new(string)",
      args: [{ k: "const", type: "string", value: "No case of the switch expression fits." }],
    },
  }
  for (const [index, arm] of [...arms.entries()].reverse())
    node = {
      k: "if",
      test: arm.test,
      yes: demand(arm.value, type, (expression.arms[index] as SwitchArm).value),
      no: node,
    }
  return typed({ k: "sequence", first: { k: "set", slot, value: on.node }, rest: [node], keep: "last" }, type)
}

/** One arm of a `switch` expression. */
function checkArm(
  held: Typed,
  arm: SwitchArm,
  scope: Scope,
  wanted: CsType | undefined,
): { test: CsNode; value: Typed } {
  const test = checkPattern(held, arm.pattern, scope)
  const when =
    arm.when === undefined ? undefined : demand(scope.rules.expression(arm.when, scope), types.bool, arm.when)
  const both: CsNode =
    when === undefined ? test : { k: "binary", op: "&&", type: "bool", left: test, right: when }
  return { test: both, value: scope.rules.expression(arm.value, scope, wanted) }
}
