import type { TextOrExpression } from "../../plan/step-values.ts"
import type { Provision } from "../policy.ts"
import { anyText } from "./grammars.ts"
import { compileText } from "./text.ts"
import { compileValue, type Value } from "./value.ts"

/** Compiles a text or the value of an expression. */
export function compileTextOrValue(content: TextOrExpression, provision: Provision): Value {
  if (typeof content === "object" && "expression" in content)
    return compileValue(content.expression, provision)
  const text = compileText(content, provision, anyText)
  return (exchange) => text.of(exchange)
}
