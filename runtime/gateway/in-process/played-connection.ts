import { EventEmitter } from "node:events"
import type { ByteSocket } from "../../http/byte-socket.ts"

/** A connection whose other end is a test. The gateway uses it like a socket. */
export class PlayedConnection extends EventEmitter implements ByteSocket {
  #taken: Buffer[] = []
  #arrived: Buffer[] = []
  #isFlowing = false
  #hasEnded = false
  #isClosed = false

  /** The other end sends bytes. */
  arrive(bytes: Buffer): void {
    if (this.#hasEnded || bytes.length === 0) return
    this.#arrived.push(bytes)
    this.#flow()
  }

  /** The other end closes the connection. */
  hangUp(): void {
    if (this.#hasEnded) return
    this.#hasEnded = true
    this.emit("end")
    this.destroySoon()
  }

  /** What the other end got since the last call. */
  take(): Buffer {
    const taken = Buffer.concat(this.#taken)
    this.#taken = []
    return taken
  }

  write(chunk: Buffer): boolean {
    if (!this.#isClosed) this.#taken.push(chunk)
    return true
  }

  /** The other end has nothing to wait for, so it ends too. */
  end(): void {
    queueMicrotask(() => this.hangUp())
  }

  pause(): this {
    this.#isFlowing = false
    return this
  }

  resume(): this {
    this.#isFlowing = true
    this.#flow()
    return this
  }

  destroySoon(): void {
    this.destroy()
  }

  destroy(): void {
    if (this.#isClosed) return
    this.#isClosed = true
    queueMicrotask(() => this.emit("close"))
  }

  #flow(): void {
    while (this.#isFlowing && !this.#isClosed) {
      const next = this.#arrived.shift()
      if (next === undefined) return
      this.emit("data", next)
    }
  }
}
