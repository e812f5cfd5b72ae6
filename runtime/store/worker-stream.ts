import { Duplex } from "node:stream"

/** What a connection needs from the thread behind it. */
export interface Wire {
  /** Resolves when the session is clean; from then on `receive` gets the server's bytes. */
  open(receive: (bytes: Uint8Array) => void): Promise<void>
  send(bytes: Uint8Array): void
}

/** A socket for node-postgres, connected to the worker of the embedded database. Bytes are transferred, not copied. */
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
      // No back-pressure: all our statements limit the size of their results.
      if (!this.destroyed) this.push(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength))
    })
    this.#open = wire
  }

  override _read(): void {}

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: (error?: Error | null) => void): void {
    // Send a copy: the driver reuses the memory behind its buffer.
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

  // The driver calls these socket methods; they have no effect here.
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
