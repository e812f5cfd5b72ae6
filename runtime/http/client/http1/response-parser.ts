import { type BodySink, ChunkedBody } from "./chunked-body.ts"
import { malformed, type ResponseHead, readHead } from "./response-head.ts"

/** Receives the parsed parts of a response. */
export interface ResponseSink extends BodySink {
  onHead(head: ResponseHead): void
  /** The response is complete. `clean` false: further bytes followed that belong to no response, so the connection cannot be trusted any more. */
  onMessageEnd(trailers: readonly string[], clean: boolean): void
}

const headBytesMax = 64 * 1024
const version = "HTTP/1."
const headEnd = Buffer.from("\r\n\r\n")
const none: readonly string[] = []

type State = "idle" | "head" | "length" | "chunks" | "close"

/** Parses the responses on a connection, one after the other (RFC 9112 §6.3). 1xx responses are skipped; 101 is an error, because it was not requested. */
export class ResponseParser {
  readonly #sink: ResponseSink
  #state: State = "idle"
  #toHead = false
  #left = 0
  #chunks: ChunkedBody | undefined
  /** The first part of a head that arrives in several pieces. */
  #held: Buffer | undefined

  constructor(sink: ResponseSink) {
    this.#sink = sink
  }

  /** Expects a response. `toHead`: to HEAD, so it has no body whatever its head declares. */
  begin(toHead: boolean): void {
    this.#state = "head"
    this.#toHead = toHead
  }

  /** @throws UpstreamError for bytes that are not a valid response, or for an unexpected one */
  push(bytes: Buffer): void {
    switch (this.#state) {
      case "head":
        this.#head(bytes)
        return
      case "length":
        this.#lengthBody(bytes, 0)
        return
      case "chunks":
        this.#chunkedBody(bytes, 0)
        return
      case "close":
        this.#sink.onBody(bytes)
        return
      default:
        throw malformed("there was no request for it")
    }
  }

  /** The other side has ended; false when the response is incomplete. */
  finish(): boolean {
    if (this.#state === "close") this.#ended(none, true)
    return this.#state === "idle"
  }

  /** Collects the head; 1xx responses are skipped. */
  #head(piece: Buffer): void {
    let bytes = piece
    let searched = 0
    if (this.#held !== undefined) {
      searched = Math.max(0, this.#held.length - 3)
      bytes = Buffer.concat([this.#held, piece])
      this.#held = undefined
    }
    for (let from = 0; ; ) {
      const end = bytes.indexOf(headEnd, Math.max(from, searched))
      if ((end === -1 ? bytes.length : end) - from > headBytesMax) throw malformed("its head is too long")
      if (end === -1) {
        if (from < bytes.length) this.#hold(from === 0 ? bytes : bytes.subarray(from))
        return
      }
      const head = readHead(bytes.toString("latin1", from, end))
      from = end + headEnd.length
      if (head.status >= 200 || head.status < 100) {
        this.#body(head, bytes, from)
        return
      }
      if (head.status === 101) throw malformed("it has status 101 without an upgrade request")
      if (!head.keepAlive) throw malformed("an informational response ends the connection")
    }
  }

  /** Keeps a partial head. Bytes that cannot become a valid head fail at once. */
  #hold(bytes: Buffer): void {
    const text = bytes.toString("latin1")
    if (!text.startsWith(version.slice(0, text.length)) || /(?:^|[^\r])\n/.test(text))
      throw malformed("it does not begin with HTTP/1.1 or HTTP/1.0, or a line does not end in CRLF")
    this.#held = bytes
  }

  /** Begins the body: none, by length, in chunks, or until the end of the connection. */
  #body(head: ResponseHead, bytes: Buffer, from: number): void {
    const { status, length, chunked } = head
    if (status < 100 || status > 599) throw malformed(`its status is ${status}`)
    const bodyless = this.#toHead || status === 204 || status === 304
    if (bodyless || length === 0) {
      this.#sink.onHead(head)
      this.#ended(none, from === bytes.length)
      return
    }
    if (length > 0) {
      this.#state = "length"
      this.#left = length
      this.#sink.onHead(head)
      if (from < bytes.length) this.#lengthBody(bytes, from)
    } else if (chunked) {
      this.#state = "chunks"
      this.#chunks = new ChunkedBody(this.#sink)
      this.#sink.onHead(head)
      if (from < bytes.length) this.#chunkedBody(bytes, from)
    } else {
      this.#state = "close"
      this.#sink.onHead(head)
      if (from < bytes.length) this.#sink.onBody(bytes.subarray(from))
    }
  }

  #lengthBody(bytes: Buffer, from: number): void {
    const end = Math.min(bytes.length, from + this.#left)
    this.#left -= end - from
    this.#sink.onBody(from === 0 && end === bytes.length ? bytes : bytes.subarray(from, end))
    if (this.#left === 0) this.#ended(none, end === bytes.length)
  }

  #chunkedBody(bytes: Buffer, from: number): void {
    const chunks = this.#chunks as ChunkedBody
    const end = chunks.push(bytes, from)
    if (end !== -1) this.#ended(chunks.trailers ?? none, end === bytes.length)
  }

  #ended(trailers: readonly string[], clean: boolean): void {
    this.#state = "idle"
    this.#chunks = undefined
    this.#sink.onMessageEnd(trailers, clean)
  }
}
