import * as z from "zod"

/** HTTP field name (RFC 9110 §5.1), lower case. */
export const headerName = z.string().regex(/^[!#$%&'*+.^_`|~0-9a-z-]{1,128}$/)

/** Fields of the connection and of the framing (RFC 9110 §7.6.1, RFC 9112 §6), and such as make a second request of the first: the gateway writes them, nobody else. */
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

/** A media type or a range of such (RFC 9110 §12.5.1) in lower case, perhaps with parameters; `*` alone is any. */
export const mediaRange = z
  .string()
  .max(256)
  .regex(/^(?:\*|[a-z0-9!#$&^_.+*-]+\/[a-z0-9!#$&^_.+*-]+(?:\s*;\s*[a-z0-9_-]+=[a-z0-9_.:/+-]+)*)$/)

/** The address a WebSocket is opened at: it begins as a request of HTTP, so `wss://` is `https://` and `ws://` is `http://`. Other addresses stay as they are. */
export function asHttp(url: string): string {
  return url.replace(/^ws(s?):\/\//i, "http$1://")
}
