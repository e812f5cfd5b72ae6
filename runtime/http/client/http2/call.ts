import { type ClientHttp2Stream, constants, type IncomingHttpHeaders } from "node:http2"
import { addAbortSignal, Readable } from "node:stream"
import type { AnswerReceiver, Sending, SentRequest, UpstreamError } from "../connections.ts"
import { malformedHttp2, resetFailure } from "./failures.ts"
import type { Http2Body } from "./sent-body.ts"

declare module "node:http2" {
  interface ClientHttp2Stream {
    /** Missing in the types of Node 20: all fields in order, names and values alternate, the pseudo-header fields first. */
    on(
      event: "response" | "trailers",
      listener: (headers: IncomingHttpHeaders, flags: number, raw: readonly string[]) => void,
    ): this
  }
}

/** A request until a stream has taken it. */
export interface UnsentCall {
  readonly request: SentRequest
  readonly receiver: AnswerReceiver
  readonly sinceMs: number
  /** Its body, if it is a stream that an earlier HTTP/2 stream has begun to send. */
  readonly body: Http2Body | undefined
  /** It was refused before. */
  readonly isRepeated: boolean
}

/** The connection of a call. */
export interface CallOwner {
  /** Why the connection is closed; undefined: it is open. `error`: what Node gave to the stream. */
  failureAfter(error: Error | undefined): UpstreamError | undefined
  /** The last stream that the server may have processed, by GOAWAY. */
  readonly lastStreamId: number
  /** Something has arrived. */
  heard(): void
  /** A call got a response, and the connection is known to work. */
  answered(): void
  /** The stream is closed. */
  callClosed(call: Http2Call): void
  /** The server has certainly not processed it: it may be sent again. */
  refused(call: UnsentCall): void
  /** A call was aborted. */
  callAborted(call: Http2Call): void
}

/** A request on its stream. */
export class Http2Call implements Sending {
  readonly unsent: UnsentCall
  /** What the connection had heard when the call began, as it counts. */
  readonly heardBefore: number
  readonly #owner: CallOwner
  readonly #stream: ClientHttp2Stream
  readonly #receiver: AnswerReceiver
  readonly #body: Http2Body | undefined
  #trailers: readonly string[] = none
  #error: Error | undefined
  /** The server has ended the stream. */
  #isWhole = false
  #hasBegun = false
  #isOver = false

  constructor(
    owner: CallOwner,
    stream: ClientHttp2Stream,
    unsent: UnsentCall,
    body: Http2Body | undefined,
    heardBefore: number,
  ) {
    this.#owner = owner
    this.#stream = stream
    this.unsent = unsent
    this.#receiver = unsent.receiver
    this.#body = body
    this.heardBefore = heardBefore
    this.#watchEnd()
    stream.on("response", this.#onResponse)
    stream.on("trailers", this.#onTrailers)
    stream.on("data", this.#onData)
    stream.once("end", this.#onEnd)
    stream.once("close", this.#onClose)
    stream.on("error", this.#onError)
  }

  /** Begins to send the body. */
  start(): void {
    this.#receiver.onConnect(this)
    if (!this.#isOver) this.#body?.sendOn(this.#stream, this.#bodyFailed)
  }

  resume(): void {
    if (!this.#isOver) this.#stream.resume()
  }

  abort(error: Error): void {
    if (this.#isOver) return
    this.#owner.callAborted(this)
    this.fail(error)
  }

  /** Ends the call with an error. */
  fail(error: Error): void {
    if (this.#isOver) return
    this.#isOver = true
    this.#body?.stop()
    this.#cut()
    this.#receiver.onError(error)
  }

  /**
   * Node ends the body of a stream that is reset without an error as if it were complete (RFC 9113 §8.1 allows this reset only after the end). The end
   * that the server has sent comes before the stream is closed.
   */
  #watchEnd(): void {
    const stream = this.#stream
    const { push } = stream
    stream.push = (chunk) => {
      if (chunk === null && !stream.closed) this.#isWhole = true
      return push.call(stream, chunk)
    }
  }

  readonly #onResponse = (headers: IncomingHttpHeaders, _flags: number, raw: readonly string[]): void => {
    this.#owner.heard()
    if (this.#isOver) return
    if (!this.#hasBegun) this.#receiver.onBegun()
    this.#hasBegun = true
    this.#body?.forget()
    const status = Number(headers[":status"])
    if (status >= 100 && status < 200) this.abort(malformedHttp2(`it has status ${status}`))
    else this.#receiver.onHead(status, regular(raw))
  }

  readonly #onTrailers = (_headers: IncomingHttpHeaders, _flags: number, raw: readonly string[]): void => {
    this.#trailers = regular(raw)
  }

  readonly #onData = (bytes: Buffer): void => {
    this.#owner.heard()
    if (!this.#isOver && !this.#receiver.onData(bytes)) this.#stream.pause()
  }

  readonly #onEnd = (): void => {
    if (this.#isOver || !this.#isWhole || !this.#hasBegun) return
    this.#isOver = true
    this.#owner.answered()
    const isSent = this.#body?.isOver !== false
    this.#body?.stop()
    this.#receiver.onComplete(this.#trailers)
    // The server has answered without the rest of the body.
    if (!isSent) this.#cut()
  }

  readonly #onClose = (): void => {
    this.#owner.callClosed(this)
    if (this.#isOver) return
    const { unsent } = this
    const { rstCode = 0, id = 0 } = this.#stream
    const isUnprocessed = rstCode === constants.NGHTTP2_REFUSED_STREAM || id > this.#owner.lastStreamId
    if (isUnprocessed && !unsent.isRepeated && !this.#hasBegun && this.#body?.isRepeatable !== false) {
      this.#isOver = true
      this.#body?.leaveStream()
      this.#owner.refused({ ...unsent, body: this.#body, isRepeated: true })
    } else this.fail(this.#owner.failureAfter(this.#error) ?? resetFailure(rstCode))
  }

  readonly #onError = (error: Error): void => {
    this.#error = error
  }

  readonly #bodyFailed = (error: Error): void => this.abort(error)

  /** Tells the server that the rest is not needed. */
  #cut(): void {
    if (!this.#stream.destroyed) this.#stream.destroy(cancelled)
  }
}

/**
 * Node resets a stream with CANCEL only for its own class of abort errors, and `close` with a code would end the body first, so that it looks
 * complete.
 */
const cancelled = abortError()

function abortError(): Error {
  const aborted = new Readable().on("error", ignore)
  addAbortSignal(AbortSignal.abort(), aborted)
  return aborted.errored as Error
}

const none: readonly string[] = []

/** Fields without the pseudo-header fields, which come first. */
function regular(raw: readonly string[]): readonly string[] {
  let at = 0
  while (at < raw.length && raw[at]?.charCodeAt(0) === colon) at += 2
  return at === 0 ? raw : raw.slice(at)
}

const colon = 0x3a

function ignore(): void {}
