import { Readable } from "node:stream"
import type { IncomingRequest } from "../../http/server/incoming.ts"
import { type Problem, problem } from "../../policies/messages/answer.ts"
import type { Deadline, Deadlines, Timed } from "../backends/deadlines.ts"
import type { Patience } from "../backends/patience.ts"
import type { BodyCopy } from "./body-copy.ts"

/** Why a body ended early. */
export class BodyFailure extends Error {
  override readonly name = "BodyFailure"
  readonly reason: "too-large" | "too-slow" | "client-gone"

  constructor(reason: "too-large" | "too-slow" | "client-gone") {
    super(`request body: ${reason}`)
    this.reason = reason
  }

  /** The problem for the client. */
  get problem(): Problem {
    return problem(this.reason === "too-large" ? "body-too-large" : "request-timeout", {
      cause: this.message,
    })
  }
}

/**
 * The client's body on its way to the backend. It is counted before it is passed on, so that the backend never receives more than the limit. It
 * follows the backend's pace, and it is aborted when the client sends too slowly. Its buffer fills before it takes a connection, so that a connection
 * does not wait for the client.
 */
export class RequestBody extends Readable implements Timed {
  readonly #request: IncomingRequest
  readonly #bytesMax: number
  readonly #deadlines: Deadlines
  readonly #patience: Patience
  readonly #begin: () => void
  #received = 0
  #receivedBefore = 0
  #begun = false
  #held = false
  #isHere = false
  #changed: (() => void) | undefined
  #deadline: Deadline | undefined
  /** They get what is passed on. Set before the first byte is read. */
  copies: readonly BodyCopy[] | undefined

  /** `begin` is called when the first byte is read: the moment for `100 Continue`. */
  constructor(
    request: IncomingRequest,
    bytesMax: number,
    waiting: { readonly deadlines: Deadlines; readonly patience: Patience },
    begin: () => void,
  ) {
    super({ highWaterMark: 64 * 1024 })
    this.#request = request
    this.#bytesMax = bytesMax
    this.#deadlines = waiting.deadlines
    this.#patience = waiting.patience
    this.#begin = begin
  }

  /** The whole body has arrived. */
  get isHere(): boolean {
    return this.#isHere
  }

  /** The buffer is full. */
  get isHeld(): boolean {
    return this.#held
  }

  /** Fills the buffer without a reader. `changed` is called when the body is complete, the buffer is full, or the body has failed. */
  gather(changed: () => void): void {
    this.#changed = changed
    this.read(0)
  }

  get received(): number {
    return this.#received
  }

  override _read(): void {
    if (this.#begun) {
      this.#held = false
      this.#request.resume()
      return
    }
    this.#begun = true
    this.#request.on("data", this.#onData)
    this.#request.once("end", this.#onEnd)
    this.#request.once("close", this.#onClose)
    this.#request.once("error", this.#onClose)
    this.#deadline = this.#deadlines.set(this, this.#patience.bodyWindowMs)
    this.#begin()
  }

  override _destroy(error: Error | null, callback: (error?: Error | null) => void): void {
    this.#deadlines.cancel(this.#deadline)
    this.#request.off("data", this.#onData)
    this.#request.off("end", this.#onEnd)
    this.#request.off("close", this.#onClose)
    this.#request.pause()
    this.#changed?.()
    callback(error)
  }

  /**
   * A window of time has passed. Less than `bodyBytesMin` in it means that the client is too slow, unless the gateway itself holds the body
   * back.
   */
  expired(): void {
    const received = this.#received - this.#receivedBefore
    if (!this.#held && received < this.#patience.bodyBytesMin) {
      this.destroy(new BodyFailure("too-slow"))
      return
    }
    this.#receivedBefore = this.#received
    this.#deadline = this.#deadlines.set(this, this.#patience.bodyWindowMs)
  }

  readonly #onData = (chunk: Buffer): void => {
    this.#received += chunk.length
    if (this.#received > this.#bytesMax) {
      this.destroy(new BodyFailure("too-large"))
      return
    }
    if (this.copies !== undefined) for (const copy of this.copies) copy.push(chunk)
    if (!this.push(chunk)) {
      this.#held = true
      this.#request.pause()
      this.#changed?.()
    }
  }

  readonly #onEnd = (): void => {
    this.#deadlines.cancel(this.#deadline)
    this.push(null)
    this.#isHere = true
    if (this.copies !== undefined) for (const copy of this.copies) copy.complete()
    this.#changed?.()
  }

  readonly #onClose = (): void => {
    if (!this.#request.complete) this.destroy(new BodyFailure("client-gone"))
  }
}
