import { type CsType, printType } from "../../../runtime/azure/csharp/type.ts"
import type { CsNode } from "../../../runtime/plan/csharp.ts"
import { checkLambdaBody } from "./check-function.ts"
import { implicit } from "./conversions.ts"
import { candidates } from "./members.ts"
import type { Scope } from "./scope.ts"
import type { ExpressionSyntax } from "./syntax-tree.ts"
import { typeAt } from "./type-at.ts"
import { resolveType } from "./type-names.ts"
import { typed, types } from "./typed.ts"

type Of<K extends ExpressionSyntax["kind"]> = Extract<ExpressionSyntax, { kind: K }>

/** A function whose type is declared: `Func<int, int> f = x => x + 1`. */
export function checkFunction(lambda: Of<"lambda">, type: CsType, scope: Scope): CsNode | undefined {
  if (type.name !== "Func" && type.name !== "Action") return undefined
  const params = type.name === "Func" ? type.args.slice(0, -1) : type.args
  if (params.length !== lambda.params.length) return undefined
  return checkLambda(lambda, params, type.name === "Func" ? type.args.at(-1) : types.void, scope)?.node
}

/** A function with parameters of these types. `wanted` is its result type: undefined to infer it, `void` for no result. */
export function checkLambda(
  lambda: Of<"lambda">,
  params: readonly CsType[],
  wanted: CsType | undefined,
  scope: Scope,
): { node: CsNode; result: CsType; cost: number } | undefined {
  const from = scope.shared.slots
  const inner = scope.body()
  const slots = lambda.params.map(({ name: parameter, type }, index) => {
    const given = params[index] as CsType
    const own = type === undefined ? given : resolveType(type)
    if (printType(own) !== printType(given) && implicit(typed({ k: "context" }, given), own) === undefined)
      return -1
    return inner.declare(parameter, own).slot
  })
  if (slots.includes(-1)) return undefined
  const made = checkLambdaBody(lambda.body, inner, wanted)
  if (made === undefined) return undefined
  return {
    node: { k: "lambda", params: slots, from, to: scope.shared.slots, body: made.body },
    result: made.result,
    cost: made.cost,
  }
}

/** A method name where a function is expected, as a function that calls the method: `Select(int.Parse)`. */
export function groupAsLambda(expression: ExpressionSyntax, scope: Scope): Of<"lambda"> | undefined {
  if (expression.kind !== "member") return undefined
  const owner = typeAt(expression.on, scope)
  if (owner === undefined || candidates(owner, expression.name, "get", true).length > 0) return undefined
  if (candidates(owner, expression.name, "method", true).length === 0) return undefined
  const { start, end } = expression
  const value: ExpressionSyntax = { kind: "name", name: "item", start, end }
  return {
    kind: "lambda",
    params: [{ name: "item" }],
    body: { kind: "call", on: expression, args: [{ value, start, end }], start, end },
    start,
    end,
  }
}
