import { KeyedHash } from "./keyed-hash.ts"

/** Words of an entry: two of the key's hash, the others are the owner's. All are 0 in a new entry. */
export const entryWords = 8
/** The first word of the owner. */
export const ownWords = 2

const slotsMin = 16
const slotsMax = 8192
/** Above this share of used slots probing gets slow: the shard is swept, then grows or splits. */
const loadMax = 0.8
/** Share of used slots in a new array. */
const loadNew = 0.6
/** Entries that are compared to find the one that is given up. */
const samples = 16
const depthMax = 20

/** What the table asks about entries. `at` is the index of the entry's first word in `words`. */
export interface EntryRules {
  /** How much is lost with an entry: 0 nothing; of others the smaller is given up first. */
  worth(words: Uint32Array, at: number): number
  /** Of entries with equal worth the one with the larger age is given up first. */
  age(words: Uint32Array, at: number): number
  /** The entry is removed. */
  removed(words: Uint32Array, at: number): void
}

/** Open addressing with linear probing. `depth`: number of leading bits that the hashes of its entries have in common. */
interface Shard {
  words: Uint32Array
  slots: number
  used: number
  hand: number
  readonly depth: number
}

/**
 * Entries of fixed size by the hash of their key, in typed memory: 32 bytes an entry, about 46 with the free slots. The table grows in small shards
 * that split (extendible hashing), so that no call waits for a copy of the whole table. The number of entries is bounded: beyond it, the sampled entry
 * with the least worth is given up. Two keys of ten million share a 64-bit hash with a probability of 3 in a million; they would be counted as one.
 *
 * `find` and `add` leave their result in `words` and `at`; it is valid until the next call.
 */
export class CountTable {
  words: Uint32Array
  at = 0
  /** Number of entries. */
  size = 0
  /** Number of entries that were given up although they were worth something. */
  evicted = 0
  readonly #hash: KeyedHash
  readonly #rules: EntryRules
  /** By the leading `#depth` bits of a hash. */
  #shards: Shard[]
  #depth = 0
  #swept = 0
  #high = 0
  #low = 0

  constructor(secret: readonly [number, number], rules: EntryRules) {
    this.#hash = new KeyedHash(secret)
    this.#rules = rules
    const first = newShard(0, slotsMin)
    this.#shards = [first]
    this.words = first.words
  }

  /** Whether there is an entry of the key. */
  find(key: string): boolean {
    this.#hash.of(key)
    this.#high = this.#hash.high >>> 0
    this.#low = this.#hash.low >>> 0
    const shard = this.#shardOf(this.#high)
    const { words, slots } = shard
    let slot = home(this.#low, slots)
    for (;;) {
      const at = slot * entryWords
      const high = words[at] as number
      if (high === 0) return false
      if (high === this.#high && words[at + 1] === this.#low) {
        this.words = words
        this.at = at
        return true
      }
      slot = slot + 1 === slots ? 0 : slot + 1
    }
  }

  /** Adds an entry for the key that `find` did not find. At most `most` entries stay; a lower number than before takes effect as keys are added. */
  add(most: number): void {
    for (let given = 0; given < 2 && this.size >= most; given++) this.#giveUp()
    let shard = this.#shardOf(this.#high)
    while (shard.used >= Math.floor(shard.slots * loadMax)) {
      this.#makeRoom(shard)
      shard = this.#shardOf(this.#high)
    }
    this.words = shard.words
    this.at = freeSlot(shard, this.#low) * entryWords
    this.words[this.at] = this.#high
    this.words[this.at + 1] = this.#low
    shard.used += 1
    this.size += 1
  }

  /** Removes the worthless entries of one shard, in turn. Called now and then it returns the memory of a peak. */
  sweepNext(): void {
    this.#swept = (this.#swept + 1) % this.#shards.length
    const shard = this.#shards[this.#swept] as Shard
    if (shard.slots > slotsMin) this.#rebuild(shard, this.#sweep(shard))
  }

  /** Bytes of the table. */
  get bytes(): number {
    return [...new Set(this.#shards)].reduce((sum, { words }) => sum + words.byteLength, 0)
  }

  #shardOf(high: number): Shard {
    return this.#shards[this.#depth === 0 ? 0 : high >>> (32 - this.#depth)] as Shard
  }

  #giveUp(): void {
    let index = this.#depth === 0 ? 0 : this.#high >>> (32 - this.#depth)
    while ((this.#shards[index] as Shard).used === 0) index = (index + 1) % this.#shards.length
    const shard = this.#shards[index] as Shard
    const { words, slots } = shard
    let found = -1
    let least = Number.POSITIVE_INFINITY
    let oldest = 0
    for (let looked = 0, seen = 0; seen < Math.min(samples, shard.used) && looked < slots; looked++) {
      shard.hand = shard.hand + 1 >= slots ? 0 : shard.hand + 1
      const at = shard.hand * entryWords
      if (words[at] === 0) continue
      seen += 1
      const worth = this.#rules.worth(words, at)
      if (worth > least) continue
      const age = this.#rules.age(words, at)
      if (worth === least && age <= oldest) continue
      ;[found, least, oldest] = [shard.hand, worth, age]
      if (worth === 0) break
    }
    if (least > 0) this.evicted += 1
    this.#rules.removed(words, found * entryWords)
    remove(shard, found)
    this.size -= 1
  }

  #makeRoom(shard: Shard): void {
    const live = this.#sweep(shard)
    if (live > slotsMax * loadNew && shard.depth < depthMax) this.#split(shard)
    else this.#rebuild(shard, live)
  }

  /** Clears worthless entries and returns how many stay. The probing chains are broken until the shard is rebuilt. */
  #sweep(shard: Shard): number {
    const { words } = shard
    let live = 0
    for (let at = 0; at < words.length; at += entryWords) {
      if (words[at] === 0) continue
      if (this.#rules.worth(words, at) > 0) live += 1
      else {
        this.#rules.removed(words, at)
        words[at] = 0
      }
    }
    this.size -= shard.used - live
    shard.used = live
    return live
  }

  #rebuild(shard: Shard, live: number): void {
    const next = newShard(shard.depth, Math.max(slotsMin, Math.ceil((live + 1) / loadNew)))
    copy(shard.words, () => next)
    shard.words = next.words
    shard.slots = next.slots
    shard.hand = 0
  }

  #split(shard: Shard): void {
    const depth = shard.depth + 1
    if (depth > this.#depth) {
      this.#shards = this.#shards.flatMap((each) => [each, each])
      this.#depth = depth
    }
    const slots = Math.ceil(((shard.used / 2) * 1.1) / loadNew)
    const halves = [newShard(depth, slots), newShard(depth, slots)] as const
    copy(shard.words, (high) => halves[((high >>> (32 - depth)) & 1) as 0 | 1])
    for (let index = 0; index < this.#shards.length; index++) {
      if (this.#shards[index] === shard)
        this.#shards[index] = halves[((index >>> (this.#depth - depth)) & 1) as 0 | 1]
    }
  }
}

function newShard(depth: number, slots: number): Shard {
  return { words: new Uint32Array(slots * entryWords), slots, used: 0, hand: 0, depth }
}

/** Where probing for a hash begins. The shard was found by the other half of the hash. */
function home(low: number, slots: number): number {
  return Math.floor((low / 2 ** 32) * slots)
}

function freeSlot({ words, slots }: Shard, low: number): number {
  let slot = home(low, slots)
  while (words[slot * entryWords] !== 0) slot = slot + 1 === slots ? 0 : slot + 1
  return slot
}

function copy(words: Uint32Array, shardOf: (high: number) => Shard): void {
  for (let at = 0; at < words.length; at += entryWords) {
    const high = words[at] as number
    if (high === 0) continue
    const shard = shardOf(high)
    const to = freeSlot(shard, words[at + 1] as number) * entryWords
    for (let word = 0; word < entryWords; word++) shard.words[to + word] = words[at + word] as number
    shard.used += 1
  }
}

/** Removes an entry and moves later ones of its chain back (Knuth, The Art of Computer Programming, volume 3, algorithm 6.4R). */
function remove(shard: Shard, slot: number): void {
  const { words, slots } = shard
  let free = slot
  for (let next = (slot + 1) % slots; words[next * entryWords] !== 0; next = (next + 1) % slots) {
    const wants = home(words[next * entryWords + 1] as number, slots)
    const stays = free <= next ? free < wants && wants <= next : free < wants || wants <= next
    if (stays) continue
    words.copyWithin(free * entryWords, next * entryWords, (next + 1) * entryWords)
    free = next
  }
  words.fill(0, free * entryWords, (free + 1) * entryWords)
  shard.used -= 1
}
