import { type CsType, sameType } from "../../../runtime/azure/csharp/type.ts"
import type { CsNode, CsStatement } from "../../../runtime/plan/csharp.ts"
import { demand, implicit } from "./conversions.ts"
import type { Returns, Scope } from "./scope.ts"
import type { BlockSyntax, ExpressionSyntax } from "./syntax-tree.ts"
import { type Typed, typed, types } from "./typed.ts"

interface Body {
  readonly body: CsNode | CsStatement
  readonly result: CsType
  readonly cost: number
}

/** Checks the body of a function. Its result is converted to `wanted`, or determines the result type. Undefined when it does not convert. */
export function checkLambdaBody(
  body: ExpressionSyntax | BlockSyntax,
  scope: Scope,
  wanted: CsType | undefined,
): Body | undefined {
  if (body.kind === "block") return checkBlockBody(body, scope, wanted)
  const value = scope.rules.expression(body, scope, wanted?.name === "void" ? undefined : wanted)
  if (wanted === undefined)
    return value.type.name === "void" ? undefined : { body: value.node, result: settled(value.type), cost: 0 }
  if (wanted.name === "void")
    return { body: value.node, result: types.void, cost: value.type.name === "void" ? 0 : 0.3 }
  const way = implicit(value, wanted)
  return way === undefined ? undefined : { body: way.node, result: wanted, cost: way.cost }
}

/** `null` alone does not determine a type. */
function settled(type: CsType): CsType {
  return type.name === "null" || type.name === "never" ? types.object : type
}

function checkBlockBody(block: BlockSyntax, scope: Scope, wanted: CsType | undefined): Body | undefined {
  const body = scope.rules.block(block, scope)
  if (wanted?.name === "void") return { body, result: types.void, cost: 0 }
  const result = unifyReturns(scope.returns, wanted)
  return { body, result, cost: 0.1 }
}

/** Converts every `return` to one type: the wanted type, the type that all others convert to, or `object`. */
export function unifyReturns(returns: Returns, wanted: CsType | undefined): CsType {
  const result =
    wanted ??
    commonType(
      returns.map(({ statement, type }) =>
        typed(statement.on ?? { k: "const", type: "null", value: null }, type),
      ),
    )
  for (const { statement, type, start, end } of returns) {
    if (statement.on === undefined) continue
    statement.on = demand(typed(statement.on, type), result, { start, end })
  }
  return result
}

/** The type among several that all others convert to. `object` when there is none. */
export function commonType(values: readonly Typed[]): CsType {
  const real = values.filter(({ type }) => type.name !== "never")
  const [first] = real
  if (first === undefined) return types.object
  if (real.every(({ type }) => sameType(type, first.type))) return settled(first.type)
  const found = real.find(
    ({ type }) => type.name !== "null" && real.every((other) => implicit(other, type) !== undefined),
  )
  return found?.type ?? types.object
}
