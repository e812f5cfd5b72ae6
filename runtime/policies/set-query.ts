import { anyText } from "./grammars.ts"
import type { Policy } from "./policy.ts"
import { compileText } from "./text.ts"

/** Sets or removes a query parameter of the request to the backend; values are percent-encoded. */
export const setQuery: Policy<"set-query"> = (plan, provision) => {
  const { name } = plan
  if (plan.action === "remove") {
    return (exchange) => {
      exchange.query.remove(name)
      return undefined
    }
  }
  if (plan.value === undefined) throw new Error(`query parameter \`${name}\`: \`set\` needs a value`)
  const text = compileText(plan.value, provision, anyText)
  return (exchange) => {
    exchange.query.set(name, text.of(exchange))
    return undefined
  }
}
