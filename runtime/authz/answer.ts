import { randomBytes } from "node:crypto"
import type { ServerResponse } from "node:http"
import { ApiError, apiErrorOf } from "./api-error.ts"

/** Ids of requests: unique in the fleet by a random beginning, cheap by a counter. */
const prefix = randomBytes(10).toString("hex")
let count = 0

/** A fresh `X-Request-Id`; the client's own is never echoed. */
export function newRequestId(): string {
  count = (count + 1) % 0x1_0000_0000_0000
  return `${prefix}${count.toString(16).padStart(12, "0")}`
}

/** What every answer about a store says in its headers, in the form `writeHead` takes fastest. */
export type AnswerHeaders = readonly string[]

/** Told the cause of an `internal_error`, which the client is not. */
export type LogFault = (error: unknown, requestId: string) => void

/** Sends JSON that is ready. */
export function sendJson(
  response: ServerResponse,
  status: number,
  json: string,
  headers: AnswerHeaders = [],
  requestId = newRequestId(),
): void {
  response.writeHead(status, [
    "Content-Type",
    "application/json",
    "Content-Length",
    String(Buffer.byteLength(json)),
    "X-Request-Id",
    requestId,
    ...headers,
  ])
  response.end(json)
}

/** Sends any failure as `{code, message}`. */
export function sendError(response: ServerResponse, error: unknown, log: LogFault): void {
  const requestId = newRequestId()
  const known = apiErrorOf(error)
  if (known === undefined) log(error, requestId)
  const { status, code, message } = known ?? new ApiError("internal_error", "Internal Server Error")
  const headers = status === 503 ? ["Retry-After", "1"] : []
  sendJson(response, status, JSON.stringify({ code, message }), headers, requestId)
}
