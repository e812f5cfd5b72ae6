/** A copy of bytes that pass, as long as they are not more than may be held. */
export class PassingCopy {
  readonly #bytesMax: number
  #chunks: Buffer[] | undefined = []
  #bytes = 0

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax
  }

  add(chunk: Buffer): void {
    this.#bytes += chunk.length
    if (this.#bytes > this.#bytesMax) this.#chunks = undefined
    else this.#chunks?.push(chunk)
  }

  /** All that passed; undefined where it was too much. */
  get whole(): Buffer | undefined {
    return this.#chunks === undefined ? undefined : Buffer.concat(this.#chunks)
  }
}
