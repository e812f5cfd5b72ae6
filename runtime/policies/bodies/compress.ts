import { fitOf, mediaTypeOf } from "../../validation/media-type.ts"
import type { AnswerCoding, AnswerCompression, Exchange } from "../exchange.ts"
import type { Policy } from "../policy.ts"

/**
 * Chooses how the response will be compressed, from `Accept-Encoding` as the client sent it (RFC 9110 §12.5.3).
 *
 * A page of another site can make a browser send text of its choice together with the cookies of its user. If the response contains that
 * text beside a secret, its compressed length tells the secret bit by bit (BREACH). So such a response is sent as it is, unless the plan
 * says otherwise.
 */
export const compress: Policy<"compress"> = (plan) => {
  const ranges = plan.types.map(mediaTypeOf)
  const covers = (contentType: string): boolean => {
    const type = mediaTypeOf(contentType)
    if (type === undefined) return false
    // Each event has to arrive at once, so `text/*` does not mean event streams.
    const isEvents = type.type === "text" && type.subtype === "event-stream"
    return ranges.some((range) => range !== undefined && fitOf(range, type) > (isEvents ? 2 : 0))
  }
  const { codings, bytesMin, crossSite } = plan
  const unchanged: AnswerCompression = { coding: undefined, bytesMin, covers }
  const byCoding = new Map(codings.map((coding) => [coding, { coding, bytesMin, covers }]))
  return (exchange) => {
    const coding = acceptedCoding(exchange.headers.get("accept-encoding"), codings)
    const isSafe = coding !== undefined && (crossSite || !tellsSecrets(exchange))
    exchange.compression = (isSafe ? byCoding.get(coding) : undefined) ?? unchanged
    return undefined
  }
}

/** Whether a page of another site can have made this request with a credential that the browser adds by itself. */
function tellsSecrets({ headers, method, originalQuery, peer }: Exchange): boolean {
  const site = headers.get("sec-fetch-site")
  // Pages cannot set this field, and browsers send it with every request over TLS (Fetch Metadata).
  if (site === "same-origin" || site === "none") return false
  const isChosen = originalQuery !== "" || (method !== "GET" && method !== "HEAD")
  if (!isChosen) return false
  return (
    peer !== undefined ||
    headers.get("cookie") !== undefined ||
    hasBrowserPassword(headers.get("authorization"))
  )
}

/** Browsers send a password that was entered once to the site again by themselves, but never a token. */
function hasBrowserPassword(authorization: string | undefined): boolean {
  return authorization !== undefined && /^(?:basic|digest|negotiate)\b/i.test(authorization)
}

/** The accepted coding with the highest weight, the first of the plan among equals. Undefined: none is accepted, or the body as it is is preferred. */
function acceptedCoding(
  field: string | undefined,
  codings: readonly AnswerCoding[],
): AnswerCoding | undefined {
  if (field === undefined) return undefined
  const weights = weightsOf(field)
  let [best, bestWeight] = [undefined as AnswerCoding | undefined, 0]
  for (const coding of codings) {
    const weight = weights.get(coding) ?? weights.get("*") ?? 0
    if (weight > bestWeight) [best, bestWeight] = [coding, weight]
  }
  return (weights.get("identity") ?? 0) > bestWeight ? undefined : best
}

function weightsOf(field: string): Map<string, number> {
  const weights = new Map<string, number>()
  for (const part of field.toLowerCase().split(",")) {
    const [, name = "", weight = "1"] =
      /^\s*([\w*-]+)\s*(?:;\s*q=(0(?:\.\d{0,3})?|1(?:\.0{0,3})?)\s*)?$/.exec(part) ?? []
    // `x-gzip` is the same (RFC 9110 §8.4.1.3). A part that cannot be read counts as not accepted.
    if (name !== "") weights.set(name === "x-gzip" ? "gzip" : name, Number(weight))
  }
  return weights
}
