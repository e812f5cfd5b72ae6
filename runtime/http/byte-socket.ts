/** A connection as tunnels use it: a part of a socket of `node:net`. */
export interface ByteSocket {
  on(event: "data", listener: (chunk: Buffer) => void): unknown
  on(event: "drain" | "error", listener: () => void): unknown
  once(event: "close" | "end", listener: () => void): unknown
  /** False: wait for `drain`. */
  write(chunk: Buffer): boolean
  /** Nothing more will be written. */
  end(): unknown
  pause(): unknown
  resume(): unknown
  /** Closes the connection after everything has been sent. */
  destroySoon(): void
  /** Closes the connection at once. */
  destroy(): unknown
}
