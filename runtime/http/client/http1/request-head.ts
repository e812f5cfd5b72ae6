import { type SentRequest, UpstreamError } from "../connections.ts"
import { isToken, notValue } from "./characters.ts"

/** Fields for framing and for one connection: only the client writes them. */
const ours: ReadonlySet<string> = new Set([
  "connection",
  "transfer-encoding",
  "keep-alive",
  "proxy-connection",
  "upgrade",
  "expect",
])

/** Names that were validated before; a gateway sends few different ones. */
const known = new Set<string>()
const knownMax = 2048

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
  if (!isTokens(method) || method === "") throw unfit("the method is invalid")
  if (!isPath(path)) throw unfit("the path has a space or a control character")
  let lines = ""
  let host = authority
  let length: number | undefined
  for (let at = 0; at < fields.length; at += 2) {
    const name = fields[at] as string
    const value = fields[at + 1] as string
    if (!known.has(name)) requireName(name)
    if (notValue.test(value))
      throw unfit(`the value of \`${name}\` has a control character, or one above U+00FF`)
    if (name === "host") host = value
    else {
      if (name === "content-length") length = lengthOf(value, length)
      lines += `${name}: ${value}\r\n`
    }
  }
  const chunked = body !== null && !Buffer.isBuffer(body) && length === undefined
  if (Buffer.isBuffer(body)) {
    if (length !== undefined && length !== body.length)
      throw unfit("content-length is not the length of the body")
    if (length === undefined) lines += `content-length: ${body.length}\r\n`
  } else if (body === null && length === undefined && sendsContent.has(method))
    lines += "content-length: 0\r\n"
  else if (chunked) lines += "transfer-encoding: chunked\r\n"
  // HEAD: bytes that a backend wrongly sends after the head would be read as the next response.
  const connection = method === "HEAD" ? "close" : "keep-alive"
  const text = `${method} ${path} HTTP/1.1\r\nhost: ${host}\r\nconnection: ${connection}\r\n${lines}\r\n`
  return { text, length, chunked }
}

/** Methods that expect content: without any they send `content-length: 0` (RFC 9110 §8.6). */
const sendsContent: ReadonlySet<string> = new Set(["POST", "PUT", "PATCH"])

function requireName(name: string): void {
  if (name === "" || !isTokens(name)) throw unfit("a field has no name")
  if (ours.has(name) || name !== name.toLowerCase()) throw unfit(`\`${name}\` cannot be sent`)
  if (known.size < knownMax && name.length <= 64) known.add(name)
}

function lengthOf(value: string, before: number | undefined): number {
  if (before !== undefined || !/^[0-9]{1,15}$/.test(value))
    throw unfit("content-length occurs twice or is not a number")
  return Number(value)
}

function isTokens(text: string): boolean {
  for (let at = 0; at < text.length; at += 1) if (isToken[text.charCodeAt(at)] !== 1) return false
  return true
}

function isPath(path: string): boolean {
  for (let at = 0; at < path.length; at += 1) {
    const code = path.charCodeAt(at)
    if (code <= 0x20 || code === 0x7f || code > 0xff) return false
  }
  return path !== ""
}

function unfit(what: string): UpstreamError {
  return new UpstreamError("request", `the request cannot be sent: ${what}`)
}
