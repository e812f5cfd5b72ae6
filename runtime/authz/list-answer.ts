import type { ApiResponse } from "./answer.ts"

/** Lists of up to this many bytes are sent at once; longer ones as fast as the client reads. */
const wholeMax = 1 << 16
const comma = Buffer.from(",")

/** Lists by name, as chunks of items in finished JSON; or objects of such lists. */
export interface PackedLists {
  readonly [name: string]: readonly Uint8Array[] | PackedLists | undefined
}

/** The part of a response with lists of finished JSON in chunks, and the fields that describe their end. Undefined fields are omitted. */
export function listAnswer(
  lists: PackedLists,
  ending: Readonly<Record<string, unknown>>,
): Pick<ApiResponse, "bytes" | "pieces"> {
  const said = JSON.stringify(ending)
  const pieces = [...piecesOf(lists, said === "{}" ? "}" : `,${said.slice(1)}`)]
  const bytes = pieces.reduce((sum, { length }) => sum + length, 0)
  return bytes <= wholeMax ? { bytes: Buffer.concat(pieces, bytes) } : { pieces }
}

/** Requires at least one list. */
function* piecesOf(lists: PackedLists, end: string): Generator<Uint8Array> {
  let before = "{"
  for (const [name, list] of Object.entries(lists)) {
    if (list === undefined) continue
    yield Buffer.from(`${before}${JSON.stringify(name)}:`)
    if (isList(list)) yield* piecesOfList(list)
    else yield* piecesOf(list, "}")
    before = ","
  }
  yield Buffer.from(end)
}

function* piecesOfList(chunks: readonly Uint8Array[]): Generator<Uint8Array> {
  let before = Buffer.from("[")
  for (const chunk of chunks) {
    yield before
    yield chunk
    before = comma
  }
  yield Buffer.from(chunks.length === 0 ? "[]" : "]")
}

function isList(list: readonly Uint8Array[] | PackedLists): list is readonly Uint8Array[] {
  return Array.isArray(list)
}
