import type { Transform } from "node:stream"
import { constants, createBrotliCompress, createGzip } from "node:zlib"
import { fieldsOfBody } from "../../plan/places.ts"
import type { AnswerCoding } from "../../policies/exchange.ts"
import { HeaderList } from "../../policies/messages/header-list.ts"
import type { ExchangeState } from "./exchange-state.ts"

/** The validator becomes weak; Content-Range of a 416 describes no body. */
const kept: ReadonlySet<string> = new Set(["etag", "content-range", "content-encoding"])
/** Fields that describe the bytes of the body before it was compressed. */
const describing = fieldsOfBody.response.filter((name) => !kept.has(name))

/** A response on its way to be compressed. */
interface Compressible {
  readonly status: number
  readonly headers: readonly string[]
  /** Bytes of the body; -1: unknown. */
  readonly length: number
}

/** The fields of a response that is compressed, or would be for other clients. */
export interface Compressed {
  readonly headers: string[]
  /** Undefined: the body is sent as it is. */
  readonly coding: AnswerCoding | undefined
}

/**
 * The response as it is sent when it may be compressed. Undefined: it never is, like a part (206), a body that has a coding already, and one
 * with `Cache-Control: no-transform` (RFC 9110 §7.7).
 */
export function compressed(
  { compression }: ExchangeState,
  { status, headers, length }: Compressible,
): Compressed | undefined {
  if (compression === undefined || status === 206) return undefined
  const list = new HeaderList([...headers])
  const type = list.get("content-type")
  if (type === undefined || !compression.covers(type)) return undefined
  if (length === 0 || (length > 0 && length < compression.bytesMin)) return undefined
  if (/\bno-transform\b/i.test(list.get("cache-control") ?? "")) return undefined
  if ((list.get("content-encoding") ?? "identity").toLowerCase() !== "identity") return undefined
  if (!/(?:^|,)\s*(?:\*|accept-encoding)\s*(?:,|$)/i.test(list.get("vary") ?? ""))
    list.append("vary", "Accept-Encoding")
  const { coding } = compression
  if (coding === undefined) return { coding: undefined, headers: list.flat }
  for (const name of describing) list.remove(name)
  // The compressed bytes are not those that a strong validator stands for (RFC 9110 §8.8.1).
  const tag = list.get("etag")
  if (tag?.startsWith('"')) list.set("etag", `W/${tag}`)
  list.set("content-encoding", coding)
  return { coding, headers: list.flat }
}

/** The body of a response while it is compressed: what is written here goes to the client. */
export class Compressor {
  readonly #encoder: Transform & { flush(kind: number): void }
  readonly #flush: number
  #flushing = false

  constructor(exchange: ExchangeState, coding: AnswerCoding) {
    this.#encoder = encoderOf(coding)
    this.#flush = coding === "br" ? constants.BROTLI_OPERATION_FLUSH : constants.Z_SYNC_FLUSH
    const encoder = this.#encoder
    const { reply } = exchange
    encoder.on("data", (chunk: Buffer) => {
      exchange.bytesSent += chunk.length
      if (reply.write(chunk)) return
      encoder.pause()
      reply.once("drain", () => encoder.resume())
    })
    encoder.once("end", () => reply.end())
    // Each ends the other when it fails; the exchange notices the end of the reply by itself.
    encoder.on("error", () => reply.destroy())
    reply.once("close", () => encoder.destroy())
  }

  /** False: wait for `drained`. */
  write(chunk: Buffer, flushes: boolean): boolean {
    const taken = this.#encoder.write(chunk)
    if (flushes) this.#flushSoon()
    return taken
  }

  end(chunk?: Buffer): void {
    this.#encoder.end(chunk)
  }

  drained(then: () => void): void {
    this.#encoder.once("drain", then)
  }

  /** What waits in the encoder is sent when the backend pauses: a line of a log has to arrive although the next is not written yet. */
  #flushSoon(): void {
    if (this.#flushing) return
    this.#flushing = true
    setImmediate(() => {
      this.#flushing = false
      if (!this.#encoder.writableEnded && !this.#encoder.destroyed) this.#encoder.flush(this.#flush)
    })
  }
}

/** Levels at which compressing takes about as long as sending; the highest ones take a hundred times longer. */
function encoderOf(coding: AnswerCoding): Transform & { flush(kind: number): void } {
  if (coding === "gzip") return createGzip({ level: 5 })
  return createBrotliCompress({
    params: { [constants.BROTLI_PARAM_QUALITY]: 4, [constants.BROTLI_PARAM_LGWIN]: 19 },
  })
}
