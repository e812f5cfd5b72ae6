import { Refused } from "../../policies/messages/answer.ts"
import { BodyFailure, type RequestBody } from "./request-body.ts"

/** Reads all of the client's body. Rejects with Refused when it is too large or comes too slowly. */
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
    // The exchange has ended: nobody waits for an answer, but whoever waits here must go on.
    body.once("close", () => {
      if (!whole) reject(new Refused(new BodyFailure("client-gone").problem))
    })
  })
}
