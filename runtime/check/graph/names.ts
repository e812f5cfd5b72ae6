import { IntColumn } from "./int-column.ts"

const chunkBits = 17
const chunkBytes = 1 << chunkBits
const firstChunkBytes = 4096
/** A place is a number of 32 bits, so a store's names take at most 4 GB. */
const arenaChunksMax = 2 ** 32 / chunkBytes
/** Beyond this many names there are 256 tables instead of one. Each grows alone, so a rehash moves only a few thousand entries. */
const splitAt = 32_768
const segmentCount = 256
/** Bytes of a name in addition to its text: its place in the hash, and a number in each of the columns by id. */
const bytesBeside = 32
/** Replaces the address of a released name: no record can begin in the last possible byte. */
const released = -1

const utf8 = new TextEncoder()
const fromUtf8 = new TextDecoder()

/** A name's UTF-8 within a larger array. */
export interface NamePlace {
  bytes: Uint8Array
  start: number
  end: number
}

/** A name that was found. */
export interface FoundName {
  id: number
  mark: number
}

const nowhere = new Uint8Array(0)

/** Open addressing over pairs (hash, place + 1). */
interface Segment {
  table: Int32Array
  count: number
}

const segmentOf = (): Segment => ({ table: new Int32Array(16), count: 0 })

/** Records one after the other; `live` counts the bytes of records that are still in use. */
interface Chunk {
  bytes: Uint8Array
  used: number
  live: number
}

const chunkOf = (length: number): Chunk => ({ bytes: new Uint8Array(length), used: 0, live: 0 })

// The record of a name keeps everything that a search needs together, because reading a place in memory that is not cached costs more than
// all the rest.

/** Bytes before the name's UTF-8: its id in four, its length in two, its mark in three. */
const recordHead = 9
const lengthAfter = 4
const markAfter = 6
const markMax = 0xff_ffff
/** First byte of an unused name; it does not occur in UTF-8. */
const dead = 0xff

/**
 * Names of one store as integers 0, 1, 2, …: bytes in an arena, found by a hash over typed arrays. A `Map` takes twice the memory, makes
 * the garbage collector visit every name, and is limited to 16.7 million entries. Names are equal when their code units are; do not pass
 * ill-formed text. A later name reuses the id of a released one. The bytes of released names are freed when they make up half of their
 * chunk.
 */
export class NameArena {
  readonly #arena: (Chunk | undefined)[] = [chunkOf(firstChunkBytes)]
  /** The bytes of the chunks again, so that reading a name does not go through another object. */
  readonly #bytes: Uint8Array[] = [(this.#arena[0] as Chunk).bytes]
  /** The chunk that is currently filled. */
  #tail = 0
  #live = 0
  readonly #offsets = new IntColumn()
  readonly #freeIds: number[] = []
  /** Places of names without an entry in the hash. */
  readonly #unlinked = new Set<number>()
  #idsEnd = 0
  #segments: Segment[] = [segmentOf()]
  // Each table has a random seed, so that an attacker cannot prepare colliding names.
  readonly #seed = (Math.random() * 0x1_0000_0000) | 0
  readonly #recent = new Map<number, string>()
  readonly #markOf: (name: string) => number
  /** The mark of the name that `intern` or `internPart` met last. */
  lastMark = 0

  readonly #chunksMax: number
  #chunks = 1

  /** `markOf` computes a number of 24 bits that is stored with each new name and available as soon as the name is found. */
  constructor(markOf: (name: string) => number = () => 0, chunksMax = arenaChunksMax) {
    this.#markOf = markOf
    this.#chunksMax = chunksMax
  }

  /** Whether `intern` will soon refuse new names. */
  get isNearlyFull(): boolean {
    return this.#chunks > 0.9 * this.#chunksMax
  }

  /** All ids are below it. */
  get idsEnd(): number {
    return this.#idsEnd
  }

  get count(): number {
    return this.#idsEnd - this.#freeIds.length
  }

  /** Bytes in use, including the cost of a name in addition to its text. */
  get bytes(): number {
    return this.#live + bytesBeside * this.count
  }

  /** Allocated bytes, in use or not. */
  get reservedBytes(): number {
    let bytes = this.#offsets.bytes + 8 * this.#freeIds.length
    for (const chunk of this.#arena) bytes += chunk?.bytes.length ?? 0
    for (const { table } of this.#segments) bytes += 4 * table.length
    return bytes
  }

  /** The name's id; -1 when it has none. */
  find(name: string): number {
    const record = this.#lookup(name, 0, name.length, this.#hash(name, 0, name.length))
    return record < 0 ? -1 : idAt(this.#bytes[record >>> chunkBits] as Uint8Array, record & (chunkBytes - 1))
  }

  /**
   * Finds two names with their marks. False in uncommon cases: then use `find` for each. A look-up mostly waits for memory, and looking
   * both up at once waits only once.
   */
  findBoth(one: string, other: string, oneFound: FoundName, otherFound: FoundName): boolean {
    const oneHash = this.#hash(one, 0, one.length)
    const otherHash = this.#hash(other, 0, other.length)
    const onePlace = this.#first(oneHash)
    const otherPlace = this.#first(otherHash)
    if (onePlace < 0 || otherPlace < 0) return false
    const oneBytes = this.#bytes[onePlace >>> chunkBits] as Uint8Array
    const otherBytes = this.#bytes[otherPlace >>> chunkBits] as Uint8Array
    const oneStart = onePlace & (chunkBytes - 1)
    const otherStart = otherPlace & (chunkBytes - 1)
    if (lengthAt(oneBytes, oneStart) !== one.length || lengthAt(otherBytes, otherStart) !== other.length)
      return false
    if (!isText(oneBytes, oneStart + recordHead, one) || !isText(otherBytes, otherStart + recordHead, other))
      return false
    oneFound.id = idAt(oneBytes, oneStart)
    oneFound.mark = markAt(oneBytes, oneStart)
    otherFound.id = idAt(otherBytes, otherStart)
    otherFound.mark = markAt(otherBytes, otherStart)
    return true
  }

  /** The mark of an id that `intern` returned. */
  mark(id: number): number {
    const offset = this.#offsets.get(id) >>> 0
    return markAt(this.#bytes[offset >>> chunkBits] as Uint8Array, offset & (chunkBytes - 1))
  }

  /** Whether the name of this id can be found. */
  isLinked(id: number): boolean {
    const offset = this.#offsets.get(id)
    return offset !== released && !this.#unlinked.has(offset >>> 0)
  }

  /**
   * The name's id; a new name gets the next id, or that of a released name.
   * @throws RangeError above 65,535 bytes, when its mark has more than 24 bits, or when all names would take more than 4 GB
   */
  intern(name: string): number {
    return this.internPart(name, 0, name.length)
  }

  /** The same for a part of a text, without a string of its own for a known name: a load meets each name several times. */
  internPart(text: string, start: number, end: number): number {
    const hash = this.#hash(text, start, end)
    const known = this.#lookup(text, start, end, hash)
    if (known >= 0) {
      const bytes = this.#bytes[known >>> chunkBits] as Uint8Array
      this.lastMark = markAt(bytes, known & (chunkBytes - 1))
      return idAt(bytes, known & (chunkBytes - 1))
    }
    const name = text.slice(start, end)
    this.lastMark = this.#markOf(name)
    const id = this.#freeIds.pop() ?? this.#idsEnd++
    const offset = this.#append(name, id, this.lastMark)
    this.#offsets.set(id, offset)
    if (this.#segments.length === 1 && this.count > splitAt) this.#split()
    this.#insert(hash, offset)
    return id
  }

  /** The name of an id that `intern` returned. */
  text(id: number): string {
    const recent = this.#recent.get(id)
    if (recent !== undefined) return recent
    const text = this.#textAt(this.#offsets.get(id) >>> 0)
    // Explanations and errors use the same few names repeatedly.
    if (this.#recent.size >= 1024) this.#recent.clear()
    this.#recent.set(id, text)
    return text
  }

  /** Makes the name unfindable; interned again it gets another id. Its text stays until `release`. */
  unlink(id: number): void {
    const offset = this.#offsets.get(id) >>> 0
    const text = this.#textAt(offset)
    this.#remove(this.#hash(text, 0, text.length), offset)
    this.#unlinked.add(offset)
  }

  /** Releases an unlinked name; another name may get its id. */
  release(id: number): void {
    const offset = this.#offsets.get(id) >>> 0
    this.#unlinked.delete(offset)
    this.#recent.delete(id)
    this.#offsets.set(id, released)
    this.#freeIds.push(id)
    const index = offset >>> chunkBits
    const chunk = this.#arena[index] as Chunk
    const start = offset & (chunkBytes - 1)
    const size = recordHead + lengthAt(chunk.bytes, start)
    chunk.bytes[start + recordHead] = dead
    chunk.live -= size
    this.#live -= size
    if (index !== this.#tail && chunk.live <= chunkBytes >> 1) this.#evacuate(index, chunk)
  }

  /** Fills in the place of a name's bytes; valid until names are added or removed. */
  place(id: number, into: NamePlace): NamePlace {
    const offset = this.#offsets.get(id) >>> 0
    const bytes = this.#bytes[offset >>> chunkBits] as Uint8Array
    const start = offset & (chunkBytes - 1)
    into.bytes = bytes
    into.start = start + recordHead
    into.end = into.start + lengthAt(bytes, start)
    return into
  }

  /** Mixes after each character: FNV's plain multiplication leaves the low bits of similar names equal. */
  #hash(text: string, start: number, end: number): number {
    let hash = this.#seed
    for (let at = start; at < end; at++) {
      hash = Math.imul(hash ^ text.charCodeAt(at), 0x9e37_79b1)
      hash ^= hash >>> 15
    }
    hash = Math.imul(hash ^ (hash >>> 13), 0x85eb_ca6b)
    return hash ^ (hash >>> 16)
  }

  #segment(hash: number): Segment {
    return this.#segments[this.#segments.length === 1 ? 0 : hash >>> 24] as Segment
  }

  /** The place of the first record with a hash; -1 when there is none. */
  #first(hash: number): number {
    const { table } = this.#segment(hash)
    const mask = (table.length >> 1) - 1
    for (let slot = hash & mask; ; slot = (slot + 1) & mask) {
      const place = table[2 * slot + 1] as number
      if (place === 0 || table[2 * slot] === hash) return place - 1
    }
  }

  /** The place of a name's record; -1 when there is none. */
  #lookup(text: string, start: number, end: number, hash: number): number {
    const { table } = this.#segment(hash)
    const mask = (table.length >> 1) - 1
    for (let slot = hash & mask; ; slot = (slot + 1) & mask) {
      const place = table[2 * slot + 1] as number
      if (place === 0) return -1
      if (table[2 * slot] !== hash) continue
      const record = (place - 1) >>> 0
      const bytes = this.#bytes[record >>> chunkBits] as Uint8Array
      if (this.#equals(bytes, record & (chunkBytes - 1), text, start, end)) return record
    }
  }

  /** Whether the record at that place contains the name, which is a part of a text. */
  #equals(bytes: Uint8Array, record: number, text: string, start: number, end: number): boolean {
    const length = lengthAt(bytes, record)
    if (length < end - start) return false
    const shift = record + recordHead - start
    for (let at = start; at < end; at++) {
      const code = text.charCodeAt(at)
      if (code > 127) return this.#equalsUtf8(bytes, record + recordHead, length, text.slice(start, end))
      if (bytes[shift + at] !== code) return false
    }
    return length === end - start
  }

  #equalsUtf8(chunk: Uint8Array, start: number, length: number, name: string): boolean {
    const bytes = utf8.encode(name)
    if (bytes.length !== length) return false
    for (let at = 0; at < length; at++) if (chunk[start + at] !== bytes[at]) return false
    return true
  }

  #textAt(offset: number): string {
    const bytes = this.#bytes[offset >>> chunkBits] as Uint8Array
    const start = offset & (chunkBytes - 1)
    const from = start + recordHead
    return fromUtf8.decode(bytes.subarray(from, from + lengthAt(bytes, start)))
  }

  /** Writes a record (id, length, mark, then UTF-8); a record never crosses chunks. Returns its address. */
  #append(name: string, id: number, mark: number): number {
    const encoded = isAscii(name) ? undefined : utf8.encode(name)
    const length = encoded?.length ?? name.length
    if (length > 0xffff) throw new RangeError(`a name of ${length} bytes`)
    if (mark > markMax) throw new RangeError(`a name's mark of ${mark}`)
    const size = recordSize(length)
    const chunk = this.#reserve(size)
    const { bytes, used } = chunk
    writeHead(bytes, used, id, length, mark)
    const start = used + recordHead
    if (encoded !== undefined) bytes.set(encoded, start)
    else for (let at = 0; at < length; at++) bytes[start + at] = name.charCodeAt(at)
    chunk.used += size
    chunk.live += recordHead + length
    this.#live += recordHead + length
    return this.#tail * chunkBytes + used
  }

  /** The chunk that is currently filled, with room for this many bytes. */
  #reserve(need: number): Chunk {
    const chunk = this.#arena[this.#tail] as Chunk
    if (chunk.used + need <= chunk.bytes.length) return chunk
    if (chunk.bytes.length < chunkBytes && chunk.used + need <= chunkBytes) {
      let length = chunk.bytes.length
      while (length < chunk.used + need) length *= 2
      const grown = new Uint8Array(length)
      grown.set(chunk.bytes)
      chunk.bytes = grown
      this.#bytes[this.#tail] = grown
      return chunk
    }
    if (this.#chunks >= this.#chunksMax) throw new RangeError("the names of a store take more than 4 GB")
    this.#chunks++
    const next = chunkOf(chunkBytes)
    const vacant = this.#arena.indexOf(undefined)
    const full = this.#tail
    this.#tail = vacant < 0 ? this.#arena.length : vacant
    this.#arena[this.#tail] = next
    this.#bytes[this.#tail] = next.bytes
    if (chunk.live <= chunkBytes >> 1) this.#evacuate(full, chunk)
    return this.#reserve(need)
  }

  /** Moves the remaining records of a chunk to the end of the arena, so that the chunk can be freed. */
  #evacuate(index: number, { bytes, used, live }: Chunk): void {
    for (let at = 0; at < used; ) {
      const length = lengthAt(bytes, at)
      if (bytes[at + recordHead] !== dead) this.#move(index * chunkBytes + at, idAt(bytes, at))
      at += recordSize(length)
    }
    this.#live -= live
    this.#chunks--
    this.#arena[index] = undefined
    this.#bytes[index] = nowhere
  }

  #move(offset: number, id: number): void {
    const text = this.#textAt(offset)
    const moved = this.#append(text, id, this.mark(id))
    this.#offsets.set(id, moved)
    if (this.#unlinked.delete(offset)) {
      this.#unlinked.add(moved)
      return
    }
    const { table, slot } = this.#entryOf(this.#hash(text, 0, text.length), offset)
    table[2 * slot + 1] = moved + 1
  }

  #insert(hash: number, offset: number): void {
    const segment = this.#segment(hash)
    if (3 * segment.count >= segment.table.length) {
      const old = segment.table
      segment.table = new Int32Array(2 * old.length)
      for (let at = 0; at < old.length; at += 2)
        if (old[at + 1] !== 0) this.#place(segment.table, old[at] as number, old[at + 1] as number)
    }
    this.#place(segment.table, hash, offset + 1)
    segment.count++
  }

  #place(table: Int32Array, hash: number, value: number): void {
    const mask = (table.length >> 1) - 1
    let slot = hash & mask
    while (table[2 * slot + 1] !== 0) slot = (slot + 1) & mask
    table[2 * slot] = hash
    table[2 * slot + 1] = value
  }

  /** Removes an entry, and moves up entries that were placed after it, so that no search ends too early. */
  #remove(hash: number, offset: number): void {
    const entry = this.#entryOf(hash, offset)
    const { segment, table, mask } = entry
    let hole = entry.slot
    for (let slot = (hole + 1) & mask; table[2 * slot + 1] !== 0; slot = (slot + 1) & mask) {
      const home = (table[2 * slot] as number) & mask
      if (((slot - home) & mask) < ((slot - hole) & mask)) continue
      table[2 * hole] = table[2 * slot] as number
      table[2 * hole + 1] = table[2 * slot + 1] as number
      hole = slot
    }
    table[2 * hole + 1] = 0
    segment.count--
  }

  /** The place of a name's entry, which must exist. */
  #entryOf(hash: number, offset: number) {
    const segment = this.#segment(hash)
    const { table } = segment
    const mask = (table.length >> 1) - 1
    const value = (offset + 1) | 0
    let slot = hash & mask
    while (table[2 * slot + 1] !== value) slot = (slot + 1) & mask
    return { segment, table, mask, slot }
  }

  #split(): void {
    const old = (this.#segments[0] as Segment).table
    this.#segments = Array.from({ length: segmentCount }, segmentOf)
    for (let at = 0; at < old.length; at += 2) {
      const place = old[at + 1] as number
      if (place !== 0) this.#insert(old[at] as number, place - 1)
    }
  }
}

/** Bytes of the record of a name with this many bytes. An empty name gets one byte, which the mark of unused names needs. */
function recordSize(length: number): number {
  return recordHead + Math.max(1, length)
}

function writeHead(bytes: Uint8Array, at: number, id: number, length: number, mark: number): void {
  for (let byte = 0; byte < 4; byte++) bytes[at + byte] = (id >>> (8 * byte)) & 0xff
  for (let byte = 0; byte < 2; byte++) bytes[at + lengthAfter + byte] = (length >>> (8 * byte)) & 0xff
  for (let byte = 0; byte < 3; byte++) bytes[at + markAfter + byte] = (mark >>> (8 * byte)) & 0xff
}

/** A record's id. */
function idAt(bytes: Uint8Array, at: number): number {
  const low = (bytes[at] as number) | ((bytes[at + 1] as number) << 8)
  return low | ((bytes[at + 2] as number) << 16) | ((bytes[at + 3] as number) << 24)
}

/** A record's length. */
function lengthAt(bytes: Uint8Array, at: number): number {
  return (bytes[at + lengthAfter] as number) | ((bytes[at + lengthAfter + 1] as number) << 8)
}

/** A record's mark. */
function markAt(bytes: Uint8Array, at: number): number {
  const low = (bytes[at + markAfter] as number) | ((bytes[at + markAfter + 1] as number) << 8)
  return low | ((bytes[at + markAfter + 2] as number) << 16)
}

/** Whether the bytes at that place are the text, in ASCII. */
function isText(bytes: Uint8Array, start: number, text: string): boolean {
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (bytes[start + at] !== code || code > 127) return false
  }
  return true
}

function isAscii(text: string): boolean {
  for (let at = 0; at < text.length; at++) if (text.charCodeAt(at) > 127) return false
  return true
}
