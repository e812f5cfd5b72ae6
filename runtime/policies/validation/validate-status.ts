import type { Policy } from "../policy.ts"
import { Violations } from "./violations.ts"

/** Validates the status of the response; an exact code takes precedence over its class (`4xx`). */
export const validateStatus: Policy<"validate-status"> = (plan, provision) => {
  const log = provision.traceLog()
  const actions = new Map(plan.codes.map(({ code, action }) => [code, action]))
  return (exchange) => {
    const { response } = exchange
    if (response === undefined) throw new Error("the status of the response is checked before there is one")
    const { status } = response
    const action =
      actions.get(String(status)) ?? actions.get(`${Math.floor(status / 100)}xx`) ?? plan.unspecified
    if (action === "ignore") return undefined
    const violations = new Violations(plan.kind, log)
    const message = `${status} is not described for this API`
    violations.add(action, { in: "header", pointer: "status", message }, "Unspecified", String(status))
    return violations.settle(exchange, "response", plan.errors)
  }
}
