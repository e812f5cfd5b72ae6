import { readFile } from "node:fs/promises"
import { isIP } from "node:net"
import { StringDecoder } from "node:string_decoder"
import { type AnswerReceiver, type Sending, UpstreamError } from "../../http/client/connections.ts"
import { HttpClient, OutgoingError } from "../../http/client/http-client.ts"
import { Http1Pool } from "../../http/client/http1/pool.ts"
import type { HostNames } from "../../http/names/host-names.ts"

/** An API server of Kubernetes, and how the gateway shows itself. */
export interface ApiServerSettings {
  /** URL, optionally with a path. */
  readonly server: string
  /** File with the token of a service account. Read for each request, because the kubelet renews it. */
  readonly tokenFile: string | undefined
  /** File with its certificate authorities (PEM); undefined: those of the system. */
  readonly caFile: string | undefined
}

/** An error response of the API server, or no valid response. `status` 0: none. */
export class ApiServerError extends Error {
  override readonly name = "ApiServerError"
  readonly status: number

  constructor(status: number, message: string, cause?: unknown) {
    super(message, { cause })
    this.status = status
  }
}

const listMs = 30_000
const connectMs = 5_000
/** A list has at most 500 slices of up to 1,000 endpoints (about 200 bytes each). */
const listBytesMax = 100_000_000
const lineCharactersMax = 4_000_000
const errorCharactersMax = 64_000

/** Receives a streamed response: `onOpen` when the server has accepted, then its lines. An error that `onLine` throws ends the stream. */
export interface WatchEvents {
  onOpen(): void
  onLine(line: string): void
}

/** Asks an API server. */
export class ApiServer {
  readonly #settings: ApiServerSettings
  readonly #names: HostNames
  readonly #http: HttpClient

  constructor(settings: ApiServerSettings, names: HostNames) {
    this.#settings = settings
    this.#names = names
    this.#http = new HttpClient(names)
  }

  /**
   * Reads a whole response as JSON.
   * @throws ApiServerError
   */
  async get(path: string, signal: AbortSignal): Promise<unknown> {
    const { headers, ca } = await this.#credentials()
    const url = this.#urlOf(path)
    const trust = { ca, insecure: false }
    const request = { url: url.href, method: "GET", headers, body: undefined, timeoutMs: listMs }
    try {
      const { status, body } = await this.#http.send({
        ...{ ...request, trust, signal },
        responseBytesMax: listBytesMax,
      })
      const text = body.toString("utf8")
      if (status !== 200) throw this.#refusal(status, text)
      return JSON.parse(text)
    } catch (error) {
      throw this.#faultOf(error)
    }
  }

  /**
   * Reads a response line by line until it ends. Resolves at the end of a complete response, or when the connection
   * breaks after it was accepted; both are ordinary ends of a watch.
   * @throws ApiServerError when the server did not accept it, or when `onLine` throws
   */
  async watch(
    path: string,
    events: WatchEvents,
    { signal, limitMs }: { readonly signal: AbortSignal; readonly limitMs: number },
  ): Promise<void> {
    const { headers, ca } = await this.#credentials()
    const url = this.#urlOf(path)
    const hostname = url.hostname.replace(/^\[|\]$/g, "")
    const isSecure = url.protocol === "https:"
    const servername = isIP(hostname) === 0 ? hostname : undefined
    const pool = new Http1Pool({
      endpoint: {
        ...{ hostname, port: Number(url.port || (isSecure ? 443 : 80)), connectMs, names: this.#names },
        tls: isSecure ? { ca, insecure: false, certificate: undefined, servername } : undefined,
      },
      ...{ authority: url.host, connectionsMax: 1, idleMs: 1_000, ageMs: 1_000 },
    })
    try {
      await new Promise<void>((resolve, reject) => {
        const lines = new Lines(events, { resolve, reject })
        const give = () => lines.end()
        const timers = [setTimeout(() => lines.late(), listMs), setTimeout(give, limitMs)]
        signal.addEventListener("abort", give, { once: true })
        lines.whenOver = () => {
          for (const timer of timers) clearTimeout(timer)
          signal.removeEventListener("abort", give)
        }
        const fields = headers.map((text, at) => (at % 2 === 0 ? text.toLowerCase() : text))
        pool.dispatch({ method: "GET", path: url.pathname + url.search, fields, body: null }, lines)
      })
    } catch (error) {
      if (error instanceof Refused) throw this.#refusal(error.status, error.text)
      // Errors of `onLine` are the caller's.
      throw error instanceof UpstreamError ? this.#faultOf(error) : error
    } finally {
      void pool.destroy()
    }
  }

  async close(): Promise<void> {
    await this.#http.close()
  }

  #urlOf(path: string): URL {
    return new URL(this.#settings.server.replace(/\/$/, "") + path)
  }

  async #credentials(): Promise<{ readonly headers: string[]; readonly ca: string | undefined }> {
    const { tokenFile, caFile } = this.#settings
    const headers = ["Accept", "application/json", "User-Agent", "sallyport"]
    const read = async (file: string, what: string) => {
      try {
        return await readFile(file, "utf8")
      } catch (error) {
        const { code } = error as NodeJS.ErrnoException
        throw new ApiServerError(0, `the file with ${what}, ${file}, cannot be read (${code})`)
      }
    }
    if (tokenFile !== undefined)
      headers.push("Authorization", `Bearer ${(await read(tokenFile, "the token")).trim()}`)
    return {
      headers,
      ca: caFile === undefined ? undefined : await read(caFile, "the authorities of the API server"),
    }
  }

  /** The message of an error response, with what can be done. */
  #refusal(status: number, text: string): ApiServerError {
    const { server, tokenFile } = this.#settings
    const said = messageOf(text)
    const why = said === undefined ? "" : `: ${said}`
    if (status === 401) {
      const remedy =
        tokenFile === undefined
          ? "write `token file(…)`"
          : `check that ${tokenFile} holds a valid token of a service account`
      return new ApiServerError(
        status,
        `the API server ${server} does not accept the token (401)${why}; ${remedy}`,
      )
    }
    if (status === 403)
      return new ApiServerError(
        status,
        `the API server ${server} forbids it (403)${why}; allow the service account to list and watch \`endpointslices\` of \`discovery.k8s.io\` in this namespace (RBAC)`,
      )
    return new ApiServerError(status, `the API server ${server} responded with status ${status}${why}`)
  }

  #faultOf(error: unknown): ApiServerError {
    if (error instanceof ApiServerError) return error
    const { server } = this.#settings
    if (error instanceof SyntaxError)
      return new ApiServerError(0, `the API server ${server} did not send JSON`, error)
    if (error instanceof OutgoingError || error instanceof UpstreamError) {
      const { cause } = error
      const said = cause instanceof Error && cause.message !== "" ? cause.message : error.message
      return new ApiServerError(0, `the API server ${server} cannot be reached: ${said}`, error)
    }
    return new ApiServerError(0, error instanceof Error ? error.message : String(error), error)
  }
}

class Refused extends Error {
  readonly status: number
  readonly text: string

  constructor(status: number, text: string) {
    super(`status ${status}`)
    this.status = status
    this.text = text
  }
}

/** `message` of a Status object of the API. */
function messageOf(text: string): string | undefined {
  try {
    const { message } = JSON.parse(text) as { message?: unknown }
    return typeof message === "string" && message !== "" ? message.slice(0, 500) : undefined
  } catch {
    return undefined
  }
}

/** Splits a streamed response into lines. */
class Lines implements AnswerReceiver {
  readonly #events: WatchEvents
  readonly #settle: { resolve(): void; reject(error: Error): void }
  readonly #decoder = new StringDecoder("utf8")
  #sending: Sending | undefined
  #status = 0
  #rest = ""
  #isOver = false
  whenOver: () => void = () => undefined

  constructor(events: WatchEvents, settle: { resolve(): void; reject(error: Error): void }) {
    this.#events = events
    this.#settle = settle
  }

  get isWanted(): boolean {
    return !this.#isOver
  }

  onConnect(sending: Sending): void {
    this.#sending = sending
    if (this.#isOver) this.#cut()
  }

  onBegun(): void {}

  onHead(status: number): void {
    this.#status = status
    if (status === 200 && !this.#isOver) this.#events.onOpen()
  }

  onData(bytes: Buffer): boolean {
    if (this.#isOver) return true
    this.#rest += this.#decoder.write(bytes)
    if (this.#status !== 200) {
      if (this.#rest.length > errorCharactersMax) this.#fail(new Refused(this.#status, ""))
      return true
    }
    const lines = this.#rest.split("\n")
    this.#rest = lines.pop() ?? ""
    try {
      for (const line of lines) if (line.trim() !== "" && !this.#isOver) this.#events.onLine(line)
    } catch (error) {
      this.#fail(error as Error)
    }
    if (this.#rest.length > lineCharactersMax)
      this.#fail(
        new ApiServerError(0, `an event of the API server is longer than ${lineCharactersMax} characters`),
      )
    return true
  }

  onComplete(): void {
    this.#sending = undefined
    if (this.#status === 200) this.end()
    else this.#fail(new Refused(this.#status, this.#rest))
  }

  onError(error: Error): void {
    this.#sending = undefined
    if (this.#status === 200) this.end()
    else this.#fail(error)
  }

  /** An ordinary end. */
  end(): void {
    if (this.#isOver) return
    this.#over()
    this.#settle.resolve()
  }

  /** The server has not begun to respond in time. */
  late(): void {
    if (this.#status === 0) this.#fail(new UpstreamError("connect-timeout", `no response in ${listMs} ms`))
  }

  #fail(error: Error): void {
    if (this.#isOver) return
    this.#over()
    this.#settle.reject(error)
  }

  #over(): void {
    this.#isOver = true
    this.whenOver()
    this.#cut()
  }

  #cut(): void {
    this.#sending?.abort(new UpstreamError("aborted", "the watch has ended"))
  }
}
