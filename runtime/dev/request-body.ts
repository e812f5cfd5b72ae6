import type { IncomingMessage } from "node:http"

/** The whole body, or undefined when it is longer than `limitBytes`; the rest of a longer body is not read. */
export async function readBody(request: IncomingMessage, limitBytes: number): Promise<Buffer | undefined> {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length
    if (size > limitBytes) return undefined
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}
