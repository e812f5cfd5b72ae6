import { type IncomingHttpHeaders, request } from "node:http"
import { text } from "node:stream/consumers"

/** A response as a browser sees it, with the address it came from. */
export interface Page {
  readonly url: string
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly body: string
  /** The last part of `type` of a problem. */
  readonly problem: string | undefined
}

/** Header fields of a navigation. */
const navigation = { accept: "text/html,*/*", "sec-fetch-mode": "navigate", "sec-fetch-dest": "document" }

/** A browser with cookies by host: it follows redirects, and keeps what `Set-Cookie` says. */
export class Browser {
  readonly cookies = new Map<string, Map<string, string>>()

  /** Opens a page, and follows redirects. */
  async open(url: string, headers: Record<string, string> = {}): Promise<Page> {
    let page = await this.send("GET", url, { ...navigation, ...headers })
    for (let hops = 0; page.status === 302 && hops < 10; hops += 1)
      page = await this.send("GET", new URL(page.headers.location ?? "", page.url).href, {
        ...navigation,
        ...headers,
      })
    return page
  }

  /** Sends one request as a navigation, and follows nothing. */
  visit(url: string, headers: Record<string, string> = {}): Promise<Page> {
    return this.send("GET", url, { ...navigation, ...headers })
  }

  /** Sends one request as a script of the page. */
  fetch(url: string, headers: Record<string, string> = {}, method = "GET"): Promise<Page> {
    return this.send(method, url, {
      "sec-fetch-mode": "cors",
      "sec-fetch-dest": "empty",
      accept: "*/*",
      ...headers,
    })
  }

  /** The cookies of a host whose name begins like this. */
  named(host: string, prefix: string): string[] {
    return [...(this.cookies.get(host)?.keys() ?? [])].filter((name) => name.startsWith(prefix))
  }

  send(method: string, url: string, headers: Record<string, string>, body?: string): Promise<Page> {
    const { host } = new URL(url)
    const jar = this.cookies.get(host) ?? new Map<string, string>()
    this.cookies.set(host, jar)
    const cookie = [...jar].map(([name, value]) => `${name}=${value}`).join("; ")
    return new Promise((resolve, reject) => {
      const sent = request(
        url,
        { method, agent: false, headers: cookie === "" ? headers : { cookie, ...headers } },
        (response) => {
          for (const line of response.headers["set-cookie"] ?? []) keep(line, jar)
          text(response).then((body) => {
            const { statusCode: status = 0, headers: fields } = response
            resolve({ url, status, headers: fields, body, problem: problemIn(fields, body) })
          }, reject)
        },
      )
      sent.on("error", reject).end(body)
    })
  }
}

function keep(line: string, jar: Map<string, string>): void {
  const [pair = ""] = line.split(";", 1)
  const at = pair.indexOf("=")
  if (/;\s*max-age=0/i.test(line)) jar.delete(pair.slice(0, at))
  else jar.set(pair.slice(0, at), pair.slice(at + 1))
}

function problemIn(headers: IncomingHttpHeaders, body: string): string | undefined {
  // The response to HEAD has no body.
  if (headers["content-type"] !== "application/problem+json" || body === "") return undefined
  return (JSON.parse(body) as { type: string }).type.replace("urn:sallyport:problem:", "")
}
