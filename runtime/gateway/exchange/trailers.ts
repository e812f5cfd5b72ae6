import type { ExchangeState } from "./exchange-state.ts"

/** What a trailer may not say: it came too late to frame, route, authenticate or describe the message (RFC 9110 §6.5.1). */
const forbidden: ReadonlySet<string> = new Set([
  "authorization",
  "age",
  "cache-control",
  "connection",
  "content-encoding",
  "content-length",
  "content-range",
  "content-type",
  "date",
  "expires",
  "host",
  "keep-alive",
  "location",
  "proxy-authenticate",
  "retry-after",
  "set-cookie",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade",
  "vary",
  "warning",
  "www-authenticate",
  "x-request-id",
])

const token = /^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,128}$/
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what it looks for.
const control = /[\u0000-\u0008\u000a-\u001f\u007f]/

/** Hands the backend's trailers to a client that takes some (`TE: trailers`); to others they are dropped, as RFC 9110 §6.5 allows. */
export function passTrailers({ intake, reply }: ExchangeState, trailers: readonly string[]): void {
  if (!intake.takesTrailers || trailers.length === 0 || !reply.headersSent) return
  const passed: [string, string][] = []
  for (let at = 0; at + 1 < trailers.length; at += 2) {
    const name = trailers[at] as string
    const value = trailers[at + 1] as string
    if (token.test(name) && !forbidden.has(name.toLowerCase()) && !control.test(value))
      passed.push([name, value])
  }
  if (passed.length > 0) reply.addTrailers(passed)
}
