import { messageOf } from "../messages/message.ts"
import type { Policy } from "../policy.ts"
import { compileContent } from "./body-content.ts"

/** Replaces the body of the request or the response. It reads the old body only when the new one uses it. */
export const setBody: Policy<"set-body"> = (plan, provision) => {
  const message = messageOf(plan.message)
  const make = compileContent(plan.content, plan.message, provision)
  const { media } = plan
  return (exchange) => {
    const body = message.body(exchange)
    const made = make(exchange)
    if (made instanceof Promise) return made.then((late) => body.replace(late, media)).then(nothing)
    body.replace(made, media)
    return undefined
  }
}

const nothing = (): undefined => undefined
