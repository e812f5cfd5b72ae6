import { type SentRequest, UpstreamError } from "./connections.ts"
import { isToken, notValue } from "./http1/characters.ts"

/** Fields for framing and for one connection: only the client writes them. */
const ours: ReadonlySet<string> = new Set([
  "connection",
  "transfer-encoding",
  "keep-alive",
  "proxy-connection",
  "upgrade",
  "http2-settings",
  "expect",
])

/** Names that were validated before; a gateway sends few different ones. */
const known = new Set<string>()
const knownMax = 2048

/**
 * Refuses a method or a path with a character that could end a line or begin another message, whatever its source.
 * @throws UpstreamError
 */
export function checkTarget({ method, path }: SentRequest): void {
  if (!isTokens(method) || method === "") throw unfit("the method is invalid")
  if (!isPath(path)) throw unfit("the path has a space or a control character")
}

/**
 * As `checkTarget`, for a field, which must not be one that belongs to a connection.
 * @throws UpstreamError
 */
export function checkField(name: string, value: string): void {
  if (!known.has(name)) requireName(name)
  if (notValue.test(value))
    throw unfit(`the value of \`${name}\` has a control character, or one above U+00FF`)
}

/**
 * The length that a Content-Length states. `before`: what an earlier one has stated.
 * @throws UpstreamError
 */
export function lengthOf(value: string, before: number | undefined): number {
  if (before !== undefined || !/^[0-9]{1,15}$/.test(value))
    throw unfit("content-length occurs twice or is not a number")
  return Number(value)
}

/** Checks the length of a body that is sent at once. */
export function checkLength(length: number | undefined, body: Buffer): void {
  if (length !== undefined && length !== body.length)
    throw unfit("content-length is not the length of the body")
}

/** Methods that expect content: without any they send `content-length: 0` (RFC 9110 §8.6). */
export const sendsContent: ReadonlySet<string> = new Set(["POST", "PUT", "PATCH"])

function requireName(name: string): void {
  if (name === "" || !isTokens(name)) throw unfit("a field has no name")
  if (ours.has(name) || name !== name.toLowerCase()) throw unfit(`\`${name}\` cannot be sent`)
  if (known.size < knownMax && name.length <= 64) known.add(name)
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

/** The error of a request that cannot be sent. */
export function unfit(what: string): UpstreamError {
  return new UpstreamError("request", `the request cannot be sent: ${what}`)
}
