import type { PathForms } from "../../plan/resources.ts"

/**
 * The canonical form of a path, computed once and used for matching, policies, limits, logs and forwarding. Undefined when servers could read the
 * path differently; the request is then refused. `path` has no query.
 * Kept: segments of RFC 3986 §3.3 with percent-encoding in upper case; encoded characters that need no encoding are decoded (§6.2.2). One slash at
 * the end stays.
 * Refused: no leading slash; empty segments (`//`); `.` and `..`; a space at either end of a segment or a dot at its end (some file systems drop
 * them); `\` and `;`, raw or encoded (some servers treat them as a separator and a parameter); encoded slash, control characters, NUL; a `%` that
 * encodes the `%` of another encoding (double decoding); bytes that are not UTF-8; characters that RFC 3986 does not allow raw.
 * `passes`: encoded slashes, `;` and empty segments after the first one stay as they are. A caller that passes them must check how else they could be
 * read (gateway/routes/path-readings.ts).
 */
export function canonicalPath(path: string, passes: PathForms = none): string | undefined {
  return plainPath.test(path) ? path : slowPath(path, passes)
}

const none: PathForms = {}

/** The fast path: segments of characters that need no encoding, without a dot at either end. */
const plainPath = /^(?:\/|(?:\/[\w~!$&'()*+,=:@-](?:[\w.~!$&'()*+,=:@-]*[\w~!$&'()*+,=:@-])?)+\/?)$/

const literal = /^[\w.~!$&'()*+,=:@-]*$/
const refusedWhenEncoded = /^(?:[01][0-9A-F]|2F|3B|5C|7F)$/
const doubleEncoding = /%25[0-9A-Fa-f]{2}/
const segmentEdge = /^%20|(?:\.|%20)$/

/** Canonicalises segment by segment. Undefined for a path that a backend could read in another way. */
function slowPath(path: string, passes: PathForms): string | undefined {
  if (!path.startsWith("/")) return undefined
  const segments = path.split("/")
  const canonical: string[] = [""]
  for (let at = 1; at < segments.length; at += 1) {
    const segment = segments[at] as string
    if (segment === "") {
      // Some URL parsers read what follows two leading slashes as a host.
      if (at !== segments.length - 1 && (at === 1 || passes.emptySegments !== true)) return undefined
      canonical.push("")
      continue
    }
    const spelled = canonicalSegment(segment, passes)
    if (spelled === undefined || doubleEncoding.test(spelled) || segmentEdge.test(spelled)) return undefined
    canonical.push(spelled)
  }
  return canonical.join("/")
}

/** A segment with unreserved characters decoded and others in upper-case escapes (RFC 3986, section 6.2.2). */
function canonicalSegment(segment: string, passes: PathForms): string | undefined {
  if (literal.test(segment)) return segment
  let spelled = ""
  for (let at = 0; at < segment.length; at += 1) {
    const character = segment[at] as string
    if (character !== "%") {
      if (!literal.test(character) && !(character === ";" && passes.pathParameters)) return undefined
      spelled += character
      continue
    }
    const hex = segment.slice(at + 1, at + 3).toUpperCase()
    if (!/^[0-9A-F]{2}$/.test(hex) || (refusedWhenEncoded.test(hex) && !isPassed(hex, passes)))
      return undefined
    const decoded = String.fromCharCode(Number.parseInt(hex, 16))
    spelled += literal.test(decoded) ? decoded : `%${hex}`
    at += 2
  }
  return isUtf8(spelled) ? spelled : undefined
}

function isPassed(hex: string, passes: PathForms): boolean {
  return (hex === "2F" && passes.encodedSlash === true) || (hex === "3B" && passes.pathParameters === true)
}

/** decodeURIComponent refuses bytes that are not UTF-8, including overlong forms and surrogates. */
function isUtf8(spelled: string): boolean {
  try {
    // Some parsers treat C1 controls and Unicode separators as line ends or spaces.
    return !/[\u0080-\u009f\u2028\u2029\ufeff]/.test(decodeURIComponent(spelled))
  } catch {
    return false
  }
}

/** A segment of a canonical path, decoded. */
export function decodeSegment(segment: string): string {
  return segment.includes("%") ? decodeURIComponent(segment) : segment
}
