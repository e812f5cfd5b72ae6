/** Slots of a ring: a power of two, at least the parts of a window. */
const ringSlots = 64
const ringsPerChunk = 64
const slotMask = ringSlots - 1

/** Rings of counts by part number, in typed memory: 256 bytes a ring. Free rings are used again. */
export class PartRings {
  readonly #chunks: Uint32Array[] = []
  readonly #free: number[] = []
  #made = 0

  /** A ring without counts. */
  take(): number {
    const free = this.#free.pop()
    if (free !== undefined) return free
    if (this.#made % ringsPerChunk === 0) this.#chunks.push(new Uint32Array(ringsPerChunk * ringSlots))
    return this.#made++
  }

  release(ring: number): void {
    this.#chunk(ring).fill(0, startOf(ring), startOf(ring) + ringSlots)
    this.#free.push(ring)
  }

  /**
   * Counts of the parts from `first` on, the oldest first, until at most `enough` of `total` are left: the part that has to leave for it. Undefined: those
   * of `last` have to leave, too.
   */
  partToLeave(ring: number, first: number, last: number, total: number, enough: number): number | undefined {
    const chunk = this.#chunk(ring)
    const start = startOf(ring)
    let rest = total
    for (let part = first; part < last; part++) {
      rest -= chunk[start + (part & slotMask)] as number
      if (rest <= enough) return rest > 0 ? part : undefined
    }
    return undefined
  }

  add(ring: number, part: number, count: number): void {
    const index = startOf(ring) + (part & slotMask)
    const chunk = this.#chunk(ring)
    chunk[index] = (chunk[index] as number) + count
  }

  /** Clears the parts `from` to `to`, and returns the sum of their counts. */
  clear(ring: number, from: number, to: number): number {
    const chunk = this.#chunk(ring)
    const start = startOf(ring)
    let sum = 0
    for (let part = from; part <= to; part++) {
      const index = start + (part & slotMask)
      sum += chunk[index] as number
      chunk[index] = 0
    }
    return sum
  }

  /** Bytes of all rings. */
  get bytes(): number {
    return this.#chunks.length * ringsPerChunk * ringSlots * 4
  }

  #chunk(ring: number): Uint32Array {
    return this.#chunks[Math.floor(ring / ringsPerChunk)] as Uint32Array
  }
}

function startOf(ring: number): number {
  return (ring % ringsPerChunk) * ringSlots
}
