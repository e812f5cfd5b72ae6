/**
 * A hash table from pairs of integers (object, relation) to two integers, emptied in no time: entries carry the generation they
 * belong to. Positions stay valid until the next `add`.
 */
export class NodeTable {
  #mask = 63
  #keys = new Int32Array(128)
  #generations = new Int32Array(64)
  #generation = 1
  size = 0
  state = new Int32Array(64)
  extra = new Int32Array(64)

  /** Position of the pair, -1 when it is not there. */
  find(object: number, relation: number): number {
    for (let at = this.#start(object, relation); ; at = (at + 1) & this.#mask) {
      if (this.#generations[at] !== this.#generation) return -1
      if (this.#keys[2 * at] === object && this.#keys[2 * at + 1] === relation) return at
    }
  }

  /** Adds a pair that is not there, with state and extra 0; returns its position. */
  add(object: number, relation: number): number {
    if (4 * this.size >= 3 * (this.#mask + 1)) this.#grow()
    const at = this.#place(object, relation)
    this.state[at] = 0
    this.extra[at] = 0
    this.size++
    return at
  }

  each(visit: (object: number, relation: number) => void): void {
    for (let at = 0; at <= this.#mask; at++)
      if (this.#generations[at] === this.#generation)
        visit(this.#keys[2 * at] as number, this.#keys[2 * at + 1] as number)
  }

  clear(): void {
    this.size = 0
    if (this.#mask + 1 > 65_536) {
      // One large question should not keep its memory for ever.
      this.#allocate(64)
      return
    }
    if (++this.#generation < 0x7fff_ffff) return
    this.#generations.fill(0)
    this.#generation = 1
  }

  #place(object: number, relation: number): number {
    let at = this.#start(object, relation)
    while (this.#generations[at] === this.#generation) at = (at + 1) & this.#mask
    this.#generations[at] = this.#generation
    this.#keys[2 * at] = object
    this.#keys[2 * at + 1] = relation
    return at
  }

  /** Mixes all bits down: ids differ in few of them, and a mask that drops the high ones fills one corner of the table. */
  #start(object: number, relation: number): number {
    let hash = Math.imul(object, 0x9e37_79b1) ^ Math.imul(relation + 1, 0x85eb_ca6b)
    hash ^= hash >>> 16
    hash = Math.imul(hash, 0x7feb_352d)
    return (hash ^ (hash >>> 15)) & this.#mask
  }

  #allocate(capacity: number): void {
    this.#mask = capacity - 1
    this.#keys = new Int32Array(2 * capacity)
    this.#generations = new Int32Array(capacity)
    this.#generation = 1
    this.state = new Int32Array(capacity)
    this.extra = new Int32Array(capacity)
  }

  #grow(): void {
    const { state, extra } = this
    const keys = this.#keys
    const generations = this.#generations
    const generation = this.#generation
    this.#allocate(2 * (this.#mask + 1))
    for (let old = 0; old < generations.length; old++) {
      if (generations[old] !== generation) continue
      const at = this.#place(keys[2 * old] as number, keys[2 * old + 1] as number)
      this.state[at] = state[old] as number
      this.extra[at] = extra[old] as number
    }
  }
}
