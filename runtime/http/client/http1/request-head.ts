import type { SentRequest } from "../connections.ts"
import { checkField, checkLength, checkTarget, lengthOf, sendsContent } from "../request-checks.ts"

/** How the body is framed. */
export interface SentFraming {
  /** Content-Length; undefined without one. */
  readonly length: number | undefined
  readonly chunked: boolean
}

/** The bytes before the body, as Latin-1. */
export interface SentHead extends SentFraming {
  readonly text: string
}

/**
 * Writes the head of a request (RFC 9112 §3). It refuses every character that could end a line or begin another message, whatever its source.
 * @throws UpstreamError
 */
export function writeHead(request: SentRequest, authority: string): SentHead {
  const { method, path, fields, body } = request
  checkTarget(request)
  let lines = ""
  let host = authority
  let length: number | undefined
  for (let at = 0; at < fields.length; at += 2) {
    const name = fields[at] as string
    const value = fields[at + 1] as string
    checkField(name, value)
    if (name === "host") host = value
    else {
      if (name === "content-length") length = lengthOf(value, length)
      lines += `${name}: ${value}\r\n`
    }
  }
  const chunked = body !== null && !Buffer.isBuffer(body) && length === undefined
  if (Buffer.isBuffer(body)) {
    checkLength(length, body)
    if (length === undefined) lines += `content-length: ${body.length}\r\n`
  } else if (body === null && length === undefined && sendsContent.has(method))
    lines += "content-length: 0\r\n"
  else if (chunked) lines += "transfer-encoding: chunked\r\n"
  // HEAD: bytes that a backend wrongly sends after the head would be read as the next response.
  const connection = method === "HEAD" ? "close" : "keep-alive"
  const text = `${method} ${path} HTTP/1.1\r\nhost: ${host}\r\nconnection: ${connection}\r\n${lines}\r\n`
  return { text, length, chunked }
}
