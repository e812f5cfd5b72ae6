import type { ClientHttp2Stream } from "node:http2"
import type { Readable } from "node:stream"
import { UpstreamError } from "../connections.ts"

/** Bytes that are kept until the response begins, so that they can be sent again. Calls of gRPC are mostly smaller. */
const heldBytesMax = 64 * 1024

/**
 * A body that is read while it is sent, at the pace of its HTTP/2 stream. What was sent is kept up to a size, because a server may refuse a stream that
 * it has not processed.
 */
export class Http2Body {
  readonly #source: Readable
  readonly #length: number | undefined
  #held: Buffer[] | undefined = []
  #heldBytes = 0
  #sent = 0
  #stream: ClientHttp2Stream | undefined
  #failed: ((error: Error) => void) | undefined
  #isEnded = false
  #isOver = false

  /** `length`: the Content-Length of the request. */
  constructor(source: Readable, length: number | undefined) {
    this.#source = source
    this.#length = length
  }

  /** All bytes were passed to the stream, or the rest is not needed. */
  get isOver(): boolean {
    return this.#isOver
  }

  /** Whether another stream can send it from the beginning. */
  get isRepeatable(): boolean {
    return this.#held !== undefined
  }

  /** Sends it from the beginning. `failed` gets the error of the source, or an error when its length differs from Content-Length. */
  sendOn(stream: ClientHttp2Stream, failed: (error: Error) => void): void {
    const isFirst = this.#stream === undefined
    this.#stream = stream
    this.#failed = failed
    this.#isOver = false
    const source = this.#source
    if (source.destroyed && !this.#isEnded) {
      this.#onError(source.errored ?? abandoned())
      return
    }
    if (isFirst) {
      source.on("error", this.#onError)
      source.on("data", this.#onData)
      source.once("end", this.#onEnd)
      source.once("close", this.#onClose)
      return
    }
    let taken = true
    for (const bytes of this.#held ?? []) taken = stream.write(bytes)
    if (this.#isEnded) this.#finish(stream)
    else if (taken) source.resume()
    else stream.once("drain", this.#onDrain)
  }

  /** The stream has refused it; another one may follow. */
  leaveStream(): void {
    this.#failed = undefined
    this.#source.pause()
  }

  /** The response has begun: it will not be sent again. */
  forget(): void {
    this.#held = undefined
  }

  /** The rest is not needed. */
  stop(): void {
    if (this.#isOver) return
    this.#end()
    this.#source.destroy()
  }

  readonly #onData = (bytes: Buffer): void => {
    const stream = this.#stream
    if (stream === undefined || bytes.length === 0) return
    this.#sent += bytes.length
    if (this.#length !== undefined && this.#sent > this.#length) {
      this.#fail(new UpstreamError("request", "the body is longer than its content-length"))
      return
    }
    this.#hold(bytes)
    if (stream.write(bytes)) return
    this.#source.pause()
    stream.once("drain", this.#onDrain)
  }

  #hold(bytes: Buffer): void {
    this.#heldBytes += bytes.length
    if (this.#heldBytes > heldBytesMax) this.#held = undefined
    else this.#held?.push(bytes)
  }

  readonly #onDrain = (): void => {
    if (!this.#isOver) this.#source.resume()
  }

  readonly #onEnd = (): void => {
    if (this.#length !== undefined && this.#sent < this.#length) {
      this.#fail(new UpstreamError("request", "the body is shorter than its content-length"))
      return
    }
    this.#isEnded = true
    if (this.#stream !== undefined && this.#failed !== undefined) this.#finish(this.#stream)
  }

  #finish(stream: ClientHttp2Stream): void {
    this.#isOver = true
    stream.end()
  }

  readonly #onError = (error: Error): void => this.#fail(error)

  readonly #onClose = (): void => {
    if (!this.#isEnded) this.#fail(abandoned())
  }

  #fail(error: Error): void {
    const failed = this.#failed
    if (this.#isOver) return
    this.#end()
    failed?.(error)
  }

  /** Leaves the listener for errors: a source may fail later. */
  #end(): void {
    this.#isOver = true
    this.#held = undefined
    this.#failed = undefined
    this.#source.off("data", this.#onData)
    this.#source.off("end", this.#onEnd)
    this.#source.off("close", this.#onClose)
  }
}

function abandoned(): UpstreamError {
  return new UpstreamError("aborted", "the body was abandoned")
}
