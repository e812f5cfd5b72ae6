import { connect, type Socket } from "node:net"

/** Types of frames (RFC 9113 §6). */
export const frameTypes = {
  data: 0,
  headers: 1,
  priority: 2,
  reset: 3,
  settings: 4,
  ping: 6,
  goaway: 7,
  windowUpdate: 8,
  continuation: 9,
} as const

/** Flags of frames: the end of a stream, the end of its fields, and a reply to SETTINGS or PING. */
export const frameFlags = { endStream: 1, ack: 1, endHeaders: 4 } as const

/** A frame as bytes. */
export function frame(
  type: number,
  flags: number,
  stream: number,
  payload: Buffer = Buffer.alloc(0),
): Buffer {
  const head = Buffer.alloc(9)
  head.writeUIntBE(payload.length, 0, 3)
  head.writeUInt8(type, 3)
  head.writeUInt8(flags, 4)
  head.writeUInt32BE(stream, 5)
  return Buffer.concat([head, payload])
}

/** Fields as literals without indexing (RFC 7541 §6.2.2). Names and values alternate, each shorter than 127 bytes. */
export function fieldBlock(...fields: readonly string[]): Buffer {
  const pieces: Buffer[] = []
  fields.forEach((text, at) => {
    if (at % 2 === 0) pieces.push(Buffer.from([0]))
    pieces.push(Buffer.from([text.length]), Buffer.from(text, "latin1"))
  })
  return Buffer.concat(pieces)
}

/** A request without a body; `more` are further fields. */
export function requestFrame(stream: number, path: string, ...more: readonly string[]): Buffer {
  const block = fieldBlock(":method", "GET", ":scheme", "http", ":path", path, ":authority", "a", ...more)
  return frame(frameTypes.headers, frameFlags.endStream | frameFlags.endHeaders, stream, block)
}

/** RST_STREAM with a code of RFC 9113 §7. */
export function resetFrame(stream: number, code: number): Buffer {
  const payload = Buffer.alloc(4)
  payload.writeUInt32BE(code)
  return frame(frameTypes.reset, 0, stream, payload)
}

/** A frame that the server sent. */
export interface ReceivedFrame {
  readonly type: number
  readonly flags: number
  readonly stream: number
  readonly payload: Buffer
}

/** A connection of HTTP/2 made of single frames: it has sent its preface, and reads all that comes. */
export class FrameClient {
  readonly socket: Socket
  readonly received: ReceivedFrame[] = []
  closed = false
  #rest: Buffer = Buffer.alloc(0)

  constructor(port: number) {
    this.socket = connect(port, "127.0.0.1")
    this.socket.on("error", () => undefined)
    this.socket.on("close", () => {
      this.closed = true
    })
    this.socket.on("data", (bytes: Buffer) => this.#take(bytes))
    this.send(Buffer.from("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"), frame(frameTypes.settings, 0, 0))
  }

  /** Sends frames in one write. False: wait for `drain`. */
  send(...frames: readonly Buffer[]): boolean {
    return this.socket.write(Buffer.concat(frames))
  }

  /** The codes of the GOAWAY frames that came. */
  get goaways(): number[] {
    return this.received
      .filter(({ type }) => type === frameTypes.goaway)
      .map(({ payload }) => payload.readUInt32BE(4))
  }

  /** The codes of the RST_STREAM frames that came, by stream. */
  get resets(): ReadonlyMap<number, number> {
    const resets = this.received.filter(({ type }) => type === frameTypes.reset)
    return new Map(resets.map(({ stream, payload }) => [stream, payload.readUInt32BE(0)]))
  }

  #take(bytes: Buffer): void {
    this.#rest = Buffer.concat([this.#rest, bytes])
    for (;;) {
      const end = this.#rest.length < 9 ? Number.POSITIVE_INFINITY : 9 + this.#rest.readUIntBE(0, 3)
      if (this.#rest.length < end) return
      const [type, flags] = [this.#rest.readUInt8(3), this.#rest.readUInt8(4)]
      this.received.push({
        type,
        flags,
        stream: this.#rest.readUInt32BE(5),
        payload: this.#rest.subarray(9, end),
      })
      this.#rest = this.#rest.subarray(end)
    }
  }
}
