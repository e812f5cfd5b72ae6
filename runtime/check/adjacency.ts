import { IntColumn } from "./int-column.ts"
import { IntPool } from "./int-pool.ts"

/** What `find` answers when the object has nothing in the slot. */
export const none = 0x7fff_ffff

/** Ids of a list as a stretch of an array; valid until the adjacency changes. */
export interface Stretch {
  array: Int32Array
  start: number
  end: number
}

/**
 * Who stands where: for each id, slots with one other id inline or a sorted list of them. `find` answers a value:
 * not negative is the one id itself, negative a list (read it with `stretch`), `none` nothing.
 * A block is a header (pairs in use), then pairs of slot and value.
 */
export class Adjacency {
  readonly #heads = new IntColumn()
  readonly #pool = new IntPool()
  #bulk = false

  find(id: number, slot: number): number {
    const block = this.#heads.get(id)
    if (block === 0) return none
    const array = this.#pool.array(block)
    const start = this.#pool.offset(block)
    const end = start + 1 + 2 * (array[start] as number)
    for (let at = start + 1; at < end; at += 2) if (array[at] === slot) return array[at + 1] as number
    return none
  }

  /** Is `other` in the value that `find` gave? */
  has(value: number, other: number): boolean {
    if (value >= 0) return value === other
    const { array, start, end } = this.#pool.list(value)
    return search(array, start, end, other) >= 0
  }

  length(value: number): number {
    if (value >= 0) return value === none ? 0 : 1
    const { start, end } = this.#pool.list(value)
    return end - start
  }

  /** The ids of a list (a negative value) where they lie. The object is reused by the next call. */
  stretch(value: number): Stretch {
    return this.#pool.list(value)
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

  /** From now on lists are only appended to; nothing may be read until `sort` has gone through all ids. */
  startBulk(): void {
    this.#bulk = true
  }

  /** Sorts the lists of the ids in [from, to) and drops repetitions; `endBulk` when all are done. */
  sort(from: number, to: number): void {
    for (let id = from; id < to; id++) {
      this.eachSlot(id, (slot, value) => {
        if (value >= 0) return
        const list = this.#pool.list(value)
        if (isSorted(list)) return
        list.array.subarray(list.start, list.end).sort()
        this.#replace(id, slot, this.#pool.shrink(value, unique(list)))
      })
    }
  }

  endBulk(): void {
    this.#bulk = false
  }

  /** False when it was there already. */
  insert(id: number, slot: number, other: number): boolean {
    const value = this.find(id, slot)
    if (value === none) {
      this.#addPair(id, slot, other)
      return true
    }
    if (value >= 0) {
      if (value === other) return false
      this.#replace(id, slot, this.#pool.pairList(Math.min(value, other), Math.max(value, other)))
      return true
    }
    const { array, start, end } = this.#pool.list(value)
    const at = this.#bulk ? -(end + 1) : search(array, start, end, other)
    if (at >= 0) return false
    const moved = this.#pool.insert(value, -(at + 1) - start, other)
    if (moved !== value) this.#replace(id, slot, moved)
    return true
  }

  /** False when it was not there. */
  remove(id: number, slot: number, other: number): boolean {
    const value = this.find(id, slot)
    if (value === none) return false
    if (value >= 0) {
      if (value !== other) return false
      this.#dropPair(id, slot)
      return true
    }
    const { array, start, end } = this.#pool.list(value)
    const at = search(array, start, end, other)
    if (at < 0) return false
    const moved = this.#pool.remove(value, at - start)
    if (moved !== value) this.#replace(id, slot, moved)
    return true
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

/** Index of `wanted` in the sorted stretch, or -(where it belongs) - 1. */
function search(array: Int32Array, start: number, end: number, wanted: number): number {
  let low = start
  let high = end - 1
  while (low <= high) {
    const middle = (low + high) >>> 1
    const value = array[middle] as number
    if (value === wanted) return middle
    if (value < wanted) low = middle + 1
    else high = middle - 1
  }
  return -(low + 1)
}

/** Strictly ascending. */
function isSorted({ array, start, end }: Stretch): boolean {
  for (let at = start + 1; at < end; at++)
    if ((array[at - 1] as number) >= (array[at] as number)) return false
  return true
}

/** Drops repetitions of a sorted stretch in place; returns how many ids are left. */
function unique({ array, start, end }: Stretch): number {
  let kept = start
  for (let at = start + 1; at < end; at++) if (array[at] !== array[kept]) array[++kept] = array[at] as number
  return kept - start + 1
}
