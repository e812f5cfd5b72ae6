import type { OutgoingHttpHeaders } from "node:http2"
import { newFields } from "../../http2-fields.ts"
import type { SentRequest } from "../connections.ts"
import { checkField, checkLength, checkTarget, lengthOf, sendsContent, unfit } from "../request-checks.ts"

/** The origin of requests: `authority` is used when they have no Host. */
export interface Http2Origin {
  readonly scheme: "http" | "https"
  readonly authority: string
}

/** The head of a request, and its Content-Length if it has one. */
interface SentFields {
  readonly headers: OutgoingHttpHeaders
  readonly length: number | undefined
}

/**
 * The fields of a request as HTTP/2 has them (RFC 9113 §8.3.1): Host is `:authority`. Node refuses several lines of most fields, so repeated ones become
 * a list.
 * @throws UpstreamError
 */
export function requestFields(request: SentRequest, { scheme, authority }: Http2Origin): SentFields {
  const { method, path, fields, body } = request
  checkTarget(request)
  const headers = newFields()
  headers[":method"] = method
  headers[":scheme"] = scheme
  headers[":authority"] = authority
  headers[":path"] = path
  let length: number | undefined
  for (let at = 0; at < fields.length; at += 2) {
    const name = fields[at] as string
    const value = trimmed(fields[at + 1] as string)
    checkField(name, value)
    if (name === "host") headers[":authority"] = value
    else {
      if (name === "content-length") length = lengthOf(value, length)
      else if (name === "te" && value !== "trailers") throw unfit("`te` may only be `trailers` in HTTP/2")
      const before = headers[name]
      headers[name] =
        before === undefined ? value : `${String(before)}${name === "cookie" ? "; " : ", "}${value}`
    }
  }
  if (Buffer.isBuffer(body)) {
    checkLength(length, body)
    headers["content-length"] = body.length
  } else if (body === null && length === undefined && sendsContent.has(method)) headers["content-length"] = 0
  return { headers, length }
}

/** Values must not begin or end with whitespace, which HTTP/1.1 ignores (RFC 9113 §8.2.1). */
function trimmed(value: string): string {
  const isPadded = isBlank(value.charCodeAt(0)) || isBlank(value.charCodeAt(value.length - 1))
  return isPadded ? value.replace(/^[\t ]+|[\t ]+$/g, "") : value
}

function isBlank(code: number): boolean {
  return code === 32 || code === 9
}
