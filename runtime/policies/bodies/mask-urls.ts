import { isJson, mediaTypeOf } from "../../validation/media-type.ts"
import type { Exchange } from "../exchange.ts"
import { forgetUnchanged, messageOf, partProblem } from "../messages/message.ts"
import type { Outcome, Policy } from "../policy.ts"

/** Response fields that contain URLs (RFC 9110 §10.2.2 and §8.7, RFC 8288). */
const urlFields: ReadonlySet<string> = new Set(["location", "content-location", "link"])

/**
 * Replaces absolute URLs of the chosen backend in a response by those of the gateway: the address becomes the one the caller used, the base path
 * becomes the path of the API. In a request it does the reverse. Only text bodies are changed; other media types and event streams pass unread.
 */
export const maskUrls: Policy<"mask-urls"> = (plan) => {
  const message = messageOf(plan.message)
  const swapIn = (exchange: Exchange, swap: UrlSwap): Outcome => {
    const body = message.body(exchange)
    if (!body.present) return undefined
    const part = plan.message === "response" ? partProblem(exchange) : undefined
    if (part !== undefined) return part
    // Works on bytes: URLs are ASCII, and all other bytes stay as they are.
    const before = body.content.toString("latin1")
    const after = swap.in(before)
    if (after === before) return undefined
    body.replace(Buffer.from(after, "latin1"), null)
    return undefined
  }
  return (exchange) => {
    const headers = message.headers(exchange)
    const isRead = isText(headers.get("content-type"))
    const swap = isRead || plan.headers ? swapOf(plan.message, exchange) : undefined
    if (swap === undefined) return undefined
    if (plan.headers) {
      const { flat } = headers
      for (let at = 0; at < flat.length; at += 2)
        if (urlFields.has(flat[at] as string)) flat[at + 1] = swap.in(flat[at + 1] as string)
    }
    if (!isRead) return undefined
    if (plan.message === "response") forgetUnchanged(exchange)
    const loading = exchange.load(message.needs)
    return loading === undefined ? swapIn(exchange, swap) : loading.then(() => swapIn(exchange, swap))
  }
}

const defaultPorts: Readonly<Record<string, string>> = { http: "80", https: "443" }
/** The host or path segment must end here, otherwise it is another URL. A full stop at the end of a sentence is not part of the URL. */
const goesOn = String.raw`(?!\.*[\w~%@:+=-])`

/** Which URLs are replaced by which; undefined when there is no backend. */
function swapOf(message: "request" | "response", exchange: Exchange): UrlSwap | undefined {
  const { backend, route, scheme, authority, host } = exchange
  const first = backend?.url ?? route?.backendUrl
  if (first === undefined) return undefined
  const path = (route?.plan.stripPrefix ?? "").replace(/\/+$/, "")
  // Without a Host field the gateway's address is not known; a relative URL still leads back to the gateway.
  const gateway = authority === "" ? path : `${scheme}://${authority}${path}`
  if (message === "request") return authority === "" ? undefined : new UrlSwap([gateway], first)
  const urls = [...(backend?.urls ?? [first])]
  // When a policy has chosen another backend, or a redirect was followed, the URL of the API's own backend must be hidden, too.
  if (route?.backendUrl !== undefined) urls.push(route.backendUrl)
  // A backend that receives another Host uses it in its URLs.
  if (host !== undefined && host.toLowerCase() !== authority.toLowerCase()) urls.push(withHost(first, host))
  return new UrlSwap(urls, gateway)
}

function withHost(url: string, host: string): string {
  return url.replace(/^([a-z]+:\/\/)[^/]*/i, (_, scheme: string) => `${scheme}${host}`)
}

/** Whether bodies of the media type are text in which URLs may be replaced. Event streams never end, so they are not read. */
function isText(contentType: string | undefined): boolean {
  const type = contentType === undefined ? undefined : mediaTypeOf(contentType)
  if (type === undefined) return false
  const essence = `${type.type}/${type.subtype}`
  // The parts may be text (RFC 9110 §14.6); their types are inside the body.
  if (essence === "multipart/byteranges") return true
  if (type.type === "text") return essence !== "text/event-stream"
  return isJson(essence) || /^application\/(?:[\w.+-]+\+)?(?:xml|yaml|javascript|ecmascript)$/.test(essence)
}

/**
 * Replaces URLs in a text, including everything after the base: `http://backend:9001/base/orders/1` becomes `https://api.example/v1/orders/1`. Scheme
 * and host match in any letter case, a default port may be omitted, and `\/`, as some JSON writers escape slashes, matches a slash.
 */
class UrlSwap {
  readonly #sought: RegExp
  readonly #put: string

  /** URLs without a query; a slash at the end is ignored. */
  constructor(sought: readonly string[], put: string) {
    // The longest first, because one may be a prefix of another.
    const patterns = [...new Set(sought)].sort((a, b) => b.length - a.length).map(patternOf)
    this.#sought = new RegExp(`(?<![\\w.+-])(?:${patterns.join("|")})${goesOn}`, "g")
    this.#put = put.replace(/\/+$/, "")
  }

  in(text: string): string {
    return text.replace(this.#sought, (found) =>
      found.includes("\\/") ? this.#put.replaceAll("/", "\\/") : this.#put,
    )
  }
}

/** Only the path is case-sensitive. */
function patternOf(url: string): string {
  const [, scheme = "", authority = "", path = ""] = /^([a-z]+):\/\/([^/]*)(.*)$/i.exec(url) ?? []
  const named = scheme.toLowerCase()
  const [, host = "", port] = /^(.*?)(?::(\d+))?$/.exec(authority) ?? []
  const own = defaultPorts[named]
  const ports = port === undefined || port === own ? `(?::${own})?` : `:${port}`
  const slash = String.raw`\\?/`
  const below = path
    .replace(/\/+$/, "")
    .split("/")
    .map((segment) => segment.replaceAll(/[.*+?^${}()|[\]\\]/g, "\\$&"))
    .join(slash)
  return `${anyCase(named)}:${slash}${slash}${anyCase(host)}${ports}${below}`
}

function anyCase(text: string): string {
  return [...text]
    .map((each) =>
      /[a-z]/i.test(each) ? `[${each.toLowerCase()}${each.toUpperCase()}]` : each.replace(/[.[\]]/, "\\$&"),
    )
    .join("")
}
