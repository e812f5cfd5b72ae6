const chunkBits = 18
const chunkMask = (1 << chunkBits) - 1

/**
 * A growing column of 32-bit integers, 0 by default. It grows by chunks of 1 MB, because copying one large array would block the event loop
 * for tens of milliseconds.
 */
export class IntColumn {
  readonly #chunks: Int32Array[] = []
  #small = new Int32Array(16)

  /** Allocated bytes. */
  get bytes(): number {
    return this.#chunks.length === 0 ? 4 * this.#small.length : 4 * (chunkMask + 1) * this.#chunks.length
  }

  get(index: number): number {
    const chunk = this.#chunks[index >>> chunkBits]
    if (chunk !== undefined) return chunk[index & chunkMask] as number
    return index < this.#small.length ? (this.#small[index] as number) : 0
  }

  set(index: number, value: number): void {
    const chunk = this.#chunks[index >>> chunkBits]
    if (chunk !== undefined) chunk[index & chunkMask] = value
    else this.#grow(index)[index & chunkMask] = value
  }

  /** The first chunk starts small and doubles, so that a store of a hundred names does not take a megabyte. */
  #grow(index: number): Int32Array {
    if (this.#chunks.length === 0 && index <= chunkMask) {
      if (index < this.#small.length) return this.#small
      let length = this.#small.length
      while (length <= index) length *= 2
      const grown = new Int32Array(length)
      grown.set(this.#small)
      this.#small = grown
      if (length > chunkMask) this.#chunks.push(grown)
      return grown
    }
    if (this.#chunks.length === 0) {
      const first = new Int32Array(chunkMask + 1)
      first.set(this.#small)
      this.#small = first
      this.#chunks.push(first)
    }
    while (this.#chunks.length <= index >>> chunkBits) this.#chunks.push(new Int32Array(chunkMask + 1))
    return this.#chunks[index >>> chunkBits] as Int32Array
  }
}
