import type { Socket } from "node:net"

/** CPU time for handshakes in a turn of the event loop: a handshake takes 0.7 ms (P-256) to 1.1 ms (RSA-2048), and requests wait meanwhile. */
const turnMs = 5

/**
 * The TLS handshakes that wait for CPU time. Many that begin at once share the event loop with requests, and addresses take turns, so a client that opens
 * thousands of connections delays its own.
 */
export class HandshakeQueue {
  readonly #waiting = new Map<string, { readonly socket: Socket; readonly begin: () => void }[]>()
  #scheduled = false

  /** Calls `begin` when it is the turn of the address; never when the connection was closed before. */
  add(address: string, socket: Socket, begin: () => void): void {
    const own = this.#waiting.get(address)
    if (own === undefined) this.#waiting.set(address, [{ socket, begin }])
    else own.push({ socket, begin })
    this.#schedule()
  }

  #schedule(): void {
    if (this.#scheduled) return
    this.#scheduled = true
    setImmediate(() => {
      this.#scheduled = false
      this.#turn()
      if (this.#waiting.size > 0) this.#schedule()
    })
  }

  #turn(): void {
    const endMs = performance.now() + turnMs
    while (performance.now() < endMs) {
      const first = this.#waiting.entries().next().value
      if (first === undefined) return
      const [address, own] = first
      const next = own.shift()
      // Behind the other addresses; without waiting connections it is forgotten.
      this.#waiting.delete(address)
      if (own.length > 0) this.#waiting.set(address, own)
      if (next !== undefined && !next.socket.destroyed) next.begin()
    }
  }
}

/** One for all listeners of the process, because they share its CPU. */
export const handshakes = new HandshakeQueue()
