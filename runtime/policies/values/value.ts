import { compileExpression, toSeconds, toText } from "../../expression/compile.ts"
import { ExpressionError } from "../../expression/expression-error.ts"
import type { VariableReference } from "../../expression/finding.ts"
import type { Count, Flag } from "../../plan/step-values.ts"
import type { Expression } from "../../plan/text.ts"
import { type Exchange, type Needs, requestBody, responseBody } from "../exchange.ts"
import { blamed } from "../messages/answer.ts"
import type { AzureWing, Provision } from "../policy.ts"

/**
 * A compiled expression.
 * @throws ExpressionError when it fails
 */
export type Value = (exchange: Exchange) => unknown

/** Compiles an expression of either language. The bodies it reads become needs of the step. */
export function compileValue(expression: Expression, provision: Provision): Value {
  if (expression.lang === "cs") return azureOf(provision).compileValue(expression, provision)
  const evaluate = compileExpression(expression.text, provision.environment(), {
    onReferences: (references) => provision.need(needsOf(references)),
  })
  return (exchange) => {
    try {
      return evaluate(exchange.bindings())
    } catch (error) {
      throw blamed(error, expression)
    }
  }
}

/**
 * The compiler for C# and Liquid.
 * @throws Error when it was not loaded, which is a bug in the code that provisions
 */
export function azureOf(provision: Provision): AzureWing {
  const azure = provision.azure()
  if (azure === undefined) throw new Error("the plan contains C# or Liquid, but runtime/azure is not loaded")
  return azure
}

/** Compiles an expression whose value is written as text, in the format of its language. */
export function compileTextValue(
  expression: Expression,
  provision: Provision,
): (exchange: Exchange) => string {
  const value = compileValue(expression, provision)
  const write = expression.lang === "cs" ? azureOf(provision).textOf : toText
  return (exchange) => write(value(exchange))
}

/** Compiles a number. An expression must yield a whole number from 0 to 10^12; a duration counts as its whole seconds. */
export function compileCount(count: Count, provision: Provision): (exchange: Exchange) => number {
  if (typeof count === "number") return () => count
  const value = compileValue(count.expression, provision)
  return (exchange) => {
    const made = value(exchange)
    const found = toSeconds(made) ?? Number(made)
    if (!Number.isInteger(found) || found < 0 || found > 1_000_000_000_000)
      throw blamed(
        new ExpressionError("type", "the value is not a whole number from 0 to 10^12"),
        count.expression,
      )
    return found
  }
}

/** Compiles a boolean. */
export function compileFlag(flag: Flag, provision: Provision): (exchange: Exchange) => boolean {
  if (typeof flag === "boolean") return () => flag
  return compileTest(flag.expression, provision)
}

/** Compiles a condition: a value that is neither true nor false is an error, never false. */
export function compileTest(expression: Expression, provision: Provision): (exchange: Exchange) => boolean {
  const value = compileValue(expression, provision)
  return (exchange) => {
    const found = value(exchange)
    if (typeof found !== "boolean")
      throw blamed(new ExpressionError("type", "the condition is neither true nor false"), expression)
    return found
  }
}

const bodies: Readonly<Record<string, Needs>> = { request: requestBody, response: responseBody }
const bodyFields: ReadonlySet<string> = new Set(["body", "text"])

function needsOf(references: readonly VariableReference[]): Needs {
  let needs = 0
  for (const { path } of references) {
    const [object = "", field] = path
    if (field !== undefined && bodyFields.has(field)) needs |= bodies[object] ?? 0
  }
  return needs
}
