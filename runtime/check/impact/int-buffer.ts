/** Integers in one growing array, for loops that read many of them. */
export class IntBuffer {
  array: Int32Array
  length = 0

  constructor(capacity = 64) {
    this.array = new Int32Array(capacity)
  }

  push(value: number): void {
    if (this.length === this.array.length) this.#grow()
    this.array[this.length++] = value
  }

  /** Allocated bytes. */
  get bytes(): number {
    return 4 * this.array.length
  }

  #grow(): void {
    const grown = new Int32Array(2 * this.array.length)
    grown.set(this.array)
    this.array = grown
  }
}

/** Values by their keys, in the order in which they were added. Integers from `start(key)` to `start(key + 1)` belong to a key. */
export class Grouped {
  readonly starts: Int32Array
  readonly values: Int32Array

  /** `keys` are below `keysEnd`; the value at a position belongs to the key at that position. */
  constructor(keys: IntBuffer, values: IntBuffer, keysEnd: number) {
    const { length } = keys
    this.starts = new Int32Array(keysEnd + 2)
    this.values = new Int32Array(length)
    const { starts } = this
    for (let at = 0; at < length; at++) (starts[(keys.array[at] as number) + 2] as number)++
    for (let key = 2; key < starts.length; key++)
      starts[key] = (starts[key] as number) + (starts[key - 1] as number)
    for (let at = 0; at < length; at++) {
      const place = starts[(keys.array[at] as number) + 1] as number
      starts[(keys.array[at] as number) + 1] = place + 1
      this.values[place] = values.array[at] as number
    }
  }
}
