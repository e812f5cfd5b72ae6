import type { Policy } from "../policy.ts"
import { hostText } from "../values/grammars.ts"
import { compileText } from "../values/text.ts"

/** Sets the Host for the backend. Without this step it is the target's own. */
export const setHost: Policy<"set-host"> = (plan, provision) => {
  if (typeof plan.host !== "string" && "preserve" in plan.host) {
    return (exchange) => {
      exchange.host = exchange.authority
      return undefined
    }
  }
  const text = compileText(plan.host, provision, hostText)
  return (exchange) => {
    exchange.host = text.of(exchange)
    return undefined
  }
}
