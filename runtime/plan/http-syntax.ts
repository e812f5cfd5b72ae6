import * as z from "zod"

/** HTTP field name (RFC 9110 §5.1), lower case. */
export const headerName = z.string().regex(/^[!#$%&'*+.^_`|~0-9a-z-]{1,128}$/)

/** Fields of the connection and of the framing (RFC 9110 §7.6.1, RFC 9112 §6), and fields that could turn one request into two. Only the gateway writes them. */
export const connectionFields: ReadonlySet<string> = new Set([
  "connection",
  "content-length",
  "expect",
  "http2-settings",
  "keep-alive",
  "proxy-authenticate",
  "proxy-authorization",
  "proxy-connection",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade",
])

/** A media type or media range (RFC 9110 §12.5.1) in lower case, optionally with parameters. `*` alone matches any. */
export const mediaRange = z
  .string()
  .max(256)
  .regex(/^(?:\*|[a-z0-9!#$&^_.+*-]+\/[a-z0-9!#$&^_.+*-]+(?:\s*;\s*[a-z0-9_-]+=[a-z0-9_.:/+-]+)*)$/)

/** The HTTP URL of a WebSocket, which starts as an HTTP request: `wss://` becomes `https://`, `ws://` becomes `http://`. Other URLs are returned unchanged. */
export function asHttp(url: string): string {
  return url.replace(/^ws(s?):\/\//i, "http$1://")
}

/** The field that marks a copy of a request. Backends can rely on it, because the gateway removes it from requests that are copied. */
export const mirrorField = "x-mirrored-request"

/** Name of a cookie (RFC 6265, section 4.1.1). */
export const cookieName = z.string().regex(/^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,128}$/)
