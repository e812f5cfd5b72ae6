import type { Socket } from "node:net"
import type { Readable } from "node:stream"
import { UpstreamError } from "../connections.ts"
import type { SentFraming } from "./request-head.ts"

/** Sends a stream as the body of a request, at the pace of the connection. */
export class StreamedBody {
  readonly #socket: Socket
  readonly #stream: Readable
  readonly #framing: SentFraming
  readonly #failed: (error: Error) => void
  #sent = 0
  #over = false

  /** `failed` gets the error of the stream, or an error when its length differs from Content-Length. */
  constructor(socket: Socket, stream: Readable, framing: SentFraming, failed: (error: Error) => void) {
    this.#socket = socket
    this.#stream = stream
    this.#framing = framing
    this.#failed = failed
  }

  /** All bytes were passed to the connection. */
  get isOver(): boolean {
    return this.#over
  }

  /** Sends a body as fast as the socket takes it. */
  start(): void {
    const stream = this.#stream
    stream.on("error", this.#onError)
    if (stream.destroyed) {
      this.#onError(stream.errored ?? new UpstreamError("aborted", "the body was abandoned"))
      return
    }
    stream.on("data", this.#onData)
    stream.once("end", this.#onEnd)
    stream.once("close", this.#onClose)
  }

  /** The rest is not needed. */
  stop(): void {
    if (this.#over) return
    this.#over = true
    this.#leave()
    this.#stream.destroy()
  }

  readonly #onData = (bytes: Buffer): void => {
    if (bytes.length === 0) return
    this.#sent += bytes.length
    const { length, chunked } = this.#framing
    if (length !== undefined && this.#sent > length) {
      this.#fail(new UpstreamError("request", "the body is longer than its content-length"))
      return
    }
    const socket = this.#socket
    let taken: boolean
    if (chunked) {
      socket.cork()
      socket.write(`${bytes.length.toString(16)}\r\n`, "latin1")
      socket.write(bytes)
      taken = socket.write("\r\n", "latin1")
      socket.uncork()
    } else taken = socket.write(bytes)
    if (taken) return
    this.#stream.pause()
    socket.once("drain", this.#onDrain)
  }

  readonly #onDrain = (): void => {
    this.#stream.resume()
  }

  readonly #onEnd = (): void => {
    const { length, chunked } = this.#framing
    if (length !== undefined && this.#sent < length) {
      this.#fail(new UpstreamError("request", "the body is shorter than its content-length"))
      return
    }
    this.#over = true
    this.#leave()
    if (chunked) this.#socket.write("0\r\n\r\n", "latin1")
  }

  readonly #onError = (error: Error): void => {
    this.#fail(error)
  }

  readonly #onClose = (): void => {
    this.#fail(new UpstreamError("aborted", "the body was abandoned"))
  }

  #fail(error: Error): void {
    if (this.#over) return
    this.#over = true
    this.#leave()
    this.#failed(error)
  }

  #leave(): void {
    const stream = this.#stream
    stream.off("data", this.#onData)
    stream.off("end", this.#onEnd)
    stream.off("close", this.#onClose)
    this.#socket.off("drain", this.#onDrain)
  }
}
