import type { IncomingHttpHeaders } from "node:http"
import type { IncomingHttpHeaders as Http2Headers, ServerHttp2Stream } from "node:http2"
import type { Socket } from "node:net"
import type { IncomingRequest } from "../incoming.ts"
import type { RequestFault } from "../request-fault.ts"

/** What a client has sent as the head of a request. */
export interface Http2Head {
  readonly fields: Http2Headers
  /** All fields in order, names and values alternate. */
  readonly raw: readonly string[]
}

/** A request of HTTP/2 in the form of one of `node:http`. nghttp2 has checked it as a message (RFC 9113 §8.2, §8.3). */
export class Http2Request implements IncomingRequest {
  readonly httpVersionMajor = 2
  readonly httpVersionMinor = 0
  readonly isHttp2 = true
  readonly rawHeaders: string[]
  readonly socket: Socket
  /** `TE: trailers` (RFC 9110 §10.1.4). */
  readonly takesTrailers: boolean
  readonly stream: ServerHttp2Stream
  /** What the client has sent as the head. */
  readonly head: Http2Head
  readonly headFault: RequestFault | undefined
  #hasHost = false

  /** `headBytesMax`: largest size of the head, as HTTP/1.1 would have it. */
  constructor(stream: ServerHttp2Stream, head: Http2Head, socket: Socket, headBytesMax: number) {
    const { fields, raw } = head
    this.stream = stream
    this.head = head
    this.socket = socket
    this.takesTrailers = fields.te === "trailers"
    const { [":path"]: path = "", [":authority"]: authority } = fields
    this.rawHeaders = regularFields(raw, authority)
    this.headFault = sizeFault(path, this.rawHeaders, headBytesMax)
  }

  get method(): string | undefined {
    return this.head.fields[":method"]
  }

  /** CONNECT has no path. */
  get url(): string {
    return this.head.fields[":path"] ?? ""
  }

  /** Fields by name, with Host. Only handlers that do not read the raw ones need it. */
  get headers(): IncomingHttpHeaders {
    const { fields } = this.head
    if (!this.#hasHost) {
      this.#hasHost = true
      // Into Node's own object: a copy takes 3 µs, and handlers ask several times.
      if (fields[":authority"] !== undefined) fields.host = fields[":authority"]
    }
    return fields
  }

  get complete(): boolean {
    return this.stream.endAfterHeaders || (this.stream.readableEnded && !this.stream.aborted)
  }

  on(event: "data" | "end" | "close" | "error", listener: (chunk: Buffer) => void): this {
    this.stream.on(event, listener)
    if (event === "end") this.#callIfEnded(listener as () => void)
    return this
  }

  once(event: "end" | "close" | "error", listener: () => void): this {
    this.stream.once(event, listener)
    if (event === "end") this.#callIfEnded(listener)
    return this
  }

  off(event: "data" | "end" | "close", listener: (chunk: Buffer) => void): this {
    this.stream.off(event, listener)
    return this
  }

  removeAllListeners(event: "data" | "end"): this {
    this.stream.removeAllListeners(event)
    return this
  }

  pause(): this {
    this.stream.pause()
    return this
  }

  resume(): this {
    this.stream.resume()
    return this
  }

  /** The stream of an empty body ends at once, also when its handler is not listening yet; `node:http` waits for the handler. */
  #callIfEnded(listener: () => void): void {
    if (!this.stream.readableEnded) return
    process.nextTick(() => {
      if (!this.stream.listeners("end").includes(listener)) return
      this.stream.off("end", listener)
      listener()
    })
  }
}

/**
 * The fields of a request as HTTP/1.1 has them: `:authority` is Host, and a cookie that was sent in pieces is one field (RFC 9113 §8.2.3). A Host
 * field that equals `:authority` is dropped; with another one there are two, which is refused as in HTTP/1.1 (§8.3.1).
 */
function regularFields(raw: readonly string[], authority: string | undefined): string[] {
  const fields = authority === undefined ? [] : ["host", authority]
  let cookieAt = -1
  for (let at = 0; at < raw.length; at += 2) {
    const name = raw[at] as string
    const value = raw[at + 1] as string
    if (name.charCodeAt(0) === colon || (name === "host" && value === authority)) continue
    if (name === "cookie" && cookieAt >= 0) fields[cookieAt] += `; ${value}`
    else {
      fields.push(name, value)
      if (name === "cookie") cookieAt = fields.length - 1
    }
  }
  return fields
}

function sizeFault(path: string, fields: readonly string[], bytesMax: number): RequestFault | undefined {
  let bytes = path.length + fields.length * separatorBytes
  for (let at = 0; at < fields.length; at += 1) bytes += (fields[at] as string).length
  if (bytes <= bytesMax) return undefined
  return { name: "header-too-large", cause: `a head of ${bytes} bytes; the limit is ${bytesMax}` }
}

const colon = 0x3a
/** `: ` after a name, a line break after a value. */
const separatorBytes = 2
