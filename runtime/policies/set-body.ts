import type { Exchange } from "./exchange.ts"
import { anyText } from "./grammars.ts"
import { contentTypes } from "./media.ts"
import type { Policy } from "./policy.ts"
import { compileText } from "./text.ts"

/** Replaces the body of the request to the backend or of the answer; what was there is not read. */
export const setBody: Policy<"set-body"> = (plan, provision) => {
  const text = compileText(plan.body, provision, anyText)
  const constant = text.constant === undefined ? undefined : Buffer.from(text.constant)
  const type = contentTypes[plan.media]
  const content = (exchange: Exchange) => constant ?? Buffer.from(text.of(exchange))
  if (plan.message === "request") {
    return (exchange) => {
      exchange.requestBody.replace(content(exchange), type)
      return undefined
    }
  }
  return (exchange) => {
    if (exchange.response === undefined) throw new Error("the body of the answer is set before there is one")
    exchange.response.body.replace(content(exchange), type)
    return undefined
  }
}
