import { compileContent } from "./body-content.ts"
import { messageOf } from "./message.ts"
import type { Policy } from "./policy.ts"

/** Replaces the body of the request to the backend or of the answer; what was there is read only if the new one is made of it. */
export const setBody: Policy<"set-body"> = (plan, provision) => {
  const message = messageOf(plan.message)
  const make = compileContent(plan.content, plan.message, provision)
  const { media } = plan
  return (exchange) => {
    message.body(exchange).replace(make(exchange), media)
    return undefined
  }
}
