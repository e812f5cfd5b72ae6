/** How long a gateway waits for slow clients. Named and settable; the defaults fit a public listener. */
export interface Patience {
  /** For the head of a request to be complete. */
  readonly headMs: number
  /** A body has to bring `bodyBytesMin` in every window of this length, unless the backend holds it up. */
  readonly bodyWindowMs: number
  readonly bodyBytesMin: number
  /** A body takes a connection of its own accord when it brings `uploadBytesMin` in every window of this length; a slower one has to find room among few. */
  readonly uploadMs: number
  readonly uploadBytesMin: number
  /** For a client to take some of the bytes that wait for it. */
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
