/** Names given back in a turn: about a millisecond. */
const step = 1_024

/** Ids of a long list that has left memory, whose names are yet to be given back: each takes a microsecond, and there may be a million. */
export class Leaving {
  readonly #lists: Int32Array[] = []
  #sweeping = false
  #count = 0

  get count(): number {
    return this.#count
  }

  add(ids: Int32Array): void {
    this.#lists.push(ids)
    this.#count += ids.length
  }

  /** Gives them back, some in each turn. */
  async sweep(release: (id: number) => void, turn: () => Promise<void>): Promise<void> {
    if (this.#sweeping) return
    this.#sweeping = true
    for (let ids = this.#lists[0]; ids !== undefined; ids = this.#lists[0]) {
      for (let at = 0; at < ids.length; at += step) {
        const some = ids.subarray(at, at + step)
        for (const id of some) release(id)
        this.#count -= some.length
        await turn()
      }
      this.#lists.shift()
    }
    this.#sweeping = false
  }
}
