import { isIP } from "node:net"
import { CodingError, codingsOf, decodeContent } from "../content-coding.ts"
import { type HostNames, hostNames } from "../names/host-names.ts"
import { type AnswerReceiver, type Sending, type TlsSettings, UpstreamError } from "./connections.ts"
import { Http1Pool } from "./http1/pool.ts"

/** A request made by the process itself. `headers`: names and values alternate, without Host and Content-Length. */
export interface OutgoingRequest {
  readonly url: string
  readonly method: string
  readonly headers: readonly string[]
  readonly body: Buffer | undefined
  /** For the whole request and response, in milliseconds. */
  readonly timeoutMs: number
  /** Maximum size of the response in bytes (default: 10,000,000). */
  readonly responseBytesMax?: number
  /** PEM of the client certificate and its key. */
  readonly certificate?: { readonly cert: string; readonly key: string }
  /** How the server's certificate is verified (PEM); absent: by the system's authorities. */
  readonly trust?: { readonly ca: string | undefined; readonly insecure: boolean }
  /** Aborts the request when its exchange has ended. */
  readonly signal?: AbortSignal
  /** Gets the bytes of a 2xx response as they arrive; then the response has no body. `timeoutMs` begins again with each, and nothing limits their number. */
  readonly onData?: ((bytes: Buffer) => void) | undefined
}

/** The complete response to a request of the process, without content codings. */
export interface OutgoingResponse {
  readonly status: number
  /** Lower-case names and values alternate. */
  readonly fields: string[]
  readonly body: Buffer
}

/** Why a request of the process has no response. `cause`: the error of the system or the connection. */
export class OutgoingError extends Error {
  override readonly name = "OutgoingError"
  readonly reason: "invalid" | "timeout" | "too-large" | "unreachable"

  constructor(reason: OutgoingError["reason"], message: string, cause?: unknown) {
    super(message, { cause })
    this.reason = reason
  }
}

/** Sends requests of the process and holds their responses in memory. Certificates are verified unless a request disables it. */
export interface OutgoingHttp {
  /** Rejects with OutgoingError. */
  send(request: OutgoingRequest): Promise<OutgoingResponse>
}

/** As `OutgoingHttp`, for callers that need only status and body. */
export interface RequestSender {
  send(request: OutgoingRequest): Promise<Pick<OutgoingResponse, "status" | "body">>
}

const responseBytesDefault = 10_000_000
const connectMs = 5_000
/** Maximum number of connections to one origin; further requests wait. */
const connectionsMax = 64
/** Less than the idle timeout of common servers (Node: 5 s), so that this side closes first. */
const idleMs = 4_000
/** Older connections are not used for new requests, so that DNS changes take effect. */
const ageMs = 60_000
/** Maximum number of pools; each belongs to an origin with its TLS settings. */
const poolsMax = 200

/**
 * The client for requests of the process itself: tokens, keys, introspection, decision points, `send-request`, the command line. It uses HTTP/1.1
 * with keep-alive. Redirects are returned like other responses, because the configuration decides where requests go. Proxied requests use
 * `Connections` directly and are streamed.
 */
export class HttpClient implements OutgoingHttp {
  readonly #pools = new Map<string, Http1Pool>()
  readonly #names: HostNames

  /** `names` finds the addresses of hosts (default: those of the process). */
  constructor(names: HostNames = hostNames) {
    this.#names = names
  }

  /** Sends a request and reads the whole response, without its codings, up to a limit. */
  async send(asked: OutgoingRequest): Promise<OutgoingResponse> {
    const { responseBytesMax = responseBytesDefault } = asked
    const { status, fields, body } = await this.#whole(asked, responseBytesMax)
    const codings = codingsOf(fieldValue(fields, "content-encoding"))
    if (codings.length === 0 || body.length === 0) return { status, fields, body }
    try {
      const content = await decodeContent(body, codings, responseBytesMax)
      return { status, fields: without(fields, "content-encoding", "content-length"), body: content }
    } catch (error) {
      if (!(error instanceof CodingError)) throw error
      throw new OutgoingError(error.reason === "too-large" ? "too-large" : "unreachable", error.message)
    }
  }

  /** Closes all connections. */
  async close(): Promise<void> {
    const pools = [...this.#pools.values()]
    this.#pools.clear()
    await Promise.all(pools.map((pool) => pool.destroy()))
  }

  /** Reads the whole response as it was sent. */
  #whole(asked: OutgoingRequest, bytesMax: number): Promise<OutgoingResponse> {
    const url = checkedUrl(asked.url)
    return new Promise((resolve, reject) => {
      const receiver = new WholeResponse(asked, bytesMax, { resolve, reject })
      if (!receiver.isWanted) return
      const path = url.pathname + url.search
      const request = {
        method: asked.method,
        path,
        fields: fieldsOf(asked.headers),
        body: asked.body ?? null,
      }
      this.#poolFor(url, asked).dispatch(request, receiver)
    })
  }

  /** The pool of an origin with its certificates. The least recently used is closed when there are too many. */
  #poolFor(url: URL, { certificate, trust }: OutgoingRequest): Http1Pool {
    const { origin } = url
    const key =
      certificate === undefined && trust === undefined
        ? origin
        : JSON.stringify([origin, certificate?.cert, certificate?.key, trust?.ca, trust?.insecure])
    let pool = this.#pools.get(key)
    if (pool === undefined) pool = newPool(url, certificate, trust, this.#names)
    else this.#pools.delete(key)
    // The most recently used pool is last, so the first one is removed.
    this.#pools.set(key, pool)
    const [oldest] = this.#pools
    if (this.#pools.size > poolsMax && oldest !== undefined) {
      this.#pools.delete(oldest[0])
      void oldest[1].close()
    }
    return pool
  }
}

/** A pool for an origin. */
function newPool(
  url: URL,
  certificate: OutgoingRequest["certificate"],
  trust: OutgoingRequest["trust"],
  names: HostNames,
): Http1Pool {
  const isSecure = url.protocol === "https:"
  const hostname = url.hostname.replace(/^\[|\]$/g, "")
  const tls: TlsSettings = {
    ca: trust?.ca,
    certificate,
    insecure: trust?.insecure === true,
    servername: isIP(hostname) === 0 ? hostname : undefined,
  }
  const port = url.port === "" ? (isSecure ? 443 : 80) : Number(url.port)
  return new Http1Pool({
    endpoint: { hostname, port, tls: isSecure ? tls : undefined, connectMs, names },
    authority: url.host,
    connectionsMax,
    idleMs,
    ageMs,
  })
}

/** Checks a URL that may come from a plan or a request. */
function checkedUrl(text: string): URL {
  if (!URL.canParse(text)) throw new OutgoingError("invalid", "it has no URL")
  const url = new URL(text)
  if (url.protocol !== "http:" && url.protocol !== "https:")
    throw new OutgoingError("invalid", "its URL is neither http nor https")
  if (url.username !== "" || url.password !== "")
    throw new OutgoingError("invalid", "its URL contains credentials")
  return url
}

/** Fields that the connection writes itself. */
const framing: ReadonlySet<string> = new Set(["content-length", "transfer-encoding", "connection"])

function fieldsOf(headers: readonly string[]): string[] {
  const fields: string[] = []
  for (let at = 0; at < headers.length; at += 2) {
    const name = (headers[at] as string).toLowerCase()
    if (!framing.has(name)) fields.push(name, headers[at + 1] as string)
  }
  return fields
}

function fieldValue(fields: readonly string[], name: string): string | undefined {
  for (let at = 0; at < fields.length; at += 2) if (fields[at] === name) return fields[at + 1]
  return undefined
}

function without(fields: readonly string[], ...names: readonly string[]): string[] {
  return fields.filter((_, at) => !names.includes(fields[at & ~1] as string))
}

interface Settled {
  resolve(response: OutgoingResponse): void
  reject(error: OutgoingError): void
}

/** Collects a response until it is complete, too large, too late, or no longer needed. */
class WholeResponse implements AnswerReceiver {
  readonly #bytesMax: number
  readonly #signal: AbortSignal | undefined
  readonly #timer: NodeJS.Timeout
  readonly #settled: Settled
  readonly #onData: OutgoingRequest["onData"]
  #chunks: Buffer[] = []
  #length = 0
  #status = 0
  #fields: string[] = []
  #sending: Sending | undefined
  #isOver = false

  constructor({ timeoutMs, signal, onData }: OutgoingRequest, bytesMax: number, settled: Settled) {
    this.#bytesMax = bytesMax
    this.#onData = onData
    this.#signal = signal
    this.#settled = settled
    this.#timer = setTimeout(() => this.#fail(new OutgoingError("timeout", "no response in time")), timeoutMs)
    signal?.addEventListener("abort", this.#give)
    if (signal?.aborted === true) this.#give()
  }

  get isWanted(): boolean {
    return !this.#isOver
  }

  onConnect(sending: Sending): void {
    this.#sending = sending
  }

  onBegun(): void {}

  onHead(status: number, fields: readonly string[]): void {
    this.#status = status
    this.#fields = fields.map((text, at) => (at % 2 === 0 ? text.toLowerCase() : text))
  }

  onData(bytes: Buffer): boolean {
    if (this.#onData !== undefined && this.#status >= 200 && this.#status < 300) {
      this.#timer.refresh()
      if (!this.#isOver) this.#onData(bytes)
      return true
    }
    this.#length += bytes.length
    if (this.#length > this.#bytesMax)
      this.#fail(new OutgoingError("too-large", `the response has more than ${this.#bytesMax} bytes`))
    else this.#chunks.push(bytes)
    return true
  }

  onComplete(): void {
    if (this.#isOver) return
    this.#end()
    const body = Buffer.concat(this.#chunks)
    this.#settled.resolve({ status: this.#status, fields: this.#fields, body })
  }

  onError(error: Error): void {
    this.#fail(outgoingError(error))
  }

  readonly #give = (): void => this.#fail(new OutgoingError("unreachable", "the request has ended"))

  #fail(error: OutgoingError): void {
    if (this.#isOver) return
    this.#end()
    this.#sending?.abort(new UpstreamError("aborted", error.message))
    this.#settled.reject(error)
  }

  #end(): void {
    this.#isOver = true
    clearTimeout(this.#timer)
    this.#signal?.removeEventListener("abort", this.#give)
  }
}

/** An error of the connection as one of this client. */
function outgoingError(error: Error): OutgoingError {
  if (!(error instanceof UpstreamError)) return new OutgoingError("unreachable", error.message, error)
  if (error.reason === "connect-timeout") return new OutgoingError("timeout", "no connection in time", error)
  if (error.reason === "request") return new OutgoingError("invalid", error.message, error)
  const { cause } = error
  // When several addresses have failed, the system's error has only a code and no message.
  const said = cause instanceof Error && cause.message !== "" ? cause.message : error.message
  return new OutgoingError("unreachable", said, cause ?? error)
}
