import type { DiagnosticCode } from "./catalogue.ts"

/** The text of a file, or the finding that says why it cannot be decoded. */
export type Decoded = { readonly text: string } | ({ readonly text: undefined } & Undecodable)

/** Why bytes are not text: `detail` continues the sentence "`path` …". */
export interface Undecodable {
  readonly code: DiagnosticCode
  readonly detail: string
  /** A readable form of the bytes, and the place of the finding in it. */
  readonly seen: { readonly text: string; readonly start: number; readonly end: number }
}

/** Decodes UTF-8 strictly. Skips a byte order mark. UTF-16, UTF-32 and binary files get other findings than invalid UTF-8. */
export function decode(bytes: Uint8Array): Decoded {
  const wide = wideEncoding(bytes)
  if (wide !== undefined) {
    const seen = { text: wide.label === undefined ? "" : decodeAs(wide.label, bytes), start: 0, end: 0 }
    return { text: undefined, code: "SP0008", detail: `is ${wide.name}`, seen }
  }
  const nul = bytes.indexOf(0)
  if (nul !== -1) {
    const detail = `contains a NUL byte in line ${lineOf(bytes, nul)}`
    return { text: undefined, code: "SP0009", detail, seen: seenAt(bytes, nul) }
  }
  try {
    return { text: new TextDecoder("utf-8", { fatal: true }).decode(bytes) }
  } catch {
    return notUtf8(bytes)
  }
}

function notUtf8(bytes: Uint8Array): Decoded {
  const at = firstInvalid(bytes)
  const byte = (bytes[at] as number).toString(16).toUpperCase().padStart(2, "0")
  const seen = seenAt(bytes, at)
  const detail = `contains the byte 0x${byte} in line ${lineOf(bytes, at)}, which is not UTF-8${guess(bytes, at, seen)}`
  return { text: undefined, code: "SP0007", detail, seen }
}

/** Guesses the actual encoding: in a single-byte encoding, a non-ASCII letter usually has an ASCII character after it. */
function guess(bytes: Uint8Array, at: number, { text, start }: Undecodable["seen"]): string {
  const length = leadLength(bytes[at] as number)
  if (at > 0 && length > bytes.length - at) return "; the file ends in the middle of a character"
  const alone = (bytes[at + 1] ?? 0) < 0x80
  const letter = text[start] ?? ""
  if (!alone || !/[\p{L}\p{P}\p{S}]/u.test(letter)) return ""
  return `; the file seems to be Latin-1 or Windows-1252, where it is \`${letter}\``
}

/** The bytes before `at` decoded as UTF-8, the others with a single-byte encoding. */
function seenAt(bytes: Uint8Array, at: number): Undecodable["seen"] {
  const before = decodeAs("utf-8", bytes.subarray(0, at))
  const text = before + decodeAs("windows-1252", bytes.subarray(at))
  return { text, start: before.length, end: before.length + 1 }
}

function decodeAs(label: string, bytes: Uint8Array): string {
  return new TextDecoder(label).decode(bytes)
}

interface Wide {
  readonly name: string
  /** The label for `TextDecoder`, which does not support UTF-32. */
  readonly label: string | undefined
}

const wides = {
  little: { name: "UTF-16 (little endian)", label: "utf-16le" },
  big: { name: "UTF-16 (big endian)", label: "utf-16be" },
  four: { name: "UTF-32", label: undefined },
} satisfies Record<string, Wide>

/** UTF-16 and UTF-32, by byte order mark or by the zeros that Latin text has in them. */
function wideEncoding(bytes: Uint8Array): Wide | undefined {
  const begins = (...mark: number[]): boolean => mark.every((byte, at) => bytes[at] === byte)
  if (begins(0xff, 0xfe, 0, 0) || begins(0, 0, 0xfe, 0xff)) return wides.four
  if (begins(0xff, 0xfe)) return wides.little
  if (begins(0xfe, 0xff)) return wides.big
  // Without a byte order mark, Latin text in UTF-16 has a zero in every other byte.
  const sample = bytes.subarray(0, Math.min(bytes.length, 256) & ~1)
  const zeros = [0, 0]
  for (const [at, byte] of sample.entries()) if (byte === 0) zeros[at & 1] = (zeros[at & 1] as number) + 1
  const pairs = sample.length / 2
  const [even, odd] = zeros as [number, number]
  if (pairs < 2) return undefined
  if (odd > 0.7 * pairs && even < 0.1 * pairs) return wides.little
  return even > 0.7 * pairs && odd < 0.1 * pairs ? wides.big : undefined
}

function lineOf(bytes: Uint8Array, offset: number): number {
  let line = 1
  for (let at = bytes.indexOf(10); at !== -1 && at < offset; at = bytes.indexOf(10, at + 1)) line++
  return line
}

/** Offset of the first byte that is not part of a well-formed UTF-8 sequence (Unicode 15, table 3-7). */
function firstInvalid(bytes: Uint8Array): number {
  let at = 0
  while (at < bytes.length) {
    const length = characterLength(bytes, at)
    if (length === 0) return at
    at += length
  }
  return bytes.length - 1
}

/** The length of a character of UTF-8; 0 for invalid bytes (Unicode, table 3-7). */
function characterLength(bytes: Uint8Array, at: number): number {
  const first = bytes[at] as number
  if (first < 0x80) return 1
  const length = leadLength(first)
  if (length === 1) return 0
  const second = bytes[at + 1] ?? 0
  const low = first === 0xe0 ? 0xa0 : first === 0xf0 ? 0x90 : 0x80
  const high = first === 0xed ? 0x9f : first === 0xf4 ? 0x8f : 0xbf
  if (second < low || second > high) return 0
  for (let more = 2; more < length; more++) if (((bytes[at + more] ?? 0) & 0xc0) !== 0x80) return 0
  return length
}

/** The length of the sequence that begins with this byte; 1 for a byte that cannot begin a longer one. */
function leadLength(first: number): number {
  if (first < 0xc2 || first > 0xf4) return 1
  return first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2
}
