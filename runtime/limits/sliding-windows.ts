import type { Taken } from "./limiter.ts"

/** The window is divided into this many parts: a refusal comes at most one part of the period too early. */
const partsPerPeriod = 60
/** One part more than the period has, because the oldest part is only partly inside the window. */
const partsKept = partsPerPeriod + 1
/** A slot: number of the last part with a count, total of the kept parts, then the ring of parts. */
const slotWords = 2 + partsKept
const slotsPerChunk = 1024
const overflowSlots = 1024
/** Number of slots a new key inspects to find one whose counts have all left the window. */
const looksPerTake = 16

/** Rounding error of sums of milliseconds. */
const exactMs = 0.001

/** The total of a key is a 32-bit number. */
const countMax = 0xffff_ffff

interface Count {
  readonly callsMax: number
  readonly nowMs: number
  readonly amount: number
}

/** Adjacent slots, and the time of the last counted call of each. */
interface Slots {
  readonly words: Uint32Array
  readonly lastMs: Float64Array
}

/**
 * Sliding windows of one counter, one slot of typed memory per key. The number of slots is bounded. If none is free, new keys share the overflow slot of
 * their hash: they can be refused early, but are never allowed above the limit. A key that moves from a shared slot to its own takes the shared counts
 * along, so that the move gives no extra calls.
 */
export class SlidingWindows {
  readonly #periodMs: number
  readonly #partMs: number
  readonly #startMs: number
  readonly #keysMax: number
  readonly #chunks: Slots[] = []
  readonly #overflow = slots(overflowSlots)
  readonly #slotOf = new Map<string, number>()
  readonly #keyOf: (string | undefined)[] = []
  #slots = 0
  #hand = 0
  #overflowUsed = false

  constructor(periodMs: number, keysMax: number, startMs: number) {
    this.#periodMs = periodMs
    this.#partMs = periodMs / partsPerPeriod
    this.#keysMax = keysMax
    this.#startMs = startMs
  }

  /** Number of keys that have a slot of their own. */
  get size(): number {
    return this.#slotOf.size
  }

  /** Counts `amount` calls of `key` if they fit into `callsMax`; 0 only tests whether one call would fit. Counts stop at 2^32-1. */
  take(key: string, callsMax: number, nowMs: number, amount = 1): Taken {
    const part = Math.floor((nowMs - this.#startMs) / this.#partMs) + partsKept
    let slot = this.#slotOf.get(key)
    if (slot === undefined) slot = this.#claim(key, part)
    const count = { callsMax, nowMs, amount }
    return slot === undefined
      ? this.#count(this.#overflow, hash(key), part, count)
      : this.#count(this.#chunk(slot), slot % slotsPerChunk, part, count)
  }

  #count(slots: Slots, slot: number, part: number, { callsMax, nowMs, amount }: Count): Taken {
    const { words, lastMs } = slots
    const at = slot * slotWords
    advance(words, at, part)
    // All calls have left a period after the last one, although its part leaves later.
    if (words[at + 1] !== 0 && (lastMs[slot] as number) + this.#periodMs - nowMs <= exactMs)
      words.fill(0, at + 1, at + slotWords)
    const total = words[at + 1] as number
    const tooMany = total + Math.max(1, amount) - callsMax
    if (tooMany > 0)
      return {
        allowed: false,
        remaining: Math.max(0, callsMax - total),
        resetSeconds: this.#secondsUntil(tooMany, slots, slot, { part, nowMs }),
      }
    const ring = at + 2 + (part % partsKept)
    const counted = Math.min(amount, countMax - total)
    words[ring] = (words[ring] as number) + counted
    words[at + 1] = total + counted
    if (counted > 0) lastMs[slot] = Math.max(nowMs, lastMs[slot] as number)
    return {
      allowed: true,
      remaining: callsMax - total - counted,
      resetSeconds: this.#secondsUntil(1, slots, slot, { part, nowMs }),
    }
  }

  /**
   * Seconds until `count` of the counted calls have left (the period if nothing is counted), rounded up, at least 1. The calls of a part leave together,
   * a period after its end. The calls of the last part leave a period after the last call, so that the result never exceeds the period.
   */
  #secondsUntil(
    count: number,
    { words, lastMs }: Slots,
    slot: number,
    { part, nowMs }: { readonly part: number; readonly nowMs: number },
  ): number {
    const at = slot * slotWords
    let rest = words[at + 1] as number
    const enough = Math.max(0, rest - count)
    let leavesMs = (rest === 0 ? nowMs : (lastMs[slot] as number)) + this.#periodMs
    for (let age = partsKept - 1; age > 0 && rest > enough; age--) {
      const left = words[at + 2 + ((part - age) % partsKept)] as number
      if (left === 0) continue
      rest -= left
      if (rest > 0 && rest <= enough) leavesMs = this.#startMs + (part - age) * this.#partMs
    }
    const waitMs = Math.min(this.#periodMs, leavesMs - nowMs)
    return Math.max(1, Math.ceil((waitMs - exactMs) / 1000))
  }

  #claim(key: string, part: number): number | undefined {
    let slot: number | undefined
    if (this.#slots < this.#keysMax) {
      slot = this.#slots++
      if (slot % slotsPerChunk === 0) this.#chunks.push(slots(slotsPerChunk))
    }
    slot ??= this.#reclaim(part)
    if (slot === undefined) {
      this.#overflowUsed = true
      return undefined
    }
    this.#slotOf.set(key, slot)
    this.#keyOf[slot] = key
    const { words, lastMs } = this.#chunk(slot)
    const own = slot % slotsPerChunk
    const at = own * slotWords
    if (this.#overflowUsed) {
      const shared = hash(key)
      words.set(this.#overflow.words.subarray(shared * slotWords, (shared + 1) * slotWords), at)
      lastMs[own] = this.#overflow.lastMs[shared] as number
    } else words.fill(0, at, at + slotWords)
    return slot
  }

  /** Inspects a few slots in turn (a clock hand) for one without counts in the window. */
  #reclaim(part: number): number | undefined {
    for (let look = 0; look < looksPerTake; look++) {
      const slot = this.#hand
      this.#hand = (this.#hand + 1) % this.#slots
      const last = this.#chunk(slot).words[(slot % slotsPerChunk) * slotWords] as number
      if (part - last < partsKept) continue
      const key = this.#keyOf[slot]
      if (key !== undefined) this.#slotOf.delete(key)
      return slot
    }
    return undefined
  }

  #chunk(slot: number): Slots {
    return this.#chunks[Math.floor(slot / slotsPerChunk)] as Slots
  }
}

function slots(count: number): Slots {
  return { words: new Uint32Array(count * slotWords), lastMs: new Float64Array(count) }
}

/** Clears the parts between the last one with a count and `part`, and subtracts them from the total. */
function advance(words: Uint32Array, at: number, part: number): void {
  const last = words[at] as number
  // If the clock went back, the part would already be cleared: count in the newest part instead.
  if (part <= last) return
  if (part - last >= partsKept) words.fill(0, at + 1, at + slotWords)
  else {
    let gone = 0
    for (let cleared = last + 1; cleared <= part; cleared++) {
      const ring = at + 2 + (cleared % partsKept)
      gone += words[ring] as number
      words[ring] = 0
    }
    words[at + 1] = (words[at + 1] as number) - gone
  }
  words[at] = part
}

/** FNV-1a, reduced to the number of an overflow slot. */
function hash(key: string): number {
  let value = 0x811c9dc5
  for (let index = 0; index < key.length; index++) {
    value ^= key.charCodeAt(index)
    value = Math.imul(value, 0x01000193)
  }
  return (value >>> 0) % overflowSlots
}
