/** Why there is no copy of a body. `incomplete`: the request ended before its body was read to the end. */
export type NoCopy = "too-large" | "incomplete"

/** Collects a body while it is passed on, up to a maximum. It never holds the body back. */
export class BodyCopy {
  readonly #bytesMax: number
  readonly #done: (copy: Buffer | NoCopy) => void
  #chunks: Buffer[] = []
  #length = 0
  #over = false

  /** `done` is called once. */
  constructor(bytesMax: number, done: (copy: Buffer | NoCopy) => void) {
    this.#bytesMax = bytesMax
    this.#done = done
  }

  push(chunk: Buffer): void {
    if (this.#over) return
    this.#length += chunk.length
    if (this.#length > this.#bytesMax) this.#end("too-large")
    else this.#chunks.push(chunk)
  }

  complete(): void {
    if (!this.#over) this.#end(Buffer.concat(this.#chunks))
  }

  abandon(): void {
    if (!this.#over) this.#end("incomplete")
  }

  #end(copy: Buffer | NoCopy): void {
    this.#over = true
    this.#chunks = []
    this.#done(copy)
  }
}
