import { isAscii, isUtf8 } from "node:buffer"
import { keysProblem } from "../../validation/json-text.ts"
import { mediaTypeOf } from "../../validation/media-type.ts"
import type { Violation } from "../../validation/violation.ts"
import type { MessageBody } from "../exchange.ts"
import { jsonTooLarge, Refused } from "../messages/answer.ts"

/** What was read of a body, or what is wrong with it: completes "the body …". */
export type Read =
  | { readonly value?: unknown; readonly violations?: readonly Violation[] }
  | { readonly problem: string }

/** Charsets in which each ASCII character is its ASCII byte. */
const likeAscii = /^(?:us-ascii|ascii|iso-?8859-\d+|latin-?1|windows-125\d)$/

const unjudged = { problem: "has an unsupported charset; only UTF-8 is supported" }

/** The body as JSON. Repeated keys are a problem, because parsers choose different ones. */
export function jsonOf(body: MessageBody): Read {
  try {
    const value = body.json()
    const problem = keysProblem(body.text(), value)
    return problem === undefined ? { value } : { problem }
  } catch (error) {
    if (error instanceof Refused && !isTooLarge(error)) return { problem: "is not JSON" }
    throw error
  }
}

function isTooLarge({ answer }: Refused): boolean {
  return answer.kind === "problem" && answer.reason === jsonTooLarge
}

/**
 * Why a body cannot be validated as text: the backend may read its charset differently. JSON is UTF-8 (RFC 8259 §8.1), and so are forms, but some
 * servers use the `charset` parameter nevertheless. XML declares its own.
 */
export function charsetProblem(
  as: string,
  content: Buffer,
  contentType: string,
): { readonly problem: string } | undefined {
  if (as !== "json" && as !== "form" && as !== "text") return undefined
  const type = mediaTypeOf(contentType)
  // A Content-Type that is invalid here may be readable elsewhere, including its charset: `charset=utf-7; charset=utf-8`.
  if (type === undefined && /charset/i.test(contentType)) return unjudged
  const charset = type?.parameters.get("charset") ?? "utf-8"
  if (/^utf-?8$/.test(charset)) return isUtf8(content) ? undefined : { problem: "is not UTF-8" }
  if (likeAscii.test(charset) && (as === "text" || isAscii(content))) return undefined
  return unjudged
}
