import { decodeSegment } from "../../policies/messages/canonical-path.ts"

/** Lower case of the decoded text; NFKC makes full-width and other compatibility forms of a letter that letter. */
export function foldedSegment(segment: string): string {
  if (/^[a-z0-9._~-]*$/.test(segment)) return segment
  return decodeSegment(segment).normalize("NFKC").toUpperCase().toLowerCase()
}
