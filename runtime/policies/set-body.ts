import { anyText } from "./grammars.ts"
import { contentTypes } from "./media.ts"
import type { Policy } from "./policy.ts"
import { compileText } from "./text.ts"

/** Replaces the body of the request to the backend or of the answer; what was there is not read. */
export const setBody: Policy<"set-body"> = (plan, provision) => {
  const text = compileText(plan.body, provision, anyText)
  const constant = text.constant === undefined ? undefined : Buffer.from(text.constant)
  const type = contentTypes[plan.media]
  if (plan.message === "request") {
    return (exchange) => {
      exchange.body = constant ?? Buffer.from(text.of(exchange))
      exchange.headers.set("content-type", type)
      exchange.headers.remove("content-encoding")
      return undefined
    }
  }
  return (exchange) => {
    const { response } = exchange
    if (response === undefined) throw new Error("the body of the answer is set before there is one")
    response.body = constant ?? Buffer.from(text.of(exchange))
    response.headers.set("content-type", type)
    for (const name of ofTheOldBody) response.headers.remove(name)
    return undefined
  }
}

/** Fields that describe the body that is gone. */
const ofTheOldBody = [
  "content-encoding",
  "content-range",
  "accept-ranges",
  "etag",
  "content-md5",
  "digest",
  "content-digest",
  "repr-digest",
]
