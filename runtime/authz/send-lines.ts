import type { ServerResponse } from "node:http"

/** Writes pieces as fast as the client reads: while its socket is full nothing is taken from the source, and when it goes away nothing any more. */
export function sendLines(response: ServerResponse, pieces: Iterable<string | Uint8Array>): void {
  const source = pieces[Symbol.iterator]()
  const pump = () => {
    while (!response.destroyed) {
      const piece = source.next()
      if (piece.done === true) {
        response.end()
        return
      }
      if (!response.write(piece.value)) return
    }
  }
  // In a turn of its own: while the system takes all there is, nobody else would have one.
  response.on("drain", () => setImmediate(pump))
  pump()
}
