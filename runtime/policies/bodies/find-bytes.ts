import { positionOf } from "../../pattern/text-search.ts"

/** Maximum size of a body after replacement, in bytes. */
export const grownBytesMax = 67_108_864

/** The content, the bytes to search for, and the replacement; without `put` the job only searches. */
export interface Replacement {
  readonly content: Uint8Array
  readonly sought: Uint8Array
  readonly put: Uint8Array | undefined
  /** Whether a caller can influence `sought`. */
  readonly isForeign: boolean
}

/** Replaces every occurrence. `isFound`: whether there is one. */
export function replaced({ content, sought, put, isForeign }: Replacement): {
  readonly isFound: boolean
  readonly content?: Uint8Array
  readonly problem?: string
} {
  const bytes = Buffer.from(content.buffer, content.byteOffset, content.byteLength)
  const find = isForeign ? linear(bytes, Buffer.from(sought)) : native(bytes, sought)
  const count = occurrences(find, sought.length)
  if (count === 0 || put === undefined) return { isFound: count > 0 }
  const length = bytes.length + count * (put.length - sought.length)
  if (length > grownBytesMax)
    return { isFound: true, problem: `would have ${length} bytes after the replacement` }
  const into = Buffer.allocUnsafeSlow(length)
  fill(into, bytes, { find, cut: sought.length, put })
  return { isFound: true, content: into }
}

/** The position of the next occurrence at or after `from`; -1 when there is none. */
type Find = (from: number) => number

// Searches bytes, not characters: this finds UTF-8 text anywhere, and does not change other encodings.
function native(content: Buffer, sought: Uint8Array): Find {
  return (from) => content.indexOf(sought, from)
}

/** For search texts a caller can influence: the native search takes seconds for bodies made to slow it down. */
function linear(content: Buffer, sought: Buffer): Find {
  const [text, part] = [content.toString("latin1"), sought.toString("latin1")]
  return (from) => positionOf(text, part, from)
}

function occurrences(find: Find, length: number): number {
  let count = 0
  for (let at = find(0); at !== -1; at = find(at + length)) count++
  return count
}

/** Fills `into`, which has the size of the result, with `content` in which `put` replaces `cut` bytes at each occurrence. */
function fill(
  into: Buffer,
  content: Buffer,
  { find, cut, put }: { readonly find: Find; readonly cut: number; readonly put: Uint8Array },
): void {
  let from = 0
  let to = 0
  for (let at = find(0); at !== -1; at = find(from)) {
    if (at > from) to += content.copy(into, to, from, at)
    into.set(put, to)
    to += put.length
    from = at + cut
  }
  content.copy(into, to, from)
}
