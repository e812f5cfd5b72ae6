import { randomBytes } from "node:crypto"
import { SealingKey } from "../sealing/sealing-key.ts"
import type { RecordedRequest } from "./recorded-request.ts"

// A segment is one file: a line of JSON, then frames. A frame is the length of what follows (4 bytes, big-endian) and sealed JSON lines, one request
// each. Each frame is sealed for its segment and its number, so frames can neither be exchanged nor left out in the middle.

const format = 1
const lengthBytes = 4
/** Longer frames are never written. */
const frameBytesMax = 2 ** 26

/** How the names of segments end. */
export const segmentEnd = ".traffic"

/** The key of a record. */
export function recordKey(secret: string): SealingKey {
  return new SealingKey("record", secret)
}

/** The beginning of a new segment, and its id. */
export function newSegment(key: SealingKey): { readonly id: string; readonly head: Buffer } {
  const id = randomBytes(12).toString("base64url")
  const head = { "sallyport-traffic": format, key: key.id.toString("base64url"), segment: id }
  return { id, head: Buffer.from(`${JSON.stringify(head)}\n`) }
}

/** A frame of a segment; `at` is its number, from 0. */
export function frameOf(key: SealingKey, segment: string, at: number, lines: string): Buffer {
  const sealed = key.seal(purposeOf(segment, at), lines)
  const length = Buffer.alloc(lengthBytes)
  length.writeUInt32BE(sealed.length)
  return Buffer.concat([length, sealed])
}

function purposeOf(segment: string, at: number): string {
  return `record ${segment} ${at}`
}

/**
 * How a segment ends. `whole`: with its last frame. `torn`: its process ended while it wrote the last frame. `damaged`: a frame in the middle was altered,
 * and the rest cannot be read. `foreign`: it was sealed with another secret. `unknown`: it is no segment, or of a later version.
 */
export type SegmentEnding = "whole" | "torn" | "damaged" | "foreign" | "unknown"

/** Reads the requests of a segment; the value at the end is how it ends. */
export function* readSegment(key: SealingKey, content: Buffer): Generator<RecordedRequest, SegmentEnding> {
  const lineEnd = content.indexOf("\n")
  const head = lineEnd < 0 ? undefined : headOf(content.toString("utf8", 0, lineEnd))
  if (head === undefined) return content.length < 200 && lineEnd < 0 ? "torn" : "unknown"
  if (head.key !== key.id.toString("base64url")) return "foreign"
  let from = lineEnd + 1
  for (let at = 0; from < content.length; at += 1) {
    if (from + lengthBytes > content.length) return "torn"
    const to = from + lengthBytes + content.readUInt32BE(from)
    if (to - from > frameBytesMax) return "damaged"
    if (to > content.length) return "torn"
    const lines = key.open(purposeOf(head.segment, at), content.subarray(from + lengthBytes, to))
    if (lines === undefined) return "damaged"
    for (const line of lines.split("\n")) yield JSON.parse(line) as RecordedRequest
    from = to
  }
  return "whole"
}

function headOf(line: string): { readonly key: string; readonly segment: string } | undefined {
  try {
    const head = JSON.parse(line) as Readonly<Record<string, unknown>>
    const { key, segment } = head
    return head["sallyport-traffic"] === format && typeof key === "string" && typeof segment === "string"
      ? { key, segment }
      : undefined
  } catch {
    return undefined
  }
}
