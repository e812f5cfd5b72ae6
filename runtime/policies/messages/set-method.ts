import type { Policy } from "../policy.ts"
import { anyText } from "../values/grammars.ts"
import { compileText } from "../values/text.ts"
import { problem } from "./answer.ts"

/** A method name (RFC 9110 §9.1), without CONNECT, which opens a tunnel, and TRACE, which returns the request with its secrets. */
const methodName = /^(?!CONNECT$|TRACE$)[A-Z][A-Z0-9_-]{0,31}$/

/** Sets the method of the request to the backend. */
export const setMethod: Policy<"set-method"> = (plan, provision) => {
  const text = compileText(plan.method, provision, anyText)
  if (text.constant !== undefined && !methodName.test(text.constant))
    throw new Error(`\`${text.constant}\` is not a method that a backend can be called with`)
  return (exchange) => {
    const method = text.of(exchange)
    if (!methodName.test(method))
      return problem("invalid-request", { cause: "the expression did not yield a valid HTTP method" })
    exchange.sentMethod = method
    return undefined
  }
}
