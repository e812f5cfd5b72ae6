import type { IncomingMessage } from "node:http"

const nothing: Buffer = Buffer.alloc(0)

/**
 * Reads a request's body and gives it to `take`; undefined when it is larger than it may be: then it is not kept, and not read where its length says so. Of a client that goes
 * away meanwhile nothing is told.
 */
export function readBody(
  request: IncomingMessage,
  bytesMax: number,
  take: (body: Buffer | undefined) => void,
): void {
  // Broken off by the client: there is nobody to answer.
  request.on("error", ignore)
  if (Number(request.headers["content-length"] ?? 0) > bytesMax) {
    take(undefined)
    return
  }
  let first = nothing
  let bytes = 0
  let more: Buffer[] | undefined
  request.on("data", (chunk: Buffer) => {
    bytes += chunk.length
    if (bytes > bytesMax) {
      request.removeAllListeners("data")
      request.removeAllListeners("end")
      take(undefined)
    } else if (first === nothing) first = chunk
    else if (more === undefined) more = [first, chunk]
    else more.push(chunk)
  })
  request.on("end", () => take(more === undefined ? first : Buffer.concat(more)))
}

function ignore(): void {}
