/** What a vector stands for: the key of an entry of the cache. */
interface Entry {
  readonly vector: Float32Array
  readonly key: string
}

/** Of one space; a search looks at all of them: some 4 ms for vectors of 4,096 numbers. */
const entriesMax = 1_000
/** Numbers of all spaces together: 32 MiB. */
const numbersMax = 8 * 2 ** 20

/** Vectors of unit length, by spaces that have nothing to do with each other, in this process. Where there is no room the space that came first gives way, and in a space its oldest entry. */
export class Vectors {
  readonly #spaces = new Map<string, Entry[]>()
  #numbers = 0

  /** The key of the vector that is nearest, at most so far away; distance is 1 minus the cosine. */
  nearest(space: string, vector: Float32Array, distanceMax: number): string | undefined {
    let best: string | undefined
    let bestCosine = 1 - distanceMax
    for (const entry of this.#spaces.get(space) ?? []) {
      if (entry.vector.length !== vector.length) continue
      const cosine = dot(entry.vector, vector)
      // Of those that are as near the newest counts. Rounding must not tell a vector from itself.
      if (cosine < bestCosine - 1e-6) continue
      best = entry.key
      bestCosine = cosine
    }
    return best
  }

  add(space: string, vector: Float32Array, key: string): void {
    this.remove(space, key)
    const entries = this.#spaces.get(space) ?? []
    this.#spaces.set(space, entries)
    entries.push({ vector, key })
    this.#numbers += vector.length
    if (entries.length > entriesMax) this.#numbers -= entries.shift()?.vector.length ?? 0
    for (const [first, gone] of this.#spaces) {
      if (this.#numbers <= numbersMax) break
      this.#spaces.delete(first)
      for (const each of gone) this.#numbers -= each.vector.length
    }
  }

  /** What the key stood for is not there any more. */
  remove(space: string, key: string): void {
    const entries = this.#spaces.get(space)
    const at = entries?.findIndex((entry) => entry.key === key) ?? -1
    if (entries === undefined || at < 0) return
    for (const { vector } of entries.splice(at, 1)) this.#numbers -= vector.length
    if (entries.length === 0) this.#spaces.delete(space)
  }
}

/** The vector of the same direction with length one; undefined: it has none. */
export function unitVector(numbers: readonly number[]): Float32Array | undefined {
  const vector = Float32Array.from(numbers)
  const length = Math.sqrt(dot(vector, vector))
  if (!Number.isFinite(length) || length === 0) return undefined
  return vector.map((each) => each / length)
}

function dot(one: Float32Array, other: Float32Array): number {
  let sum = 0
  for (let at = 0; at < one.length; at += 1) sum += (one[at] as number) * (other[at] as number)
  return sum
}
