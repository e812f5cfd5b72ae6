import { type BackendHandle, type Exchange, localPath, type SendOptions } from "../exchange.ts"
import type { BackendsByUrl } from "../ports.ts"
import { type Problem, problem } from "./answer.ts"

/** Maximum number of consecutive redirects; one more is an error of the backend. */
const redirectsMax = 5

const redirects: ReadonlySet<number> = new Set([301, 302, 303, 307, 308])

/** Fields meant for one origin only (Fetch standard, HTTP-redirect fetch). */
const ofTheOrigin = ["authorization", "cookie", "proxy-authorization"]

/** Follows redirects of the backend (RFC 9110 section 15.4). A redirect from https to http, or to an invalid address, becomes the response. */
export async function followRedirects(
  exchange: Exchange,
  backends: BackendsByUrl,
  options: SendOptions,
): Promise<Problem | undefined> {
  for (let hops = 0; ; hops += 1) {
    const { response, backend } = exchange
    if (response === undefined || backend === undefined || !redirects.has(response.status)) return undefined
    const next = targetOf(exchange, backend, response.headers.get("location"))
    if (next === undefined) return undefined
    if (hops === redirectsMax)
      return problem("bad-gateway", { cause: `the backend redirects more than ${redirectsMax} times` })
    aimAt(exchange, backend, next, backends)
    changeMethod(exchange, response.status)
    const found = await exchange.send(exchange.backend ?? backend, options)
    if (found !== undefined) return found
  }
}

/** The target of a redirect; undefined if it must not be followed: credentials in the URL, or from https to http. */
function targetOf(exchange: Exchange, { url }: BackendHandle, location: string | undefined): URL | undefined {
  const sent = new URL(url)
  const base = `${sent.origin}${basePathOf(sent)}${localPath(exchange)}`
  if (location === undefined || !URL.canParse(location, base)) return undefined
  const next = new URL(location, base)
  if (next.username !== "" || next.password !== "") return undefined
  return next.protocol === sent.protocol || (sent.protocol === "http:" && next.protocol === "https:")
    ? next
    : undefined
}

function basePathOf({ pathname }: URL): string {
  return pathname.replace(/\/+$/, "")
}

/**
 * A redirect within the backend's own URL keeps the backend and its credentials. Any other target must not get the credentials of the gateway, and
 * another origin not those of the caller.
 */
function aimAt(exchange: Exchange, backend: BackendHandle, next: URL, backends: BackendsByUrl): void {
  const own = new URL(backend.url)
  const basePath = basePathOf(own)
  const isOwn = next.origin === own.origin && `${next.pathname}/`.startsWith(`${basePath}/`)
  exchange.backendQuery = ""
  if (!isOwn) {
    exchange.backend = backends.at(next.origin)
    exchange.certificate = undefined
    exchange.sentToken = undefined
    exchange.host = undefined
    exchange.headers.remove("host")
    if (next.origin !== own.origin) for (const name of ofTheOrigin) exchange.headers.remove(name)
  }
  exchange.rewritten = isOwn ? next.pathname.slice(basePath.length) : next.pathname
  exchange.query.lead(next.search.slice(1), false)
}

/** 303 changes the method to GET; in practice 301 and 302 do so for POST (RFC 9110 sections 15.4.2 to 15.4.4). */
function changeMethod(exchange: Exchange, status: number): void {
  const method = exchange.sentMethod ?? exchange.method
  const becomesGet =
    (status === 303 && method !== "HEAD") || ((status === 301 || status === 302) && method === "POST")
  if (!becomesGet || method === "GET") return
  exchange.sentMethod = "GET"
  exchange.requestBody.replace(Buffer.alloc(0), null)
  exchange.headers.remove("content-type")
}
