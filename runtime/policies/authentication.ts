import type { Authentication } from "../plan/steps-flow.ts"
import type { Exchange } from "./exchange.ts"
import { headerText } from "./grammars.ts"
import type { Provision } from "./policy.ts"
import { compileText } from "./text.ts"

/** Compiles how a request says who we are: the value of its Authorization field (RFC 7617, RFC 6750). */
export function compileAuthorization(
  plan: Authentication,
  provision: Provision,
): (exchange: Exchange) => string {
  if (plan.scheme === "basic") {
    const user = compileText(plan.user, provision, headerText)
    const password = compileText(plan.password, provision, headerText)
    return (exchange) =>
      `Basic ${Buffer.from(`${user.of(exchange)}:${password.of(exchange)}`, "latin1").toString("base64")}`
  }
  const token = compileText(plan.token, provision, headerText)
  return (exchange) => `Bearer ${token.of(exchange)}`
}
