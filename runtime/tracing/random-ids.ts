import { randomFillSync } from "node:crypto"

/** Random bytes are fetched in blocks: one call of the system costs as much as a hundred ids. */
const block = Buffer.alloc(8192)
let used = block.length

/** A random id in lower-case hexadecimal: 16 bytes for a trace, 8 for a span. */
export function randomId(bytes: 8 | 16): string {
  if (used + bytes > block.length) {
    randomFillSync(block)
    used = 0
  }
  const id = block.toString("hex", used, used + bytes)
  used += bytes
  return id
}
