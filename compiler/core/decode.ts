import type { Code } from "./catalogue.ts"

/** The text of a file, or the finding that says why it has none; `detail` continues the sentence "`path` …". */
export type Decoded =
  | { readonly text: string }
  | { readonly text: undefined; readonly code: Code; readonly detail: string }

/** Decodes UTF-8 strictly. A byte order mark is skipped; UTF-16, UTF-32 and binary files are told apart from bad UTF-8. */
export function decode(bytes: Uint8Array): Decoded {
  const wide = wideEncoding(bytes)
  if (wide !== undefined) return { text: undefined, code: "SP0008", detail: `is ${wide}` }
  const nul = bytes.indexOf(0)
  if (nul !== -1)
    return { text: undefined, code: "SP0009", detail: `holds a NUL byte in line ${lineOf(bytes, nul)}` }
  try {
    return { text: new TextDecoder("utf-8", { fatal: true }).decode(bytes) }
  } catch {
    const at = firstInvalid(bytes)
    const byte = (bytes[at] as number).toString(16).toUpperCase().padStart(2, "0")
    return {
      text: undefined,
      code: "SP0007",
      detail: `holds the byte 0x${byte} in line ${lineOf(bytes, at)}, which is not UTF-8`,
    }
  }
}

function wideEncoding(bytes: Uint8Array): string | undefined {
  const begins = (...mark: number[]): boolean => mark.every((byte, at) => bytes[at] === byte)
  if (begins(0xff, 0xfe, 0, 0) || begins(0, 0, 0xfe, 0xff)) return "UTF-32"
  if (begins(0xff, 0xfe) || begins(0xfe, 0xff)) return "UTF-16"
  // Without a mark, Latin text shows by a zero in every other byte.
  const sample = bytes.subarray(0, Math.min(bytes.length, 256) & ~1)
  const zeros = [0, 0]
  for (const [at, byte] of sample.entries()) if (byte === 0) zeros[at & 1] = (zeros[at & 1] as number) + 1
  const pairs = sample.length / 2
  const [even, odd] = zeros as [number, number]
  const lopsided = (odd > 0.7 * pairs && even < 0.1 * pairs) || (even > 0.7 * pairs && odd < 0.1 * pairs)
  return pairs >= 2 && lopsided ? "UTF-16" : undefined
}

function lineOf(bytes: Uint8Array, offset: number): number {
  let line = 1
  for (let at = bytes.indexOf(10); at !== -1 && at < offset; at = bytes.indexOf(10, at + 1)) line++
  return line
}

/** Offset of the first byte that no character of UTF-8 begins or goes on with (Unicode 15, table 3-7). */
function firstInvalid(bytes: Uint8Array): number {
  let at = 0
  while (at < bytes.length) {
    const length = characterLength(bytes, at)
    if (length === 0) return at
    at += length
  }
  return bytes.length - 1
}

function characterLength(bytes: Uint8Array, at: number): number {
  const first = bytes[at] as number
  if (first < 0x80) return 1
  const length = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2
  if (first < 0xc2 || first > 0xf4) return 0
  const second = bytes[at + 1] ?? 0
  const low = first === 0xe0 ? 0xa0 : first === 0xf0 ? 0x90 : 0x80
  const high = first === 0xed ? 0x9f : first === 0xf4 ? 0x8f : 0xbf
  if (second < low || second > high) return 0
  for (let more = 2; more < length; more++) if (((bytes[at + more] ?? 0) & 0xc0) !== 0x80) return 0
  return length
}
