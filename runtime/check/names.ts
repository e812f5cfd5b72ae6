import { IntColumn } from "./int-column.ts"

const chunkBits = 22
const chunkBytes = 1 << chunkBits
const firstChunkBytes = 4096
/** Names beyond this live in 256 tables instead of one, each of which grows alone: no rehash moves more than a few thousand entries. */
const splitAt = 32_768
const segmentCount = 256

const utf8 = new TextEncoder()
const fromUtf8 = new TextDecoder()

/** A name's UTF-8 within a larger array. */
export interface NamePlace {
  bytes: Uint8Array
  start: number
  end: number
}

/** Open addressing over pairs (hash, id + 1). */
interface Segment {
  table: Int32Array
  count: number
}

const segmentOf = (): Segment => ({ table: new Int32Array(16), count: 0 })

/**
 * Names of one store as integers 0, 1, 2, …: bytes in an arena, found by a hash over typed arrays. A `Map` costs twice the memory,
 * makes the collector walk every name, and ends at 16.7 million. Equality is of code units; ill-formed text must not come here.
 */
export class Names {
  readonly #arena: Uint8Array[] = [new Uint8Array(firstChunkBytes)]
  #used = 0
  readonly #offsets = new IntColumn()
  #count = 0
  #segments: Segment[] = [segmentOf()]
  // A seed of its own per table, so that nobody can prepare names that collide.
  readonly #seed = (Math.random() * 0x1_0000_0000) | 0
  readonly #recent = new Map<number, string>()

  get count(): number {
    return this.#count
  }

  /** The name's id, -1 when it has none. */
  find(name: string): number {
    return this.#lookup(name, this.#hash(name))
  }

  /** The name's id; a new name gets the next one. @throws RangeError above 65,535 bytes. */
  intern(name: string): number {
    const hash = this.#hash(name)
    const known = this.#lookup(name, hash)
    if (known >= 0) return known
    const id = this.#count
    this.#offsets.set(id, this.#append(name))
    this.#count++
    if (this.#segments.length === 1 && this.#count > splitAt) this.#split()
    this.#insert(hash, id)
    return id
  }

  /** The name of an id that `intern` gave. */
  text(id: number): string {
    const recent = this.#recent.get(id)
    if (recent !== undefined) return recent
    const offset = this.#offsets.get(id) >>> 0
    const chunk = this.#arena[offset >>> chunkBits] as Uint8Array
    const start = (offset & (chunkBytes - 1)) + 2
    const length = this.#lengthAt(chunk, start - 2)
    const text = fromUtf8.decode(chunk.subarray(start, start + length))
    // Explanations and errors name the same few things again and again.
    if (this.#recent.size >= 1024) this.#recent.clear()
    this.#recent.set(id, text)
    return text
  }

  /** Fills in where a name's bytes lie; valid until names come or go. */
  place(id: number, into: NamePlace): NamePlace {
    const offset = this.#offsets.get(id) >>> 0
    const bytes = this.#arena[offset >>> chunkBits] as Uint8Array
    const start = offset & (chunkBytes - 1)
    into.bytes = bytes
    into.start = start + 2
    into.end = into.start + this.#lengthAt(bytes, start)
    return into
  }

  /** Mixed per character: FNV's plain multiplication leaves the low bits of similar names alike. */
  #hash(name: string): number {
    let hash = this.#seed
    for (let at = 0; at < name.length; at++) {
      hash = Math.imul(hash ^ name.charCodeAt(at), 0x9e37_79b1)
      hash ^= hash >>> 15
    }
    hash = Math.imul(hash ^ (hash >>> 13), 0x85eb_ca6b)
    return hash ^ (hash >>> 16)
  }

  #segment(hash: number): Segment {
    return this.#segments[this.#segments.length === 1 ? 0 : hash >>> 24] as Segment
  }

  #lookup(name: string, hash: number): number {
    const { table } = this.#segment(hash)
    const mask = (table.length >> 1) - 1
    for (let slot = hash & mask; ; slot = (slot + 1) & mask) {
      const id = table[2 * slot + 1] as number
      if (id === 0) return -1
      if (table[2 * slot] === hash && this.#equals(id - 1, name)) return id - 1
    }
  }

  #equals(id: number, name: string): boolean {
    const offset = this.#offsets.get(id) >>> 0
    const chunk = this.#arena[offset >>> chunkBits] as Uint8Array
    const start = (offset & (chunkBytes - 1)) + 2
    const length = this.#lengthAt(chunk, start - 2)
    if (length < name.length) return false
    for (let at = 0; at < name.length; at++) {
      const code = name.charCodeAt(at)
      if (code > 127) return this.#equalsUtf8(chunk, start, length, name)
      if (chunk[start + at] !== code) return false
    }
    return length === name.length
  }

  #equalsUtf8(chunk: Uint8Array, start: number, length: number, name: string): boolean {
    const bytes = utf8.encode(name)
    if (bytes.length !== length) return false
    for (let at = 0; at < length; at++) if (chunk[start + at] !== bytes[at]) return false
    return true
  }

  #lengthAt(chunk: Uint8Array, at: number): number {
    return (chunk[at] as number) | ((chunk[at + 1] as number) << 8)
  }

  /** Writes a record (two bytes of length, then UTF-8); a record never crosses chunks. Returns its address. */
  #append(name: string): number {
    const ascii = isAscii(name)
    const bytes = ascii ? undefined : utf8.encode(name)
    const length = bytes?.length ?? name.length
    if (length > 0xffff) throw new RangeError(`a name of ${length} bytes`)
    const chunk = this.#reserve(length + 2)
    const start = this.#used
    chunk[start] = length & 0xff
    chunk[start + 1] = length >>> 8
    if (bytes !== undefined) chunk.set(bytes, start + 2)
    else for (let at = 0; at < length; at++) chunk[start + 2 + at] = name.charCodeAt(at)
    this.#used += length + 2
    return (this.#arena.length - 1) * chunkBytes + start
  }

  /** The last chunk, with room for so many bytes after `#used`. */
  #reserve(need: number): Uint8Array {
    const index = this.#arena.length - 1
    const chunk = this.#arena[index] as Uint8Array
    if (this.#used + need <= chunk.length) return chunk
    if (chunk.length < chunkBytes && this.#used + need <= chunkBytes) {
      let length = chunk.length
      while (length < this.#used + need) length *= 2
      const grown = new Uint8Array(length)
      grown.set(chunk)
      this.#arena[index] = grown
      return grown
    }
    const next = new Uint8Array(chunkBytes)
    this.#arena.push(next)
    this.#used = 0
    return next
  }

  #insert(hash: number, id: number): void {
    const segment = this.#segment(hash)
    if (3 * segment.count >= segment.table.length) {
      const old = segment.table
      segment.table = new Int32Array(2 * old.length)
      for (let at = 0; at < old.length; at += 2)
        if (old[at + 1] !== 0) this.#place(segment.table, old[at] as number, old[at + 1] as number)
    }
    this.#place(segment.table, hash, id + 1)
    segment.count++
  }

  #place(table: Int32Array, hash: number, value: number): void {
    const mask = (table.length >> 1) - 1
    let slot = hash & mask
    while (table[2 * slot + 1] !== 0) slot = (slot + 1) & mask
    table[2 * slot] = hash
    table[2 * slot + 1] = value
  }

  #split(): void {
    const old = (this.#segments[0] as Segment).table
    this.#segments = Array.from({ length: segmentCount }, segmentOf)
    for (let at = 0; at < old.length; at += 2) {
      const id = old[at + 1] as number
      if (id !== 0) this.#insert(old[at] as number, id - 1)
    }
  }
}

function isAscii(text: string): boolean {
  for (let at = 0; at < text.length; at++) if (text.charCodeAt(at) > 127) return false
  return true
}
