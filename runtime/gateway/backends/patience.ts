/** How long the gateway waits for slow clients. The defaults suit a public listener. */
export interface Patience {
  /** For the complete head of a request. */
  readonly headMs: number
  /** A body must send `bodyBytesMin` in every window of this length, unless the backend delays it. */
  readonly bodyWindowMs: number
  readonly bodyBytesMin: number
  /** A body gets a connection on its own when it sends `uploadBytesMin` in every window of this length; slower bodies share a few connections. */
  readonly uploadMs: number
  readonly uploadBytesMin: number
  /** For a client to read some of the bytes that wait for it. */
  readonly readerMs: number
}

export const defaultPatience: Patience = {
  headMs: 10_000,
  bodyWindowMs: 10_000,
  bodyBytesMin: 1024,
  uploadMs: 250,
  uploadBytesMin: 256,
  readerMs: 30_000,
}
