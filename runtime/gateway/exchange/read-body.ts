import { Refused } from "../../policies/messages/answer.ts"
import { BodyFailure, type RequestBody } from "./request-body.ts"

/** Reads the client's whole body. Rejects with Refused when it is too large or too slow. */
export function readBody(body: RequestBody): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = []
    let whole = false
    body.on("data", (chunk: Buffer) => chunks.push(chunk))
    body.once("end", () => {
      whole = true
      resolve(chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks))
    })
    body.once("error", (error: Error) =>
      reject(error instanceof BodyFailure ? new Refused(error.problem) : error),
    )
    // The exchange has ended without the whole body; this promise must settle nevertheless.
    body.once("close", () => {
      if (!whole) reject(new Refused(new BodyFailure("client-gone").problem))
    })
  })
}
