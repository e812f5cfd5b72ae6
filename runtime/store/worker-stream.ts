import { Duplex } from "node:stream"

/** What a connection needs from the thread behind it. */
export interface Wire {
  /** Resolves when the session is as new; from then on `receive` is called with the server's bytes. */
  open(receive: (bytes: Uint8Array) => void): Promise<void>
  send(bytes: Uint8Array): void
}

/**
 * A socket as node-postgres expects one, whose other end is the worker of the embedded database. Bytes are moved, not copied.
 */
export class WorkerStream extends Duplex {
  readonly #wire: () => Promise<Wire>
  #open: Wire | undefined

  constructor(wire: () => Promise<Wire>) {
    super()
    this.#wire = wire
  }

  connect(): this {
    this.#connect().then(
      () => this.emit("connect"),
      (error: Error) => this.destroy(error),
    )
    return this
  }

  async #connect(): Promise<void> {
    const wire = await this.#wire()
    await wire.open((bytes) => {
      // No back-pressure: every statement of ours bounds its answer.
      if (!this.destroyed) this.push(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength))
    })
    this.#open = wire
  }

  override _read(): void {}

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: (error?: Error | null) => void): void {
    // A copy: the driver's buffer is a view of one it goes on using.
    this.#open?.send(new Uint8Array(chunk))
    done()
  }

  override _writev(chunks: { chunk: Buffer }[], done: (error?: Error | null) => void): void {
    this._write(Buffer.concat(chunks.map(({ chunk }) => chunk)), "utf8", done)
  }

  override _final(done: (error?: Error | null) => void): void {
    this.push(null)
    done()
  }

  // Parts of a socket that the driver calls and that mean nothing here.
  setNoDelay(): this {
    return this
  }

  setKeepAlive(): this {
    return this
  }

  ref(): this {
    return this
  }

  unref(): this {
    return this
  }
}
