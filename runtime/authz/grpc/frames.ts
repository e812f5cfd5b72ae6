import { resourceExhausted, unimplemented } from "./status.ts"
import { MalformedMessage } from "./wire-values.ts"

/** Before each message: whether it is compressed (one byte), and its length (four bytes). */
const prefixBytes = 5
const none: Buffer = Buffer.alloc(0)

/** Puts the messages of a call together from pieces of its body ("Length-Prefixed-Message" of gRPC over HTTP/2). */
export class FrameReader {
  readonly #bytesMax: number
  /** Pieces of a message that is not complete, and their size. */
  #pieces: Buffer[] = []
  #bytes = 0

  /** `bytesMax`: largest size of one message. */
  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax
  }

  /** Whether a message is incomplete. */
  get isWithin(): boolean {
    return this.#bytes > 0
  }

  /**
   * Gives `take` each message that the piece completes.
   * @throws ApiError for a message that is too large or compressed, and what `take` throws
   */
  push(piece: Buffer, take: (message: Buffer) => void): void {
    this.#pieces.push(piece)
    this.#bytes += piece.length
    while (this.#bytes >= prefixBytes) {
      const prefix = this.#joined(prefixBytes)
      if (prefix[0] !== 0) throw unimplemented("compressed messages are not supported; send them without")
      const length = prefix.readUInt32BE(1)
      if (length > this.#bytesMax)
        throw resourceExhausted(`grpc: received message larger than max (${length} vs. ${this.#bytesMax})`)
      const end = prefixBytes + length
      if (this.#bytes < end) return
      const bytes = this.#joined(end)
      this.#pieces = bytes.length === end ? [] : [bytes.subarray(end)]
      this.#bytes -= end
      take(bytes.subarray(prefixBytes, end))
    }
  }

  /** @throws MalformedMessage when the body ended within a message */
  end(): void {
    if (this.isWithin) throw new MalformedMessage("the body ends within it")
  }

  /** All bytes so far in one piece, if the first has fewer than `bytes`. */
  #joined(bytes: number): Buffer {
    const [first = none] = this.#pieces
    if (first.length >= bytes) return first
    const all = Buffer.concat(this.#pieces, this.#bytes)
    this.#pieces = [all]
    return all
  }
}

/** A message with its prefix, as it is sent. */
export function frameOf(message: Uint8Array): Buffer {
  const frame = Buffer.allocUnsafe(prefixBytes + message.length)
  frame[0] = 0
  frame.writeUInt32BE(message.length, 1)
  frame.set(message, prefixBytes)
  return frame
}
