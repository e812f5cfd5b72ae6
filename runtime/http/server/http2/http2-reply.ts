import { validateHeaderName, validateHeaderValue } from "node:http"
import { constants, type OutgoingHttpHeaders, type ServerHttp2Stream } from "node:http2"
import { newFields } from "../../http2-fields.ts"
import type { Reply } from "../incoming.ts"
import type { FloodGuard } from "./flood-guard.ts"
import type { Http2Request } from "./http2-request.ts"

/** Fields of one connection, which HTTP/2 does not have (RFC 9113 §8.2.2). Node refuses a response with them. */
const connectionFields: ReadonlySet<string> = new Set([
  "connection",
  "keep-alive",
  "proxy-connection",
  "transfer-encoding",
  "upgrade",
  "http2-settings",
])

/** How fields are sent, by their names as given: a response has the same few names as the one before, so one look-up replaces lower-casing and two checks. */
const sentNames = new Map<string, string>()
/** Backends choose the names that the gateway passes on: the cache is bounded and does not keep long ones. */
const sentNamesMax = 2048
const sentNameLengthMax = 64

/**
 * The name as HTTP/2 sends it; empty for a field that HTTP/2 does not have.
 * @throws TypeError for a name that cannot be sent
 */
function sentNameOf(given: string): string {
  const known = sentNames.get(given)
  if (known !== undefined) return known
  const lower = given.toLowerCase()
  validateHeaderName(lower)
  const name = connectionFields.has(lower) ? "" : lower
  if (sentNames.size < sentNamesMax && given.length <= sentNameLengthMax) sentNames.set(given, name)
  return name
}

/** Fields that must stay several lines: a comma has another meaning in them (RFC 9110 §5.3). */
const separateFields: ReadonlySet<string> = new Set(["set-cookie", "www-authenticate", "proxy-authenticate"])

/** A response of HTTP/2 in the form of one of `node:http`. */
export class Http2Reply implements Reply {
  readonly req: Http2Request
  shouldKeepAlive = true
  /** When the head of the request was there, by `performance.now()`. */
  readonly startedMs = performance.now()
  readonly #stream: ServerHttp2Stream
  /** The head until it is sent: only the end of the response shows whether it has a body or trailers. */
  #head: OutgoingHttpHeaders | undefined
  #isHeadSet = false
  #isEnded = false
  #isCut = false
  #awaitsTrailers = false
  #trailers: OutgoingHttpHeaders | undefined

  readonly #floods: FloodGuard

  constructor(stream: ServerHttp2Stream, request: Http2Request, floods: FloodGuard) {
    this.#stream = stream
    this.#floods = floods
    this.req = request
    stream.on("aborted", () => {
      if (this.#isCut) return
      floods.reset()
      // A client may reset a stream with NO_ERROR: without this its body would end as if it were complete.
      stream.destroy()
    })
  }

  get headersSent(): boolean {
    return this.#isHeadSet
  }

  get writableEnded(): boolean {
    return this.#isEnded
  }

  get writableFinished(): boolean {
    return (
      this.#isEnded && this.#stream.writableFinished && this.#stream.rstCode === constants.NGHTTP2_NO_ERROR
    )
  }

  get destroyed(): boolean {
    return this.#stream.destroyed || this.#stream.closed
  }

  /** @throws TypeError for a field that cannot be sent, as `node:http` does */
  writeHead(status: number, reasonOrLines: string | string[], maybeLines?: string[]): void {
    const lines = typeof reasonOrLines === "string" ? (maybeLines ?? []) : reasonOrLines
    const head = newFields()
    head[":status"] = status
    for (let at = 0; at < lines.length; at += 2) {
      const name = sentNameOf(lines[at] as string)
      if (name === "") continue
      const value = lines[at + 1] as string
      validateHeaderValue(name, value)
      const before = head[name]
      head[name] = before === undefined ? value : combined(name, before, value)
    }
    this.#head = head
    this.#isHeadSet = true
  }

  writeContinue(): void {
    if (!this.destroyed) this.#stream.additionalHeaders({ ":status": 100 })
  }

  flushHeaders(): void {
    this.#sendHead(false)
  }

  write(content: Uint8Array | string): boolean {
    this.#sendHead(false)
    this.#floods.sent()
    return this.#isOpen ? this.#stream.write(content) : true
  }

  addTrailers(lines: [name: string, value: string][]): void {
    const trailers = newFields()
    for (const [given, value] of lines) {
      const name = sentNameOf(given)
      if (name === "") continue
      const before = trailers[name]
      trailers[name] = before === undefined ? value : combined(name, before, value)
    }
    this.#trailers = trailers
  }

  end(content?: Uint8Array | string): void {
    if (this.#isEnded) return
    this.#isEnded = true
    const isEmpty = content === undefined || content.length === 0
    this.#sendHead(isEmpty && this.#trailers === undefined)
    if (this.#isOpen) {
      if (isEmpty) this.#stream.end()
      else this.#stream.end(content)
    }
    if (!this.#awaitsTrailers) this.#dropRest()
  }

  /** The client gets RST_STREAM, so that it knows that the response is incomplete. */
  destroy(): void {
    this.#isEnded = true
    this.#isCut = true
    // `close` would end the body first, so that it looks complete.
    this.#stream.destroy(new Error("the response is incomplete"))
  }

  on(event: "drain" | "error" | "close", listener: () => void): this {
    this.#stream.on(event, listener)
    return this
  }

  once(event: "drain" | "close", listener: () => void): this {
    this.#stream.once(event, listener)
    return this
  }

  off(event: "drain" | "close", listener: () => void): this {
    this.#stream.off(event, listener)
    return this
  }

  /** Responses to HEAD have no open side from the beginning. */
  get #isOpen(): boolean {
    return !this.destroyed && this.#stream.writable
  }

  #sendHead(isWhole: boolean): void {
    const head = this.#head
    if (head === undefined) return
    this.#head = undefined
    if (this.destroyed) return
    // Responses to HEAD have only fields.
    const waitForTrailers = !isWhole && this.req.takesTrailers && this.#stream.writable
    this.#awaitsTrailers = waitForTrailers
    // Node asks once, so the listener need not be removed.
    if (waitForTrailers) this.#stream.on("wantTrailers", () => this.#sendTrailers())
    this.#stream.respond(head, { endStream: isWhole, waitForTrailers })
  }

  #sendTrailers(): void {
    this.#stream.sendTrailers(this.#trailers ?? {})
    this.#dropRest()
  }

  /** The rest of the request is not needed: the client learns this with the end of the response (RFC 9113 §8.1). */
  #dropRest(): void {
    if (this.req.complete || this.destroyed) return
    this.#stream.removeAllListeners("data")
    this.#stream.resume()
    this.#stream.close(constants.NGHTTP2_NO_ERROR)
  }
}

/** Repeated fields become one list; Node refuses several lines of most fields. */
function combined(
  name: string,
  before: NonNullable<OutgoingHttpHeaders[string]>,
  value: string,
): OutgoingHttpHeaders[string] {
  if (separateFields.has(name)) return [...(Array.isArray(before) ? before : [String(before)]), value]
  return before === value ? value : `${before}, ${value}`
}
