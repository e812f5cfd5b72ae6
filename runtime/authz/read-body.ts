import type { IncomingMessage } from "node:http"

/** What becomes of a body: the whole of it, or (once) the news that it is too large. A client that goes away meanwhile is told to nobody. */
export interface BodyReader {
  readonly bytesMax: number
  readonly whole: (body: Buffer) => void
  readonly tooLarge: () => void
}

const nothing: Buffer = Buffer.alloc(0)

/** Reads a request's body; what is too large is not kept, and not read where its length says so. */
export function readBody(request: IncomingMessage, { bytesMax, whole, tooLarge }: BodyReader): void {
  // Broken off by the client: there is nobody to answer.
  request.on("error", ignore)
  if (Number(request.headers["content-length"] ?? 0) > bytesMax) {
    tooLarge()
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
      tooLarge()
    } else if (first === nothing) first = chunk
    else if (more === undefined) more = [first, chunk]
    else more.push(chunk)
  })
  request.on("end", () => whole(more === undefined ? first : Buffer.concat(more)))
}

function ignore(): void {}
