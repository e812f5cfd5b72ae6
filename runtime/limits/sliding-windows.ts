import { CountTable, ownWords } from "./count-table.ts"
import type { Taken } from "./limiter.ts"
import { PartRings } from "./part-rings.ts"

/** The window is divided into this many parts: a refusal comes at most one part of the period too early. */
const partsPerPeriod = 60
/** One part more than the period has, because the oldest part is only partly inside the window. */
const partsKept = partsPerPeriod + 1

/**
 * Words of an entry. The last counted part, and how far in this part the last call was, in 2^-32 of a part. Of part numbers the entry holds the low 32 bits
 * (parts of a limit by the second need more after 2.3 years), so they are compared by their difference.
 */
const lastPartWord = ownWords
const fractionWord = ownWords + 1
/** Up to four counts, the oldest first: the part in 6 bits, the count in 26 bits; 0: none. */
const groupsWord = ownWords + 2
const groupsMax = 4
const groupCountMax = 2 ** 26 - 2
/** With a ring instead: its number, this mark (no group has it), the sum of the ring, and the part for which the sum is. */
const ringMark = 0xffff_ffff
const ringWord = groupsWord
const markWord = groupsWord + 1
const sumWord = groupsWord + 2
const sumPartWord = groupsWord + 3

/** Rounding error of sums of milliseconds. */
const exactMs = 0.001
/** The total of a key is a 32-bit number. */
const countMax = 0xffff_ffff
const sweepEveryCalls = 16_384

/**
 * Sliding windows of one counter. A key with calls in up to four parts takes one entry of the table; a busier key has a ring of all parts besides. The
 * number of keys is bounded: beyond it, the key with the fewest calls, and of these the oldest, gives way to a new key. So a lack of memory never
 * refuses a call within the limit, and a key with many calls stays counted while others come with few.
 */
export class SlidingWindows {
  /** `resetSeconds` of the last take before rounding, in milliseconds. */
  resetMs = 0
  readonly #periodMs: number
  readonly #partMs: number
  readonly #startMs: number
  readonly #exactMs: number
  readonly #rings = new PartRings()
  readonly #table: CountTable
  #nowMs: number
  #part = partsKept
  #calls = 0

  /** `secret`: two random 32-bit numbers for the hashes of keys. */
  constructor(periodMs: number, startMs: number, secret: readonly [number, number]) {
    this.#periodMs = periodMs
    this.#partMs = periodMs / partsPerPeriod
    this.#startMs = startMs
    this.#nowMs = startMs
    this.#exactMs = Math.max(exactMs, this.#partMs / 2 ** 31)
    this.#table = new CountTable(secret, {
      worth: (words, at) => this.#totalOf(words, at),
      age: (words, at) => this.#sinceLastMs(words, at),
      removed: (words, at) => {
        if (words[at + markWord] === ringMark) this.#rings.release(words[at + ringWord] as number)
      },
    })
  }

  /** Number of keys that are counted. */
  get size(): number {
    return this.#table.size
  }

  /** Number of keys that were given up while they had calls in the window. */
  get evicted(): number {
    return this.#table.evicted
  }

  /** Bytes of all counts. */
  get bytes(): number {
    return this.#table.bytes + this.#rings.bytes
  }

  /**
   * Counts `amount` calls of `key` if they fit into `callsMax`; 0 only tests whether one call would fit. Counts stop at 2^32-1. At most `keysMax` keys
   * are counted.
   */
  take(key: string, callsMax: number, nowMs: number, amount: number, keysMax: number): Taken {
    // A clock that goes back must not reopen a window.
    if (nowMs > this.#nowMs) this.#nowMs = nowMs
    this.#part = Math.floor((this.#nowMs - this.#startMs) / this.#partMs) + partsKept
    const table = this.#table
    if (++this.#calls % sweepEveryCalls === 0) table.sweepNext()
    const known = table.find(key)
    const total = known ? this.#totalOf(table.words, table.at) : 0
    const tooMany = total + Math.max(1, amount) - callsMax
    if (tooMany > 0) {
      const resetSeconds = this.#secondsUntil(tooMany, total)
      return { allowed: false, remaining: Math.max(0, callsMax - total), resetSeconds }
    }
    const counted = Math.min(amount, countMax - total)
    if (counted > 0) {
      if (!known) table.add(keysMax)
      this.#count(counted, total)
    }
    const sum = total + counted
    return { allowed: true, remaining: callsMax - sum, resetSeconds: this.#secondsUntil(1, sum) }
  }

  /** Adds to the entry at the cursor, whose calls in the window are `total`. */
  #count(counted: number, total: number): void {
    const { words, at } = this.#table
    const part = this.#part
    if (words[at + markWord] === ringMark) this.#countInRing(words, at, counted, total)
    else {
      const groups = total === 0 ? this.#clear(words, at) : this.#dropOld(words, at)
      const newest = at + groupsWord + groups - 1
      const joins = groups > 0 && partBits(words[newest] as number) === (part & 63)
      const sum = (joins ? countOf(words[newest] as number) : 0) + counted
      if (sum > groupCountMax || (!joins && groups === groupsMax)) {
        this.#promote(words, at, groups)
        this.#countInRing(words, at, counted, total)
      } else words[joins ? newest : newest + 1] = (((part & 63) << 26) | sum) >>> 0
    }
    const fraction = (this.#nowMs - this.#startMs) / this.#partMs - (part - partsKept)
    words[at + lastPartWord] = part
    words[at + fractionWord] = Math.min(0xffff_ffff, Math.ceil(fraction * 2 ** 32))
  }

  #countInRing(words: Uint32Array, at: number, counted: number, total: number): void {
    const ring = words[at + ringWord] as number
    if (total === 0) {
      // No ring is needed any more: a key that was busy once would keep it.
      this.#rings.release(ring)
      this.#clear(words, at)
      if (counted <= groupCountMax) {
        words[at + groupsWord] = (((this.#part & 63) << 26) | counted) >>> 0
        return
      }
      this.#promote(words, at, 0)
    }
    this.#rings.add(words[at + ringWord] as number, this.#part, counted)
    words[at + sumWord] = total + counted
    words[at + sumPartWord] = this.#part
  }

  /** Moves the groups of an entry to a ring. */
  #promote(words: Uint32Array, at: number, groups: number): void {
    const ring = this.#rings.take()
    for (let index = 0; index < groups; index++) {
      const group = words[at + groupsWord + index] as number
      this.#rings.add(ring, partBits(group), countOf(group))
    }
    words[at + ringWord] = ring
    words[at + markWord] = ringMark
  }

  #clear(words: Uint32Array, at: number): 0 {
    words.fill(0, at + groupsWord, at + groupsWord + groupsMax)
    return 0
  }

  /** Removes the groups that have left the window, and returns how many stay. */
  #dropOld(words: Uint32Array, at: number): number {
    const first = at + groupsWord
    let kept = 0
    for (let index = 0; index < groupsMax; index++) {
      const group = words[first + index] as number
      if (group === 0) break
      if (this.#ageOf(words, at, group) < partsKept) words[first + kept++] = group
    }
    words.fill(0, first + kept, first + groupsMax)
    return kept
  }

  /** Calls of an entry that count now. */
  #totalOf(words: Uint32Array, at: number): number {
    // All calls have left a period after the last one, although its part leaves later.
    if (this.#periodMs - this.#sinceLastMs(words, at) <= this.#exactMs) return 0
    if (words[at + markWord] === ringMark) return this.#sumOfRing(words, at)
    let total = 0
    for (let index = at + groupsWord; index < at + groupsWord + groupsMax; index++) {
      const group = words[index] as number
      if (group === 0) break
      if (this.#ageOf(words, at, group) < partsKept) total += countOf(group)
    }
    return total
  }

  #sumOfRing(words: Uint32Array, at: number): number {
    const ago = this.#partsSince(words[at + sumPartWord] as number)
    if (ago > 0) {
      const from = this.#part - ago
      const oldest = from - partsPerPeriod
      const gone = this.#rings.clear(
        words[at + ringWord] as number,
        oldest,
        Math.min(from, this.#part - partsKept),
      )
      words[at + sumWord] = (words[at + sumWord] as number) - gone
      words[at + sumPartWord] = this.#part
    }
    return words[at + sumWord] as number
  }

  /** How many parts ago a group was counted. */
  #ageOf(words: Uint32Array, at: number, group: number): number {
    const last = words[at + lastPartWord] as number
    return this.#partsSince(last) + ((last - partBits(group)) & 63)
  }

  /** How many parts ago a part was, of whose number the low 32 bits are known. */
  #partsSince(low: number): number {
    return (this.#part - low) >>> 0
  }

  /** Milliseconds since the last counted call. */
  #sinceLastMs(words: Uint32Array, at: number): number {
    const last = this.#part - this.#partsSince(words[at + lastPartWord] as number)
    const fraction = (words[at + fractionWord] as number) / 2 ** 32
    return this.#nowMs - this.#startMs - (last + fraction - partsKept) * this.#partMs
  }

  /**
   * Seconds until `count` of the `total` counted calls of the entry at the cursor have left (the period if nothing is counted), rounded up, at least 1.
   * The calls of a part leave together, a period after its end. The calls of the last part leave a period after the last call, so that the result never
   * exceeds the period.
   */
  #secondsUntil(count: number, total: number): number {
    const waitMs = total === 0 ? this.#periodMs : this.#waitOf(Math.max(0, total - count), total)
    this.resetMs = Math.min(this.#periodMs, waitMs) - exactMs
    return Math.max(1, Math.ceil(this.resetMs / 1000))
  }

  /** Milliseconds until at most `enough` of the `total` calls are left. */
  #waitOf(enough: number, total: number): number {
    const { words, at } = this.#table
    if (words[at + markWord] === ringMark) {
      const first = this.#part - partsPerPeriod
      const ring = words[at + ringWord] as number
      const part = this.#rings.partToLeave(ring, first, this.#part, total, enough)
      if (part !== undefined) return this.#leavesInMs(this.#part - part)
    } else {
      let rest = total
      for (let index = at + groupsWord; index < at + groupsWord + groupsMax && rest > enough; index++) {
        const group = words[index] as number
        const age = this.#ageOf(words, at, group)
        if (age >= partsKept) continue
        if (age <= 0 || group === 0) break
        rest -= countOf(group)
        if (rest > 0 && rest <= enough) return this.#leavesInMs(age)
      }
    }
    return this.#periodMs - this.#sinceLastMs(words, at)
  }

  /** Milliseconds until the part that was `age` parts ago leaves the window. */
  #leavesInMs(age: number): number {
    return this.#startMs + (this.#part - age) * this.#partMs - this.#nowMs
  }
}

function partBits(group: number): number {
  return group >>> 26
}

function countOf(group: number): number {
  return group & 0x3ff_ffff
}
