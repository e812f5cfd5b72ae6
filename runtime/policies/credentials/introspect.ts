import type { Policy } from "../policy.ts"
import { compileTexts } from "../values/texts.ts"
import { compileTokenGuard } from "./token-guard.ts"

/** Has an introspection endpoint check an opaque token, then checks its claims. */
export const introspect: Policy<"introspect"> = (plan, provision) => {
  const endpoint = provision.introspection(plan.introspection)
  const audiences = compileTexts(plan.audiences, provision)
  return compileTokenGuard(plan, provision, (token, exchange) =>
    endpoint.verify(token, audiences?.(exchange)),
  )
}
