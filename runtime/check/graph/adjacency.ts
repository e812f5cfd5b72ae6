import { IdLists, type Stretch } from "./id-lists.ts"
import { IntColumn } from "./int-column.ts"
import { IntPool } from "./int-pool.ts"

/** Returned by `find` when the object has nothing in the slot. */
export const none = 0x7fff_ffff

/**
 * For each id, the slots that contain other ids: one inline id or a sorted list. `find` returns a value: not negative for the single id
 * itself, negative for a list (read it with `stretch`), `none` for nothing. A block is a header (pairs in use), then pairs of slot and
 * value.
 */
export class Adjacency {
  readonly #heads = new IntColumn()
  readonly #pool = new IntPool()
  #count = 0
  readonly lists = new IdLists(this.#pool)

  /** Number of ids in all slots. */
  get count(): number {
    return this.#count
  }

  /** Bytes in use, without the column by id. */
  get bytes(): number {
    return this.#pool.bytes + this.lists.bytes
  }

  /** Allocated bytes, in use or not. */
  get reservedBytes(): number {
    return this.#heads.bytes + this.#pool.reservedBytes + this.lists.bytes
  }

  /** Whether its lists will soon have no addresses left. */
  get isNearlyFull(): boolean {
    return this.#pool.isNearlyFull
  }

  find(id: number, slot: number): number {
    const block = this.#heads.get(id)
    if (block === 0) return none
    const array = this.#pool.array(block)
    const start = this.#pool.offset(block)
    const end = start + 1 + 2 * (array[start] as number)
    for (let at = start + 1; at < end; at += 2) if (array[at] === slot) return array[at + 1] as number
    return none
  }

  /** Whether `other` is in the value that `find` returned. */
  has(value: number, other: number): boolean {
    return value >= 0 ? value === other : this.lists.has(value, other)
  }

  length(value: number): number {
    if (value >= 0) return value === none ? 0 : 1
    return this.lists.length(value)
  }

  /** The ids of a list (a negative value) in their place in memory. The next call reuses the object. */
  stretch(value: number): Stretch {
    return this.lists.stretch(value)
  }

  /** Whether the id has nothing in any slot. */
  isEmpty(id: number): boolean {
    return this.#heads.get(id) === 0
  }

  /** Calls back with every slot of an id and its value. */
  eachSlot(id: number, visit: (slot: number, value: number) => void): void {
    const block = this.#heads.get(id)
    if (block === 0) return
    const array = this.#pool.array(block)
    const start = this.#pool.offset(block)
    const end = start + 1 + 2 * (array[start] as number)
    for (let at = start + 1; at < end; at += 2) visit(array[at] as number, array[at + 1] as number)
  }

  /** False when the tuple was already present. */
  insert(id: number, slot: number, other: number): boolean {
    const value = this.find(id, slot)
    if (value === none) this.#addPair(id, slot, other)
    else if (value >= 0) {
      if (value === other) return false
      this.#replace(id, slot, this.lists.pair(value, other))
    } else {
      const moved = this.lists.insert(value, other)
      if (moved === undefined) return false
      if (moved !== value) this.#replace(id, slot, moved)
    }
    this.#count++
    return true
  }

  /** False when the tuple was absent. */
  remove(id: number, slot: number, other: number): boolean {
    const value = this.find(id, slot)
    if (value === none) return false
    if (value >= 0) {
      if (value !== other) return false
      this.#dropPair(id, slot)
    } else {
      const moved = this.lists.remove(value, other)
      if (moved === undefined) return false
      if (moved !== value) this.#replace(id, slot, moved)
    }
    this.#count--
    return true
  }

  /** Puts sorted ids into an empty slot of an id; takes ownership of the array. */
  lay(id: number, slot: number, ids: Int32Array): void {
    if (ids.length === 0) return
    this.#addPair(id, slot, this.lists.of(ids))
    this.#count += ids.length
  }

  /** Puts sorted pairs of slot and id, in the integers from `start` to `end`, into an id that has nothing yet. */
  layPairs(id: number, pairs: Int32Array, start: number, end: number): void {
    let count = 0
    for (let at = start; at < end; at += 2) if (at === start || pairs[at] !== pairs[at - 2]) count++
    this.#count += (end - start) / 2
    const block = this.#pool.allocate(1 + 2 * count)
    this.#heads.set(id, block)
    let place = this.#pool.offset(block)
    this.#pool.array(block)[place++] = count
    for (let at = start; at < end; ) {
      const slot = pairs[at] as number
      let next = at + 2
      while (next < end && pairs[next] === slot) next += 2
      const value = next - at === 2 ? (pairs[at + 1] as number) : this.lists.ofPairs(pairs, at + 1, next)
      // Not before the list, for which the pool may have grown.
      const array = this.#pool.array(block)
      array[place++] = slot
      array[place++] = value
      at = next
    }
  }

  /** Removes the content of a slot of an id. */
  drop(id: number, slot: number): void {
    const value = this.find(id, slot)
    if (value === none) return
    this.#count -= this.length(value)
    if (value < 0) this.lists.drop(value)
    this.#dropPair(id, slot)
  }

  #replace(id: number, slot: number, value: number): void {
    const block = this.#heads.get(id)
    const array = this.#pool.array(block)
    const start = this.#pool.offset(block)
    for (let at = start + 1; ; at += 2) {
      if (array[at] !== slot) continue
      array[at + 1] = value
      return
    }
  }

  #addPair(id: number, slot: number, value: number): void {
    const block = this.#heads.get(id)
    const count = block === 0 ? 0 : (this.#pool.array(block)[this.#pool.offset(block)] as number)
    let target = block
    if (block === 0 || this.#pool.isFull(1 + 2 * count, 3 + 2 * count)) {
      target = this.#pool.allocate(3 + 2 * count)
      if (block !== 0) {
        this.#pool.copy(block, target, 1 + 2 * count)
        this.#pool.free(block, 1 + 2 * count)
      }
      this.#heads.set(id, target)
    }
    const array = this.#pool.array(target)
    const start = this.#pool.offset(target)
    array[start] = count + 1
    array[start + 1 + 2 * count] = slot
    array[start + 2 + 2 * count] = value
  }

  #dropPair(id: number, slot: number): void {
    const block = this.#heads.get(id)
    const array = this.#pool.array(block)
    const start = this.#pool.offset(block)
    const count = array[start] as number
    const last = start + 2 * count - 1
    for (let at = start + 1; at <= last; at += 2) {
      if (array[at] !== slot) continue
      array[at] = array[last] as number
      array[at + 1] = array[last + 1] as number
      break
    }
    array[start] = count - 1
    if (count === 1) {
      this.#pool.free(block, 3)
      this.#heads.set(id, 0)
    } else if (this.#pool.isFull(2 * count - 1, 2 * count + 1)) {
      const smaller = this.#pool.allocate(2 * count - 1)
      this.#pool.copy(block, smaller, 2 * count - 1)
      this.#pool.free(block, 2 * count + 1)
      this.#heads.set(id, smaller)
    }
  }
}
