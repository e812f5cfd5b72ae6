import { positionOf } from "../../pattern/text-search.ts"

/** What an answer or request may become by what is put into it. */
export const grownBytesMax = 67_108_864

/** Bytes, what is sought in them, and what is put in its place; without `put` they are only searched. */
export interface Replacement {
  readonly content: Uint8Array
  readonly sought: Uint8Array
  readonly put: Uint8Array | undefined
  /** Whether a caller may bring `sought`. */
  readonly isForeign: boolean
}

/** The bytes with every occurrence replaced. `isFound`: whether there is one. */
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
    return { isFound: true, problem: `would have ${length} bytes when it is replaced` }
  const into = Buffer.allocUnsafeSlow(length)
  fill(into, bytes, { find, cut: sought.length, put })
  return { isFound: true, content: into }
}

/** Where the next one is from a place on; -1 where there is none. */
type Find = (from: number) => number

// Bytes, not characters: a text in UTF-8 is found in it wherever it stands, and other encodings are left alone.
function native(content: Buffer, sought: Uint8Array): Find {
  return (from) => content.indexOf(sought, from)
}

/** Of what a caller may bring: the other one takes seconds for bodies that are made for it. */
function linear(content: Buffer, sought: Buffer): Find {
  const [text, part] = [content.toString("latin1"), sought.toString("latin1")]
  return (from) => positionOf(text, part, from)
}

function occurrences(find: Find, length: number): number {
  let count = 0
  for (let at = find(0); at !== -1; at = find(at + length)) count++
  return count
}

/** Fills `into`, which is as long as the result: `put` in the place of `cut` bytes. */
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
