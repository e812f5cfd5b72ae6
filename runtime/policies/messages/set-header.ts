import type { Exchange } from "../exchange.ts"
import type { Policy } from "../policy.ts"
import { compileHeaderLine } from "./header-line.ts"
import type { HeaderList } from "./header-list.ts"

/** Sets, adds, defaults or removes a header of the request to the backend or of the response. */
export const setHeader: Policy<"set-header"> = (plan, provision) => {
  const change = compileHeaderLine(plan, provision)
  // A request always has a Host, so a default has no effect.
  if (plan.message === "request" && plan.action === "default" && plan.name === "host") return () => undefined
  return (exchange) => {
    change(headersOf(plan.message, exchange), exchange)
    return undefined
  }
}

/** The header of the request to the backend, or of the response. */
export function headersOf(message: "request" | "response", exchange: Exchange): HeaderList {
  if (message === "request") return exchange.headers
  if (exchange.response === undefined) throw new Error("a response header is set before there is a response")
  return exchange.response.headers
}
