const chunkBits = 14
const chunkLength = 1 << chunkBits
const chunkMask = chunkLength - 1

/** Many integers in order. It grows by chunks: copying one full array of a million integers would block the event loop. */
export class IntList {
  readonly #chunks: Int32Array[] = [new Int32Array(16)]
  #length = 0

  get length(): number {
    return this.#length
  }

  /** The integer at an index below `length`. */
  get(at: number): number {
    return (this.#chunks[at >>> chunkBits] as Int32Array)[at & chunkMask] as number
  }

  set(at: number, value: number): void {
    ;(this.#chunks[at >>> chunkBits] as Int32Array)[at & chunkMask] = value
  }

  push(value: number): void {
    const at = this.#length++
    const chunk = this.#chunks[at >>> chunkBits]
    if (chunk !== undefined && (at & chunkMask) < chunk.length) chunk[at & chunkMask] = value
    else this.#grow(at)[at & chunkMask] = value
  }

  /** Removes the last integer; the list must not be empty. */
  pop(): number {
    const last = this.get(this.#length - 1)
    this.#length--
    return last
  }

  /** A part of the list as an array. */
  slice(from: number, to: number): number[] {
    const part: number[] = []
    for (let at = from; at < Math.min(to, this.#length); at++) part.push(this.get(at))
    return part
  }

  #grow(at: number): Int32Array {
    const [first] = this.#chunks as [Int32Array]
    if (at >= chunkLength) {
      const next = new Int32Array(chunkLength)
      this.#chunks[at >>> chunkBits] = next
      return next
    }
    const grown = new Int32Array(Math.min(4 * first.length, chunkLength))
    grown.set(first)
    this.#chunks[0] = grown
    return grown
  }
}
