import { isUtf8 } from "node:buffer"
import type { IncomingRequest } from "../http/server/incoming.ts"
import { duplicateKey } from "../plan/json-scan.ts"
import { ApiError } from "./api-error.ts"
import type { JsonFields } from "./fields.ts"

const nothing: Buffer = Buffer.alloc(0)

/**
 * The JSON object in a body. An empty body, or one of white space, is an empty object, as in grpc-gateway. Duplicate keys are refused, also
 * as there.
 */
export function parseBody(body: Buffer): JsonFields {
  if (body.length === 0) return {}
  const text = body.toString("utf8")
  // Decoding replaces invalid UTF-8 by this character, so most bodies need no second check.
  if (text.includes("\ufffd") && !isUtf8(body))
    throw new ApiError("validation_error", "malformed JSON: the body is not UTF-8")
  if (/^[ \t\r\n]*$/.test(text)) return {}
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (error) {
    throw new ApiError("validation_error", `malformed JSON: ${(error as Error).message}`)
  }
  const twice = duplicateKey(text, value)
  if (twice !== undefined)
    throw new ApiError(
      "validation_error",
      `malformed JSON: line ${twice.line} has the key ${JSON.stringify(twice.key)} a second time in its object`,
    )
  if (typeof value !== "object" || value === null || Array.isArray(value))
    throw new ApiError("validation_error", "malformed JSON: the body must be an object")
  return value as JsonFields
}

/**
 * Reads a request's body and passes it to `take`; undefined when it is too large. A body that is too large is not kept, and not even read
 * when its length is declared. `take` is not called when the client closes the connection.
 */
export function readBody(
  request: IncomingRequest,
  bytesMax: number,
  take: (body: Buffer | undefined) => void,
): void {
  // The client aborted the request, so no response is needed.
  request.on("error", ignore)
  if (Number(request.headers["content-length"] ?? 0) > bytesMax) {
    take(undefined)
    return
  }
  let first = nothing
  let bytes = 0
  let more: Buffer[] | undefined
  request.on("data", (chunk: Buffer) => {
    bytes += chunk.length
    if (bytes > bytesMax) {
      request.removeAllListeners("data")
      request.removeAllListeners("end")
      take(undefined)
    } else if (first === nothing) first = chunk
    else if (more === undefined) more = [first, chunk]
    else more.push(chunk)
  })
  request.on("end", () => take(more === undefined ? first : Buffer.concat(more)))
}

function ignore(): void {}
