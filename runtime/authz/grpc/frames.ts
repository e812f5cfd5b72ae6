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
   * The messages that the piece completes.
   * @throws ApiError for a message that is too large or compressed
   */
  push(piece: Buffer): Buffer[] {
    this.#pieces.push(piece)
    this.#bytes += piece.length
    const messages: Buffer[] = []
    while (this.#bytes >= prefixBytes) {
      const prefix = this.#joined(prefixBytes)
      if (prefix[0] !== 0) throw unimplemented("compressed messages are not supported; send them without")
      const length = prefix.readUInt32BE(1)
      if (length > this.#bytesMax)
        throw resourceExhausted(`grpc: received message larger than max (${length} vs. ${this.#bytesMax})`)
      if (this.#bytes < prefixBytes + length) break
      const bytes = this.#joined(prefixBytes + length)
      messages.push(bytes.subarray(prefixBytes, prefixBytes + length))
      const rest = bytes.subarray(prefixBytes + length)
      this.#pieces = rest.length === 0 ? [] : [rest]
      this.#bytes = rest.length
    }
    return messages
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
