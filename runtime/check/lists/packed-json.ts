import type { NamePlace } from "../graph/names.ts"
import type { JsonForm } from "../questions.ts"

const utf8 = new TextEncoder()
const noBytes = new Uint8Array(0)
const fromUtf8 = new TextDecoder("utf-8", { ignoreBOM: true })
const firstChunkBytes = 1 << 10
const chunkBytes = 1 << 16
const comma = 0x2c
const quote = 0x22
const backslash = 0x5c
const firstPrintable = 0x20
const star = 0x2a

/** A name as a string. */
export const plainForm: JsonForm = { before: '"', behind: '"', skip: 0 }

/** The items of a JSON list, made of names in place: a million of them never become strings, and a kept list takes only its bytes. */
export class PackedJson {
  readonly #before: Uint8Array
  readonly #behind: Uint8Array
  readonly #skip: number
  readonly #bare: boolean
  readonly #wildcard: Uint8Array | undefined
  readonly #decoded: ((name: string) => string) | undefined
  /** Names with this character are written differently; -1: none. */
  readonly #having: number
  readonly #chunks: Uint8Array[] = []
  #chunk = new Uint8Array(firstChunkBytes)
  #used = 0
  #bytes = 0
  #count = 0

  constructor({ before, behind, skip, bare = false, wildcard, rewritten }: JsonForm) {
    this.#before = utf8.encode(before)
    this.#behind = utf8.encode(behind)
    this.#skip = skip
    this.#bare = bare
    this.#wildcard = wildcard === undefined ? undefined : utf8.encode(wildcard)
    this.#decoded = rewritten?.decoded
    this.#having = rewritten?.having.charCodeAt(0) ?? -1
  }

  /** Number of items so far. */
  get count(): number {
    return this.#count
  }

  /** Bytes of all items. */
  get bytes(): number {
    return this.#bytes + this.#used
  }

  add({ bytes, start, end }: NamePlace, tail: Uint8Array): void {
    const suffix = this.#bare ? noBytes : tail
    this.#count++
    if (
      this.#wildcard !== undefined &&
      end - start === this.#skip + 1 &&
      bytes[start + this.#skip] === star
    ) {
      this.#addParts([this.#wildcard])
      return
    }
    const before = this.#before
    const behind = this.#behind
    this.#makeRoom(end - start + suffix.length + before.length + behind.length + 1)
    const chunk = this.#chunk
    let at = this.#used
    for (let from = 0; from < before.length; from++) chunk[at++] = before[from] as number
    for (let from = start + this.#skip; from < end; from++) {
      const byte = bytes[from] as number
      if (byte < firstPrintable || byte === quote || byte === backslash || byte === this.#having) {
        this.#addParts([before, this.#escaped(bytes.subarray(start + this.#skip, end)), suffix, behind])
        return
      }
      chunk[at++] = byte
    }
    // The suffix consists of the model's names, which need no escaping.
    for (let from = 0; from < suffix.length; from++) chunk[at++] = suffix[from] as number
    for (let from = 0; from < behind.length; from++) chunk[at++] = behind[from] as number
    chunk[at++] = comma
    this.#used = at
  }

  /** The chunks so far, each with comma-separated items and without a comma at its end. */
  chunks(): readonly Uint8Array[] {
    if (this.#used > 0) {
      // A copy, because a view would keep the rest of the chunk in memory.
      this.#push(this.#chunk.slice(0, this.#used))
      this.#chunk = noBytes
    }
    return this.#chunks
  }

  #escaped(name: Uint8Array): Uint8Array {
    const text = fromUtf8.decode(name)
    return utf8.encode(JSON.stringify(this.#decoded?.(text) ?? text).slice(1, -1))
  }

  #addParts(parts: readonly Uint8Array[]): void {
    this.#makeRoom(parts.reduce((sum, { length }) => sum + length, 1))
    for (const part of parts) {
      this.#chunk.set(part, this.#used)
      this.#used += part.length
    }
    this.#chunk[this.#used++] = comma
  }

  #makeRoom(need: number): void {
    const { length } = this.#chunk
    if (this.#used + need <= length) return
    if (length >= chunkBytes || this.#used === 0 || this.#used + need > chunkBytes) {
      if (this.#used > 0) this.#push(this.#chunk.subarray(0, this.#used))
      this.#chunk = new Uint8Array(Math.max(chunkBytes, need))
      return
    }
    const grown = new Uint8Array(Math.min(chunkBytes, Math.max(4 * length, this.#used + need)))
    grown.set(this.#chunk.subarray(0, this.#used))
    this.#chunk = grown
  }

  /** Adds a full chunk without its last comma. */
  #push(full: Uint8Array): void {
    this.#chunks.push(full.subarray(0, full.length - 1))
    this.#bytes += full.length
    this.#used = 0
  }
}

/** The names in chunks of `plainForm`, some thousand at a time. */
export function* namesOf(chunks: readonly Uint8Array[]): Generator<readonly string[]> {
  for (const chunk of chunks) yield JSON.parse(`[${fromUtf8.decode(chunk)}]`) as string[]
}
