import { ServerResponse } from "node:http"
import { TLSSocket } from "node:tls"
import type { Reply } from "./incoming.ts"

interface Waiting {
  readonly response: ServerResponse
  readonly content: Uint8Array | string
}

/** Larger content is not copied. */
const joinedBytesMax = 16 * 1024
/** After this many responses they are written before the end of the turn: in a long turn the first would wait for all others. */
const togetherMax = 32

let waiting: Waiting[] = []

/**
 * Ends a response of known length whose head has not been sent, with its whole content. A small response is joined with its head and written at the
 * end of the turn of the event loop, together with the other responses of the turn, so that a client which wakes for the first finds the others, too.
 */
export function endWhole(response: Reply, content: Uint8Array | string): void {
  const { length } = content
  // nghttp2 joins the frames of a turn by itself.
  if (!(response instanceof ServerResponse)) {
    response.end(content)
    return
  }
  const isLarge = typeof content !== "string" && length > joinedBytesMax
  // Without a socket the response waits behind another one on the connection, or the client has disconnected.
  if (response.socket === null || response.destroyed || length === 0 || isLarge) {
    response.end(content)
    return
  }
  if (waiting.length === 0) setImmediate(endWaiting)
  waiting.push({ response, content })
  if (waiting.length >= togetherMax) endWaiting()
}

function endWaiting(): void {
  const all = waiting
  waiting = []
  for (const { response, content } of all) endJoined(response, content)
}

/**
 * Separate pieces need the slower system call, and `end(content)` adds an empty one: together a sixth of the cost of a small response. TLS never
 * writes at once: an `end()` while the content is being written adds an empty write with a system call of its own, so it waits for the content.
 */
function endJoined(response: ServerResponse, content: Uint8Array | string): void {
  const { socket } = response
  if (socket === null) {
    response.end(content)
    return
  }
  const written = socket instanceof TLSSocket ? endAfter(response) : undefined
  socket.cork()
  if (typeof content === "string") response.write(content, written)
  else response.write(latin1(content), "latin1", written)
  socket.uncork()
  if (written === undefined) response.end()
}

/** When the connection was closed meanwhile, the response must not look finished: Node passes no error then. */
function endAfter(response: ServerResponse): (error: Error | null | undefined) => void {
  return (error) => {
    const isWritten = error === null || error === undefined
    if (isWritten && response.socket?.destroyed === false) response.end()
  }
}

/** Node writes the head as text. As Latin-1 text, the bytes of the content can be joined with it unchanged. */
function latin1({ buffer, byteOffset, byteLength }: Uint8Array): string {
  return Buffer.from(buffer, byteOffset, byteLength).toString("latin1")
}
