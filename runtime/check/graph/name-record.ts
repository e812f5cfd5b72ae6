// A name as it lies in memory: what a search needs lies together, because a place in memory that was not read lately costs more than all the rest.

/** Before the name's UTF-8: its id in four bytes, its length in two, its mark in three. */
export const recordHead = 9
const lengthAfter = 4
const markAfter = 6
export const markMax = 0xff_ffff
/** First byte of a name nobody refers to any more; UTF-8 has no such byte. */
export const dead = 0xff

/** Bytes of the record of a name of so many. An empty one would have no byte to mark it by. */
export function recordSize(length: number): number {
  return recordHead + Math.max(1, length)
}

export function writeHead(bytes: Uint8Array, at: number, id: number, length: number, mark: number): void {
  for (let byte = 0; byte < 4; byte++) bytes[at + byte] = (id >>> (8 * byte)) & 0xff
  for (let byte = 0; byte < 2; byte++) bytes[at + lengthAfter + byte] = (length >>> (8 * byte)) & 0xff
  for (let byte = 0; byte < 3; byte++) bytes[at + markAfter + byte] = (mark >>> (8 * byte)) & 0xff
}

/** A record's id. */
export function idAt(bytes: Uint8Array, at: number): number {
  const low = (bytes[at] as number) | ((bytes[at + 1] as number) << 8)
  return low | ((bytes[at + 2] as number) << 16) | ((bytes[at + 3] as number) << 24)
}

/** A record's length. */
export function lengthAt(bytes: Uint8Array, at: number): number {
  return (bytes[at + lengthAfter] as number) | ((bytes[at + lengthAfter + 1] as number) << 8)
}

/** A record's mark. */
export function markAt(bytes: Uint8Array, at: number): number {
  const low = (bytes[at + markAfter] as number) | ((bytes[at + markAfter + 1] as number) << 8)
  return low | ((bytes[at + markAfter + 2] as number) << 16)
}

/** Does the text stand there, in ASCII? */
export function isText(bytes: Uint8Array, start: number, text: string): boolean {
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (bytes[start + at] !== code || code > 127) return false
  }
  return true
}

export function isAscii(text: string): boolean {
  for (let at = 0; at < text.length; at++) if (text.charCodeAt(at) > 127) return false
  return true
}
