import { refusedValue } from "../access/refused-value.ts"
import type { Exchange } from "../exchange.ts"
import { canonicalPath } from "../messages/canonical-path.ts"
import { percentEncode } from "../messages/percent-encode.ts"
import type { TextGrammar } from "./text.ts"

/** Longer values are refused: no header is that long on purpose, and servers respond with 400 or 431. */
const headerValueMax = 8192
/** Characters with a meaning in OpenFGA's users and objects, spaces and control characters (including Unicode's). */
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what it looks for.
const notInId = /[\s#:*\u0000-\u001f\u007f-\u009f]/u
// biome-ignore lint/suspicious/noControlCharactersInRegex: as above.
const notInHeader = /[\u0000-\u0008\u000a-\u001f\u007f]/
const notInHost = /[^A-Za-z0-9.\-_~!$&'()+,;=:[\]%]/

/** Text that is inserted unchanged: bodies. */
export const anyText: TextGrammar = { dynamic: (value) => value }

/** The key of a limit. An IPv6 address of the caller in it is replaced by its network, whichever expression put it there. */
export const limitKeyText: TextGrammar = {
  dynamic: (value) => value,
  whole: (value, { ip, caller }) => (ip === caller ? value : value.replaceAll(ip, caller)),
}

/** Part of a user or object for the engine: a value from the request must be an id, and cannot become another type, a wildcard or a userset. */
export const idText: TextGrammar = {
  dynamic(value, source, exchange) {
    if (value === "" || notInId.test(value)) throw refusedValue(exchange, `\${${source}} is not a valid id`)
    return value
  },
}

/** Value of a header field (RFC 9110 §5.5). Characters beyond ASCII are sent as UTF-8. */
export const headerText: TextGrammar = {
  dynamic: (value, source, exchange) => checkedHeader(value, exchange, `\${${source}}`),
  whole(value, exchange) {
    if (value.length > headerValueMax) throw refusedValue(exchange, "a header value is too long")
    return toHeaderBytes(value)
  },
}

/** Path for the backend: each dynamic part is one segment or a part of one. A path parameter keeps its slashes; only a tail has any. */
export const pathText: TextGrammar = {
  dynamic(value, source, exchange) {
    if (/^path\.\w+$/.test(source) && value.includes("/"))
      return value.split("/").map(percentEncode).join("/")
    if (value === "" || value.includes("/"))
      throw refusedValue(exchange, `\${${source}} is not a valid path segment`)
    return percentEncode(value)
  },
  whole(value, exchange) {
    const [path, query] = splitQuery(value)
    const canonical = canonicalPath(path)
    if (canonical === undefined) throw refusedValue(exchange, "the rewritten path has no canonical form")
    return canonical + query
  },
}

/** Part of one segment of the path of a URL. */
export const segmentText: TextGrammar = {
  dynamic(value, source, exchange) {
    if (value === "" || /^\.{1,2}$/.test(value))
      throw refusedValue(exchange, `\${${source}} is not a valid path segment`)
    return percentEncode(value)
  },
}

/** Part of the query of a URL. */
export const queryPartText: TextGrammar = { dynamic: percentEncode }

/** One label of a host name (RFC 1123 §2.1), so that a value cannot select another domain. */
export const labelText: TextGrammar = {
  dynamic(value, source, exchange) {
    if (!/^[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?$/.test(value))
      throw refusedValue(exchange, `\${${source}} is not a valid label of a host name`)
    return value
  },
}

/** Name of a query parameter; it is percent-encoded when it is sent. */
export const queryNameText: TextGrammar = {
  dynamic: (value) => value,
  whole(value, exchange) {
    if (value === "" || value.length > 128)
      throw refusedValue(exchange, "the expression did not yield a valid query parameter name")
    return value
  },
}

/** Path, optionally with a query; dynamic parts are inserted unchanged. */
export const rawPathText: TextGrammar = {
  dynamic: (value) => value,
  whole(value, exchange) {
    const [path, query] = splitQuery(value.startsWith("/") ? value : `/${value}`)
    if (/[^\x21-\x7e]|[#"<>\\^`{|}]/.test(query))
      throw refusedValue(exchange, "the rewritten query has a character that is not allowed in a query")
    const canonical = /[^\x21-\x7e]/.test(path) ? undefined : canonicalPath(path)
    if (canonical === undefined) throw refusedValue(exchange, "the rewritten path has no canonical form")
    return canonical + query
  },
}

/** Host header (RFC 9110 §7.2). */
export const hostText: TextGrammar = {
  dynamic(value, source, exchange) {
    if (value === "" || value.length > 255 || notInHost.test(value))
      throw refusedValue(exchange, `\${${source}} is not a valid host`)
    return value
  },
}

/** @throws Error for a constant that is not a valid header value; the compiler reports it first */
export function constantHeader(value: string, name: string): string {
  if (notInHeader.test(value))
    throw new Error(`the value of header \`${name}\` has a line break or a control character`)
  return toHeaderBytes(value)
}

function checkedHeader(value: string, exchange: Exchange, what: string): string {
  const found = notInHeader.exec(value)?.[0]
  if (found === undefined) return value
  const code = found.charCodeAt(0)
  const name =
    code === 10 || code === 13 ? "a line break" : `U+${code.toString(16).toUpperCase().padStart(4, "0")}`
  throw refusedValue(exchange, `${shortened(what)} has ${name}, which a header must not have`)
}

/** The beginning of an expression, on one line; the message has its position separately. */
function shortened(what: string): string {
  const line = what.replace(/\s+/g, " ")
  return line.length <= 80 ? line : `${line.slice(0, 80).trimEnd()} …`
}

function splitQuery(value: string): [path: string, query: string] {
  const at = value.indexOf("?")
  return at === -1 ? [value, ""] : [value.slice(0, at), value.slice(at)]
}

const ascii = /^[\t\x20-\x7e]*$/

/** Node and undici write headers as Latin-1, so each UTF-8 byte must be one character. */
function toHeaderBytes(value: string): string {
  return ascii.test(value) ? value : Buffer.from(value, "utf8").toString("latin1")
}
