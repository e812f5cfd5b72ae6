import { EventEmitter } from "node:events"

/** A message that has arrived as a whole, read as one from a connection: its body is one piece, which is delivered once. */
export class WholeMessage extends EventEmitter {
  readonly #body: Buffer | undefined
  #isFlowing = false
  #isRead = false

  constructor(body: Buffer | undefined) {
    super()
    this.#body = body
  }

  // biome-ignore lint/suspicious/noExplicitAny: the type that EventEmitter gives its listeners.
  override on(event: string, listener: (...values: any[]) => void): this {
    super.on(event, listener)
    if (event === "data") this.resume()
    return this
  }

  pause(): this {
    this.#isFlowing = false
    return this
  }

  resume(): this {
    this.#isFlowing = true
    if (!this.#isRead) queueMicrotask(() => this.#flow())
    return this
  }

  #flow(): void {
    if (!this.#isFlowing || this.#isRead) return
    this.#isRead = true
    if (this.#body !== undefined && this.#body.length > 0) this.emit("data", this.#body)
    this.emit("end")
  }
}
