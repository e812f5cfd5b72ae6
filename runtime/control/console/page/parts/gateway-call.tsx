import { digits, sizeText } from "../format.ts"
import { Badge, Scroll } from "./basic.tsx"

/** A request from the browser to the gateway. `url`: path and query. */
export interface GatewayCall {
  readonly method: string
  readonly url: string
  readonly headers: readonly (readonly [name: string, value: string])[]
  readonly body: string | null
}

/** What the gateway responded. `bytes`: as many as were read. `isCut`: the body is longer. */
export interface GatewayAnswer {
  readonly status: number
  readonly text: string
  readonly headers: readonly (readonly [string, string])[]
  readonly body: string
  readonly bytes: number
  readonly isCut: boolean
  readonly ms: number
}

/** Reading more would make the page slow. */
const bodyBytesMax = 100_000
/** Names that browsers set themselves, and leave out without a word. */
const ofBrowsers =
  /^(?:host|cookie2?|origin|referer|connection|content-length|date|expect|keep-alive|te|trailer|transfer-encoding|upgrade|via|accept-(?:charset|encoding)|access-control-request-.*|dnt|(?:proxy|sec)-.*)$/i

/**
 * Headers of a text with one in each line.
 * @throws Error for a line that is no header
 */
export function headersOf(text: string): readonly (readonly [string, string])[] {
  return text
    .split("\n")
    .filter((line) => line.trim() !== "")
    .map((line): [string, string] => {
      const at = line.indexOf(":")
      if (at <= 0) throw new Error(`\`${line}\` is no header: write NAME: VALUE.`)
      return [line.slice(0, at).trim(), line.slice(at + 1).trim()]
    })
}

/** Why a browser cannot send the request from this page; undefined: it can. */
export function obstacleInBrowser(
  gateway: string,
  { method, headers, body }: GatewayCall,
): string | undefined {
  const { protocol, hostname, host } = new URL(gateway)
  // Browsers take addresses of the machine itself for secure.
  const isLocal = /^(?:localhost|.*\.localhost|127(?:\.\d+){3}|\[::1\])$/.test(hostname)
  if (location.protocol === "https:" && protocol === "http:" && !isLocal)
    return `Browsers do not send requests of a page with HTTPS to ${host}, which has plain HTTP.`
  if (body && (method === "GET" || method === "HEAD"))
    return `Browsers send no body with ${method}. Remove the body, or use \`curl\`.`
  const lost = headers.map(([name]) => name).filter((name) => ofBrowsers.test(name))
  if (lost.length > 0)
    return `Browsers set ${lost.map((name) => `\`${name}\``).join(", ")} themselves. Remove ${lost.length === 1 ? "this header" : "these headers"}.`
  return undefined
}

/**
 * Sends a request without cookies, and reads the beginning of the response.
 * Rejects with `Error` when there is no response that this page may read.
 */
export async function callGateway(gateway: string, request: GatewayCall): Promise<GatewayAnswer> {
  const { method, url, headers, body } = request
  const obstacle = obstacleInBrowser(gateway, request)
  if (obstacle !== undefined) throw new Error(obstacle)
  let isRefusedByPolicy = false
  const noted = () => {
    isRefusedByPolicy = true
  }
  document.addEventListener("securitypolicyviolation", noted)
  const started = performance.now()
  try {
    const response = await fetch(gateway + url, {
      ...{ method, headers: headers.map(([name, value]): [string, string] => [name, value]) },
      ...{ credentials: "omit", redirect: "manual", cache: "no-store" },
      ...(body ? { body } : {}),
    })
    if (response.type === "opaqueredirect")
      throw new Error("The gateway redirects, and browsers do not show pages where to. `curl` does.")
    const read = await beginningOf(response)
    const ms = performance.now() - started
    return { status: response.status, text: response.statusText, headers: [...response.headers], ...read, ms }
  } catch (error) {
    if (!(error instanceof TypeError)) throw error
    throw new Error(
      isRefusedByPolicy
        ? "The plan allows this page to call the gateway since a moment ago: load the page again."
        : `${gateway} did not respond, or this page may not read its response: the route has a \`cors\` without ${location.origin}, the certificate is not trusted, or the gateway cannot be reached from this browser.`,
    )
  } finally {
    document.removeEventListener("securitypolicyviolation", noted)
  }
}

/** As much of a body as the page shows. Its rest is not loaded. */
async function beginningOf(response: Response): Promise<Pick<GatewayAnswer, "body" | "bytes" | "isCut">> {
  const reader = response.body?.getReader()
  const chunks: Uint8Array<ArrayBuffer>[] = []
  let bytes = 0
  let next = await reader?.read()
  while (next !== undefined && !next.done && bytes < bodyBytesMax) {
    chunks.push(next.value)
    bytes += next.value.length
    next = await reader?.read()
  }
  const isCut = bytes > bodyBytesMax || (next !== undefined && !next.done)
  if (isCut) void reader?.cancel().catch(() => undefined)
  const text = new TextDecoder().decode(await new Blob(chunks).arrayBuffer())
  return { body: isCut ? text.slice(0, bodyBytesMax) : indented(text), bytes, isCut }
}

/** JSON in lines; everything else as it is. */
function indented(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), null, 2)
  } catch {
    return text
  }
}

/** A response: status, time, headers and body. */
export function GatewayAnswered({ answer }: { readonly answer: GatewayAnswer }) {
  const { status, text, headers, body, bytes, isCut, ms } = answer
  return (
    <div aria-live="polite">
      <p>
        <Badge tone={status < 400 ? "good" : "bad"}>
          {status} {text}
        </Badge>{" "}
        <span class="quiet">
          {digits(ms)} ms, {sizeText(bytes)}
        </span>
      </p>
      <details>
        <summary>Headers</summary>
        <pre>{headers.map(([name, value]) => `${name}: ${value}`).join("\n")}</pre>
      </details>
      {body === "" ? (
        <p class="quiet">The response has no body.</p>
      ) : (
        <Scroll label="Body">
          <pre class="sent-body">
            <code>{body}</code>
          </pre>
        </Scroll>
      )}
      {isCut && <p class="quiet">The body is longer: only its beginning was loaded.</p>}
    </div>
  )
}
