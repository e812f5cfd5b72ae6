import { UpstreamError } from "../connections.ts"
import { cr, isToken, isValue, lf } from "./characters.ts"

/** The head of a response (RFC 9112 §2), and the framing of its body (§6.3). */
export interface ResponseHead {
  readonly status: number
  /** Names as sent and values, without surrounding whitespace, alternate. */
  readonly fields: readonly string[]
  /** Content-Length; -1 without one. */
  readonly length: number
  readonly chunked: boolean
  /** Whether the other side allows reuse of the connection. */
  readonly keepAlive: boolean
  /** How long the server keeps an idle connection; undefined when it does not say. */
  readonly keepAliveMs: number | undefined
}

const colon = 58
const statusLength = "HTTP/1.1 200".length

/** The error for an invalid response. */
export function malformed(what: string): UpstreamError {
  return new UpstreamError("protocol", `the response of the backend is not HTTP/1.1: ${what}`)
}

/**
 * Parses a head without its empty line. It refuses everything that two readers could interpret differently: lines must end in CRLF, must not be
 * folded, must not have a space before the colon, and the end of the body must be defined in only one way.
 * @throws UpstreamError
 */
export function readHead(text: string): ResponseHead {
  const line = text.indexOf("\r\n")
  const end = line === -1 ? text.length : line
  const status = readStatus(text, end)
  const fields = line === -1 ? [] : readFields(text, line + 2)
  return framed(status, text.charCodeAt(7) === 49, fields)
}

/** The status line (RFC 9112, section 4), read strictly. */
function readStatus(text: string, end: number): number {
  const minor = text.charCodeAt(7)
  if (!text.startsWith("HTTP/1.") || (minor !== 48 && minor !== 49) || text.charCodeAt(8) !== 32)
    throw malformed("it does not begin with HTTP/1.1 or HTTP/1.0")
  let status = 0
  for (let at = 9; at < statusLength; at += 1) {
    const digit = text.charCodeAt(at) - 48
    if (!(digit >= 0 && digit <= 9)) throw malformed("its status is not three digits")
    status = status * 10 + digit
  }
  if (end > statusLength && text.charCodeAt(statusLength) !== 32)
    throw malformed("its status is not three digits")
  for (let at = statusLength; at < end; at += 1)
    if (isValue[text.charCodeAt(at)] !== 1) throw malformed("its reason has a control character")
  return status
}

/**
 * Parses field lines from an offset: names and values alternate.
 * @throws UpstreamError
 */
export function readFields(text: string, from: number): string[] {
  const fields: string[] = []
  const end = text.length
  for (let at = from; at < end; at += 2) {
    const nameFrom = at
    while (isToken[text.charCodeAt(at)] === 1) at += 1
    if (at === nameFrom || text.charCodeAt(at) !== colon) throw malformed("a line is not a field")
    const name = text.slice(nameFrom, at)
    const lineFrom = at + 1
    at = lineFrom
    while (isBlank(text.charCodeAt(at))) at += 1
    const valueFrom = at
    while (isValue[text.charCodeAt(at)] === 1) at += 1
    let valueEnd = at
    while (valueEnd > valueFrom && isBlank(text.charCodeAt(valueEnd - 1))) valueEnd -= 1
    // Not every reader treats a tab as whitespace here, and then the message would end elsewhere.
    if (isFraming(name) && text.slice(lineFrom, at).includes("\t"))
      throw malformed(`there is a tab next to the value of ${name}`)
    fields.push(name, text.slice(valueFrom, valueEnd))
    if (at >= end) break
    if (text.charCodeAt(at) !== cr || text.charCodeAt(at + 1) !== lf)
      throw malformed(`\`${name.slice(0, 64)}\` has a control character, or its line does not end in CRLF`)
  }
  return fields
}

/** How the body is framed (RFC 9112, section 6). Ambiguous framing is an error and never guessed. */
function framed(status: number, is11: boolean, fields: readonly string[]): ResponseHead {
  let length = -1
  let chunked = false
  let keepAlive = is11
  let keepAliveMs: number | undefined
  for (let at = 0; at < fields.length; at += 2) {
    const name = fields[at] as string
    const value = fields[at + 1] as string
    // The length excludes most names before they are compared with these four.
    if (name.length === 14 && isNamed(name, "content-length")) {
      if (length !== -1) throw malformed("it has two Content-Length")
      length = lengthOf(value)
    } else if (name.length === 17 && isNamed(name, "transfer-encoding")) {
      if (chunked || value.toLowerCase() !== "chunked" || !is11)
        throw malformed("its Transfer-Encoding is not `chunked` alone")
      chunked = true
    } else if (name.length === 10 && isNamed(name, "connection")) {
      if (value !== "keep-alive" && /(?:^|,)[\t ]*close[\t ]*(?:,|$)/i.test(value)) keepAlive = false
    } else if (name.length === 10 && isNamed(name, "keep-alive")) {
      const seconds = /(?:^|,)[\t ]*timeout=([0-9]{1,6})[\t ]*(?:,|$)/i.exec(value)?.[1]
      if (seconds !== undefined) keepAliveMs = Number(seconds) * 1000
    }
  }
  if (chunked && length !== -1) throw malformed("it has Content-Length and Transfer-Encoding")
  return { status, fields, length, chunked, keepAlive, keepAliveMs }
}

/** Whether a field defines where a message ends. */
export function isFraming(name: string): boolean {
  return (
    (name.length === 14 && isNamed(name, "content-length")) ||
    (name.length === 17 && isNamed(name, "transfer-encoding"))
  )
}

function isNamed(name: string, lower: string): boolean {
  return name === lower || name.toLowerCase() === lower
}

function lengthOf(value: string): number {
  if (!/^[0-9]{1,15}$/.test(value)) throw malformed("its Content-Length is not a number")
  return Number(value)
}

function isBlank(code: number): boolean {
  return code === 32 || code === 9
}
