import type { Answer } from "./answer.ts"

/** Bytes up to which a list is sent at once; a longer one goes as fast as the client reads. */
const wholeMax = 1 << 16
const comma = Buffer.from(",")

/**
 * The part of an answer that is lists whose items are JSON already, in chunks, and what is said of their end. What is undefined is left out.
 */
export function listAnswer(
  lists: Readonly<Record<string, readonly Uint8Array[] | undefined>>,
  ending: Readonly<Record<string, string | undefined>>,
): Pick<Answer, "bytes" | "pieces"> {
  const pieces: Uint8Array[] = []
  let before = "{"
  let bytes = 0
  const add = (piece: Uint8Array) => {
    pieces.push(piece)
    bytes += piece.length
  }
  for (const [name, chunks] of Object.entries(lists)) {
    if (chunks === undefined) continue
    add(Buffer.from(`${before}${JSON.stringify(name)}:[`))
    chunks.forEach((chunk, at) => {
      if (at > 0) add(comma)
      add(chunk)
    })
    before = "],"
  }
  const said = JSON.stringify(ending).slice(1)
  add(Buffer.from(said === "}" ? "]}" : `],${said}`))
  return bytes <= wholeMax ? { bytes: Buffer.concat(pieces, bytes) } : { pieces }
}
