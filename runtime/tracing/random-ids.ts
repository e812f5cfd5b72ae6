import { randomFillSync } from "node:crypto"

/**
 * Random bytes are fetched and written as text in blocks: for each id alone, that would cost ten times as much. An id is a part of the block's text, and
 * keeps it in memory, so blocks are small.
 */
const bytes = Buffer.alloc(1024)
let block = ""
let used = 0

/** A random id in lower-case hexadecimal: 16 bytes for a trace, 8 for a span. */
export function randomId(size: 8 | 16): string {
  const end = used + size * 2
  if (end > block.length) {
    block = randomFillSync(bytes).toString("hex")
    used = 0
    return randomId(size)
  }
  const id = block.slice(used, end)
  used = end
  return id
}
