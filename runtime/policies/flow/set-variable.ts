import type { Policy } from "../policy.ts"
import { compileTextOrValue } from "../values/text-or-value.ts"

/** Sets a variable for later steps: `var.NAME`. */
export const setVariable: Policy<"set-variable"> = (plan, provision) => {
  const value = compileTextOrValue(plan.value, provision)
  const { name } = plan
  return (exchange) => {
    exchange.variables.set(name, value(exchange))
    return undefined
  }
}
