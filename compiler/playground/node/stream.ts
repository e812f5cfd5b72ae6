import * as library from "readable-stream"

// `node:stream`: the same code as a library.
export { Readable, Transform } from "readable-stream"

/** Its types lack it. */
export const { addAbortSignal } = library as unknown as Pick<typeof import("node:stream"), "addAbortSignal">
