import { Agent, type Dispatcher, errors, request } from "undici"
import type { StoredResponse } from "../policies/exchange.ts"
import { HeaderList } from "../policies/header-list.ts"
import { OutgoingError, type OutgoingHttp, type OutgoingRequest } from "../policies/ports.ts"
import { CodingError, codingsOf, decodeContent } from "./content-coding.ts"

const responseBytesDefault = 10_000_000
const connectMs = 5_000
/** Connections to one origin; more requests wait. */
const connectionsMax = 64
/** Agents with certificates or authorities of their own that are kept. */
const agentsMax = 50
/** Sends requests of our own by undici: connections are kept, certificates verified, responses bounded. Redirects are answers like others: where a request goes is for the configuration to say. */
export class UndiciOutgoing implements OutgoingHttp {
  readonly #agent = newAgent({})
  readonly #withTls = new Map<string, Agent>()

  async send(asked: OutgoingRequest): Promise<StoredResponse> {
    const ending = new AbortController()
    const timer = setTimeout(
      () => ending.abort(new OutgoingError("timeout", "no answer in time")),
      asked.timeoutMs,
    )
    const give = () => ending.abort(new OutgoingError("unreachable", "the exchange is over"))
    asked.signal?.addEventListener("abort", give)
    if (asked.signal?.aborted === true) give()
    try {
      return await stored(
        await this.#once(asked, ending.signal),
        asked.responseBytesMax ?? responseBytesDefault,
      )
    } catch (error) {
      throw outgoingError(error, ending.signal)
    } finally {
      clearTimeout(timer)
      asked.signal?.removeEventListener("abort", give)
    }
  }

  /** Ends all connections. */
  async close(): Promise<void> {
    const agents = [this.#agent, ...this.#withTls.values()]
    await Promise.all(agents.map((agent) => agent.destroy().catch(() => undefined)))
  }

  #once(asked: OutgoingRequest, signal: AbortSignal): Promise<Dispatcher.ResponseData> {
    const url = checkedUrl(asked.url)
    const headers: string[] = []
    for (let at = 0; at < asked.headers.length; at += 2) {
      const name = asked.headers[at] as string
      if (name !== "content-length" && name !== "transfer-encoding")
        headers.push(name, asked.headers[at + 1] as string)
    }
    return request(url, {
      method: asked.method as Dispatcher.HttpMethod,
      headers,
      body: asked.body ?? null,
      dispatcher: this.#agentFor(asked),
      signal,
      headersTimeout: 0,
      bodyTimeout: 0,
    })
  }

  #agentFor({ certificate, trust }: OutgoingRequest): Agent {
    if (certificate === undefined && trust === undefined) return this.#agent
    const key = JSON.stringify([certificate?.cert, certificate?.key, trust?.ca, trust?.insecure])
    let agent = this.#withTls.get(key)
    if (agent !== undefined) return agent
    agent = newAgent({
      ...certificate,
      ...(trust?.ca === undefined ? {} : { ca: trust.ca }),
      ...(trust?.insecure === true ? { rejectUnauthorized: false } : {}),
    })
    this.#withTls.set(key, agent)
    const [oldest] = this.#withTls
    if (this.#withTls.size > agentsMax && oldest !== undefined) {
      this.#withTls.delete(oldest[0])
      void oldest[1].close()
    }
    return agent
  }
}

/** What a connection shows, and believes (PEM). */
interface TlsTerms {
  cert?: string
  key?: string
  ca?: string
  rejectUnauthorized?: boolean
}

function newAgent(tls: TlsTerms): Agent {
  return new Agent({
    connections: connectionsMax,
    pipelining: 1,
    keepAliveTimeout: 4_000,
    keepAliveMaxTimeout: 4_000,
    maxHeaderSize: 64 * 1024,
    connect: { timeout: connectMs, minVersion: "TLSv1.2", ...tls },
  })
}

function checkedUrl(text: string): URL {
  if (!URL.canParse(text)) throw new OutgoingError("invalid", "it has no URL")
  const url = new URL(text)
  if (url.protocol !== "http:" && url.protocol !== "https:")
    throw new OutgoingError("invalid", "its URL is neither http nor https")
  if (url.username !== "" || url.password !== "")
    throw new OutgoingError("invalid", "its URL holds credentials")
  url.hash = ""
  return url
}

async function stored(
  { statusCode, headers, body }: Dispatcher.ResponseData,
  bytesMax: number,
): Promise<StoredResponse> {
  const chunks: Buffer[] = []
  let length = 0
  for await (const chunk of body as AsyncIterable<Buffer>) {
    length += chunk.length
    if (length > bytesMax)
      throw new OutgoingError("too-large", `the response has more than ${bytesMax} bytes`)
    chunks.push(chunk)
  }
  const list = new HeaderList()
  for (const [name, value] of Object.entries(headers)) {
    for (const line of Array.isArray(value) ? value : [value]) if (line !== undefined) list.append(name, line)
  }
  const codings = codingsOf(list.get("content-encoding"))
  const raw = Buffer.concat(chunks)
  if (codings.length === 0 || raw.length === 0)
    return { status: statusCode, reason: "", headers: list, body: raw }
  const content = await decodeContent(raw, codings, bytesMax)
  list.remove("content-encoding")
  list.remove("content-length")
  return { status: statusCode, reason: "", headers: list, body: content }
}

function outgoingError(error: unknown, signal: AbortSignal): OutgoingError {
  if (error instanceof OutgoingError) return error
  if (signal.aborted && signal.reason instanceof OutgoingError) return signal.reason
  if (error instanceof CodingError)
    return new OutgoingError(error.reason === "too-large" ? "too-large" : "unreachable", error.message)
  if (error instanceof errors.ConnectTimeoutError)
    return new OutgoingError("timeout", "no connection in time")
  if (error instanceof errors.InvalidArgumentError) return new OutgoingError("invalid", error.message)
  return new OutgoingError("unreachable", error instanceof Error ? error.message : String(error))
}
