import * as z from "zod"
import { defineStep } from "../define-step.ts"
import { answerFields, headerOf } from "../places.ts"

/** A content coding for responses (RFC 9110 §8.4.1). Node 20 has no zstd. */
const answerCoding = z.enum(["br", "gzip"])

/** Compresses responses for clients that accept it. It decides by the request as it came; the work is done when the response is sent. */
export const compress = defineStep(
  "compress",
  { role: "observe", rehearsed: "run" },
  {
    /** The first is used when a client prefers none. */
    codings: z.array(answerCoding).min(1).max(2),
    /** Media types or ranges. */
    types: z.array(z.string().max(256)).min(1).max(100),
    bytesMin: z.number().int().min(0),
    /** Also where a page of another site may learn a secret from the length. */
    crossSite: z.boolean(),
  },
  ({ crossSite }) => {
    const judged = crossSite ? [] : ["cookie", "authorization", "sec-fetch-site"]
    const read = ["accept-encoding", ...judged].map((name) => headerOf("request", name))
    return {
      reads: crossSite ? read : [...read, "request.query:*", "request.method"],
      leaves: answerFields("vary", "content-encoding"),
    }
  },
)
