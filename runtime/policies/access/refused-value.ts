import type { Exchange } from "../exchange.ts"
import { problem, Refused } from "../messages/answer.ts"

/** The error for a value that does not fit its place: 400 while the request is processed, 502 once the backend has responded. */
export function refusedValue(exchange: Exchange, cause: string): Refused {
  return new Refused(problem(exchange.response === undefined ? "invalid-request" : "bad-gateway", { cause }))
}
