import { isAscii, isUtf8 } from "node:buffer"
import { mediaTypeOf } from "../../validation/media-type.ts"

/** Of these each ASCII character is the byte it is in ASCII. */
const likeAscii = /^(?:us-ascii|ascii|iso-?8859-\d+|latin-?1|windows-125\d)$/

const unjudged = { problem: "has a charset that is not judged; UTF-8 is" }

/**
 * Why a body can't be judged as text: it is in a charset in which whoever is behind the gateway may read something else than what was judged. JSON is UTF-8 (RFC 8259 §8.1),
 * and so are forms; some servers go by the `charset` that is said nevertheless. XML says its own.
 */
export function charsetProblem(
  as: string,
  content: Buffer,
  contentType: string,
): { readonly problem: string } | undefined {
  if (as !== "json" && as !== "form" && as !== "text") return undefined
  const type = mediaTypeOf(contentType)
  // Others may read a field that we cannot, and the charset in it: `charset=utf-7; charset=utf-8`.
  if (type === undefined && /charset/i.test(contentType)) return unjudged
  const charset = type?.parameters.get("charset") ?? "utf-8"
  if (/^utf-?8$/.test(charset)) return isUtf8(content) ? undefined : { problem: "is not UTF-8" }
  if (likeAscii.test(charset) && (as === "text" || isAscii(content))) return undefined
  return unjudged
}
