import type { Exchange } from "../exchange.ts"
import { problem, Refused } from "../messages/answer.ts"

/** What a request put into a place where it does not fit is its fault; what the backend's answer put there is the backend's. */
export function refusedValue(exchange: Exchange, cause: string): Refused {
  return new Refused(problem(exchange.response === undefined ? "invalid-request" : "bad-gateway", { cause }))
}
