import * as library from "readable-stream"

// `node:stream`: the same code as a library, whose types lack one function.

export const { Readable, Transform } = library
export type Transform = library.Transform
export const { addAbortSignal } = library as unknown as {
  readonly addAbortSignal: (signal: AbortSignal, stream: object) => object
}
