import { decodeSegment } from "../../policies/messages/canonical-path.ts"

/** The decoded text in lower case; NFKC maps full-width and other compatibility forms of a letter to that letter. */
export function foldedSegment(segment: string): string {
  if (/^[a-z0-9._~-]*$/.test(segment)) return segment
  return decodeSegment(segment).normalize("NFKC").toUpperCase().toLowerCase()
}
