import type { Expression, Text } from "../../plan/text.ts"
import type { Policy, Provision } from "../policy.ts"
import { anyText } from "../values/grammars.ts"
import { compileText } from "../values/text.ts"
import { compileValue, type Value } from "../values/value.ts"

/** Leaves a value for the steps after it: `var.NAME`. */
export const setVariable: Policy<"set-variable"> = (plan, provision) => {
  const value = compileTextOrValue(plan.value, provision)
  const { name } = plan
  return (exchange) => {
    exchange.variables.set(name, value(exchange))
    return undefined
  }
}

/** Compiles what may be a text or the value of an expression. */
export function compileTextOrValue(
  content: Text | { readonly expression: Expression },
  provision: Provision,
): Value {
  if (typeof content === "object" && "expression" in content)
    return compileValue(content.expression, provision)
  const text = compileText(content, provision, anyText)
  return (exchange) => text.of(exchange)
}
