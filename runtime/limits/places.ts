/** Places of keys that are taken at a time. Only keys with someone inside are held. */
export class ConcurrencySlots {
  readonly #inside = new Map<string, number>()

  /** Takes a place; undefined when `max` are taken. The answer gives it back, once. */
  enter(counter: string, key: string, max: number): (() => void) | undefined {
    const id = JSON.stringify([counter, key])
    const inside = this.#inside.get(id) ?? 0
    if (inside >= max) return undefined
    this.#inside.set(id, inside + 1)
    let left = false
    return () => {
      if (left) return
      left = true
      const now = (this.#inside.get(id) ?? 1) - 1
      if (now === 0) this.#inside.delete(id)
      else this.#inside.set(id, now)
    }
  }

  /** How many keys have someone inside. */
  get size(): number {
    return this.#inside.size
  }
}
