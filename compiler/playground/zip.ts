import type { ProjectTexts } from "./protocol.ts"

const encoder = new TextEncoder()

const table = Uint32Array.from({ length: 256 }, (_, byte) => {
  let value = byte
  for (let bit = 0; bit < 8; bit++) value = value & 1 ? (value >>> 1) ^ 0xedb88320 : value >>> 1
  return value
})

function crcOf(bytes: Uint8Array): number {
  let crc = 0xffffffff
  for (const byte of bytes) crc = (crc >>> 8) ^ (table[(crc ^ byte) & 0xff] as number)
  return ~crc >>> 0
}

/** A ZIP archive of texts (APPNOTE 6.3), uncompressed, with names in UTF-8 and the date 1980-01-01, so that equal projects give equal bytes. */
export function zipOf(texts: ProjectTexts): Uint8Array<ArrayBuffer> {
  const parts: Uint8Array[] = []
  const directory: Uint8Array[] = []
  let at = 0
  for (const [path, text] of Object.entries(texts)) {
    const [name, content] = [encoder.encode(path), encoder.encode(text)]
    const about = [0x0800, 0, 0, 0x21, crcOf(content), content.length, content.length, name.length, 0]
    const widths = [2, 2, 2, 2, 4, 4, 4, 2, 2]
    const head = fields([0x04034b50, 20, ...about], [4, 2, ...widths])
    directory.push(
      fields([0x02014b50, 20, 20, ...about, 0, 0, 0, 0, at], [4, 2, 2, ...widths, 2, 2, 2, 4, 4]),
      name,
    )
    parts.push(head, name, content)
    at += head.length + name.length + content.length
  }
  const count = directory.length / 2
  const size = directory.reduce((sum, { length }) => sum + length, 0)
  const end = fields([0x06054b50, 0, 0, count, count, size, at, 0], [4, 2, 2, 2, 2, 4, 4, 2])
  return joined([...parts, ...directory, end])
}

/** Numbers in little-endian, each with its width in bytes. */
function fields(values: readonly number[], widths: readonly number[]): Uint8Array {
  return Uint8Array.from(
    values.flatMap((value, index) =>
      Array.from({ length: widths[index] ?? 0 }, (_, byte) => (value >>> (8 * byte)) & 0xff),
    ),
  )
}

function joined(parts: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  const all = new Uint8Array(parts.reduce((sum, { length }) => sum + length, 0))
  let at = 0
  for (const part of parts) {
    all.set(part, at)
    at += part.length
  }
  return all
}
