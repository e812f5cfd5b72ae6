import type { ClientRequest, FieldLine } from "./world.ts"

/** A browser of a test: it keeps the cookies that the gateway sets, and sends them back. Domains and paths are not looked at: there is one gateway. */
export class PlayedBrowser {
  readonly #cookies = new Map<string, string>()

  /** The request as a browser sends it: with its cookies, and a GET as the navigation to a page. */
  complete(request: ClientRequest): ClientRequest {
    const headers = [...request.headers]
    const has = (wanted: string) => headers.some(([name]) => name.toLowerCase() === wanted)
    if (request.method === "GET" && !has("accept") && !has("sec-fetch-mode"))
      headers.push(["accept", "text/html"], ["sec-fetch-mode", "navigate"], ["sec-fetch-dest", "document"])
    // As from a link on a page of the gateway.
    if (!has("sec-fetch-site")) headers.push(["sec-fetch-site", "same-origin"])
    if (this.#cookies.size > 0 && !has("cookie"))
      headers.push(["cookie", [...this.#cookies].map(([name, value]) => `${name}=${value}`).join("; ")])
    return { ...request, headers }
  }

  /** Keeps the cookies of a response, and forgets those that it removes. `nowMs`: the wall clock. */
  keep(headers: readonly FieldLine[], nowMs: number): void {
    for (const [name, line] of headers) {
      if (name !== "set-cookie") continue
      const [pair = "", ...attributes] = line.split(";").map((part) => part.trim())
      const at = pair.indexOf("=")
      if (at < 1) continue
      if (isGone(attributes, nowMs)) this.#cookies.delete(pair.slice(0, at))
      else this.#cookies.set(pair.slice(0, at), pair.slice(at + 1))
    }
  }
}

function isGone(attributes: readonly string[], nowMs: number): boolean {
  const attribute = (wanted: string) =>
    attributes.find((each) => each.toLowerCase().startsWith(`${wanted}=`))?.slice(wanted.length + 1)
  const age = attribute("max-age")
  if (age !== undefined) return Number(age) <= 0
  const expires = attribute("expires")
  return expires !== undefined && Date.parse(expires) <= nowMs
}
