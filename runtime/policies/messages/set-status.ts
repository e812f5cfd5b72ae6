import { ExpressionError } from "../../expression/expression-error.ts"
import type { Count } from "../../plan/step-values.ts"
import type { Exchange } from "../exchange.ts"
import type { Policy, Provision } from "../policy.ts"
import { headerText } from "../values/grammars.ts"
import { compileText } from "../values/text.ts"
import { compileCount } from "../values/value.ts"

/** Sets the status of the response, and its reason phrase. */
export const setStatus: Policy<"set-status"> = (plan, provision) => {
  const status = compileStatus(plan.status, provision)
  const reason = plan.reason === undefined ? undefined : compileText(plan.reason, provision, headerText)
  return (exchange) => {
    const { response } = exchange
    if (response === undefined) throw new Error("the status of the response is set before there is one")
    // Evaluated first, because the phrase may refer to the old status.
    const phrase = reason?.of(exchange)
    response.status = status(exchange)
    response.reason = phrase
    return undefined
  }
}

/** Compiles the status of a response: 200 to 599. */
export function compileStatus(count: Count, provision: Provision): (exchange: Exchange) => number {
  const value = compileCount(count, provision)
  if (typeof count === "number" && !isStatus(count))
    throw new Error(`a response cannot have the status ${count}`)
  return (exchange) => {
    const status = value(exchange)
    if (!isStatus(status)) throw new ExpressionError("type", `a response cannot have the status ${status}`)
    return status
  }
}

function isStatus(status: number): boolean {
  return status >= 200 && status <= 599
}
