import { IntBuffer } from "./int-buffer.ts"

/** Nodes by what decides them. */
export class SameNodes {
  #entries = new Int32Array(2 * 1_024)
  #size = 0
  readonly #texts = new IntBuffer(1_024)

  get bytes(): number {
    return 4 * this.#entries.length + this.#texts.bytes
  }

  /** The node with this text; added when it is new. */
  find(text: readonly number[], add: () => number): number {
    let hash = text.length
    for (const each of text) {
      hash = Math.imul(hash ^ each, 0x9e37_79b1)
      hash ^= hash >>> 15
    }
    if (4 * this.#size > this.#entries.length) this.#grow()
    const mask = this.#entries.length / 2 - 1
    let at = hash & mask
    for (; this.#entries[2 * at] !== 0; at = (at + 1) & mask)
      if (this.#isText((this.#entries[2 * at] as number) - 1, hash, text))
        return this.#entries[2 * at + 1] as number
    const place = this.#texts.length
    this.#texts.push(hash)
    this.#texts.push(text.length)
    for (const each of text) this.#texts.push(each)
    const node = add()
    this.#entries[2 * at] = place + 1
    this.#entries[2 * at + 1] = node
    this.#size++
    return node
  }

  #isText(place: number, hash: number, text: readonly number[]): boolean {
    const { array } = this.#texts
    if (array[place] !== hash || array[place + 1] !== text.length) return false
    return text.every((each, at) => array[place + 2 + at] === each)
  }

  #grow(): void {
    const old = this.#entries
    this.#entries = new Int32Array(2 * old.length)
    const mask = this.#entries.length / 2 - 1
    for (let from = 0; from < old.length; from += 2) {
      if (old[from] === 0) continue
      let at = (this.#texts.array[(old[from] as number) - 1] as number) & mask
      while (this.#entries[2 * at] !== 0) at = (at + 1) & mask
      this.#entries[2 * at] = old[from] as number
      this.#entries[2 * at + 1] = old[from + 1] as number
    }
  }
}
