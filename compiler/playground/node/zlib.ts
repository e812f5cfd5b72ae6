import { Gzip } from "fflate"
import { absent } from "./absent.ts"
import { Buffer } from "./buffer.ts"
import { Transform } from "./stream.ts"

// `node:zlib`: browsers decode gzip and deflate, a library encodes gzip in pieces. There is no Brotli for programs.

type Done = (error: Error | null, result?: Uint8Array) => void
type Format = ConstructorParameters<typeof DecompressionStream>[0]
type Limits = { readonly maxOutputLength: number }
type Decode = (data: Uint8Array, limits: Limits, done: Done) => void

function decoding(format: Format): Decode {
  return (data, { maxOutputLength }, done) => {
    decoded(data, format, maxOutputLength).then(
      (content) => done(null, content),
      (error: Error) => done(error),
    )
  }
}

/** Stops when the content is larger than allowed, as Node.js does. */
async function decoded(data: Uint8Array, format: Format, bytesMax: number): Promise<Uint8Array> {
  const decoder = new DecompressionStream(format)
  const writer = decoder.writable.getWriter()
  // The reader gets the same errors.
  writer.write(new Uint8Array(data)).catch(() => undefined)
  writer.close().catch(() => undefined)
  const pieces: Uint8Array[] = []
  let length = 0
  const reader = decoder.readable.getReader()
  for (let next = await reader.read(); !next.done; next = await reader.read()) {
    length += next.value.length
    if (length > bytesMax) {
      void reader.cancel()
      throw Object.assign(new RangeError("the content is too large"), { code: "ERR_BUFFER_TOO_LARGE" })
    }
    pieces.push(next.value)
  }
  return Buffer.concat(pieces)
}

export const gunzip = decoding("gzip")
export const inflate = decoding("deflate")
export const inflateRaw = decoding("deflate-raw")
export const brotliDecompress: Decode = (_, __, done) =>
  done(new Error("a browser has no Brotli for programs"))

export const createBrotliCompress = absent("zlib.createBrotliCompress")

export const constants = {
  BROTLI_OPERATION_FLUSH: 1,
  BROTLI_PARAM_LGWIN: 2,
  BROTLI_PARAM_QUALITY: 1,
  Z_SYNC_FLUSH: 2,
}

export function createGzip({ level }: { readonly level: number }): Transform {
  const gzip = new Gzip({ level: level as 5 })
  const stream = new Transform({
    transform: (chunk: Uint8Array, _: unknown, done: () => void) => {
      gzip.push(chunk)
      done()
    },
    flush: (done: () => void) => {
      gzip.push(new Uint8Array(), true)
      done()
    },
  })
  gzip.ondata = (chunk) => void stream.push(Buffer.from(chunk))
  return Object.assign(stream, { flush: (_: unknown, done: () => void) => done() })
}
