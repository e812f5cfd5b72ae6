import { cr, isValue, lf } from "./characters.ts"
import { isFraming, malformed, readFields } from "./response-head.ts"

/** Receives the decoded bytes. */
export interface BodySink {
  onBody(bytes: Buffer): void
}

/** Up to 2^52 bytes; no real chunk is larger. */
const digitsMax = 13
/** Maximum size of all chunk extensions of a response together: they are not used in practice, and each could be longer than its chunk. */
const extensionBytesMax = 16 * 1024
const trailerBytesMax = 64 * 1024
const semicolon = 59
/** Without spaces, and without backslashes in quotes. Extensions are ignored, but their end must be unambiguous. */
const extensions =
  /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+(?:=(?:[!#$%&'*+\-.^_`|~0-9A-Za-z]+|"[^"\\]*"))?(?:;[!#$%&'*+\-.^_`|~0-9A-Za-z]+(?:=(?:[!#$%&'*+\-.^_`|~0-9A-Za-z]+|"[^"\\]*"))?)*$/

type State = "size" | "extension" | "size-end" | "data" | "data-end" | "data-line" | "trailer"

/** Decodes chunks (RFC 9112 §7.1) as their bytes arrive. Sizes and line ends must have exactly the standard form. */
export class ChunkedBody {
  readonly #sink: BodySink
  #state: State = "size"
  #left = 0
  #digits = 0
  #extensionBytes = 0
  /** The text after the first semicolon. */
  #extension = ""
  #trailer = ""
  /** Trailer fields, names and values alternate; set once the body is complete. */
  trailers: readonly string[] | undefined

  constructor(sink: BodySink) {
    this.#sink = sink
  }

  /**
   * Takes bytes from an offset; returns where the message ended, or -1 when it continues.
   * @throws UpstreamError
   */
  push(bytes: Buffer, from: number): number {
    let at = from
    while (at < bytes.length) {
      if (this.#state === "data") at = this.#data(bytes, at)
      else if (this.#state === "trailer") return this.#trailers(bytes, at)
      else {
        this.#sign(bytes[at] as number)
        at += 1
      }
    }
    return -1
  }

  #data(bytes: Buffer, from: number): number {
    const end = Math.min(bytes.length, from + this.#left)
    this.#left -= end - from
    if (this.#left === 0) this.#state = "data-end"
    this.#sink.onBody(bytes.subarray(from, end))
    return end
  }

  /** One byte of a size line, or of the end of a chunk. */
  #sign(code: number): void {
    switch (this.#state) {
      case "size":
        this.#sizeSign(code)
        return
      case "extension":
        this.#extensionSign(code)
        return
      case "size-end":
        if (code !== lf) throw malformed("a chunk's size does not end in CRLF")
        this.#state = this.#left === 0 ? "trailer" : "data"
        return
      case "data-end":
        if (code !== cr) throw malformed("a chunk does not end at its declared size")
        this.#state = "data-line"
        return
      default:
        if (code !== lf) throw malformed("a chunk does not end at its declared size")
        this.#state = "size"
        this.#digits = 0
    }
  }

  /** A chunk extension is checked and dropped. */
  #extensionSign(code: number): void {
    if (code === cr) {
      if (!extensions.test(this.#extension)) throw malformed("a chunk extension is invalid")
      this.#extension = ""
      this.#state = "size-end"
      return
    }
    this.#extensionBytes += 1
    if (isValue[code] !== 1 || this.#extensionBytes > extensionBytesMax)
      throw malformed("a chunk extension is invalid or too long")
    this.#extension += String.fromCharCode(code)
  }

  /** A digit of the size. The number of digits is limited, so that the size stays an exact number. */
  #sizeSign(code: number): void {
    const digit = hexOf(code)
    if (digit !== -1) {
      this.#digits += 1
      if (this.#digits > digitsMax) throw malformed("a chunk is too large")
      this.#left = this.#left * 16 + digit
    } else if (this.#digits > 0 && code === cr) this.#state = "size-end"
    else if (this.#digits > 0 && code === semicolon) this.#state = "extension"
    else throw malformed("a chunk has no size")
  }

  /** Trailers, up to a limit. Fields that frame a message are dropped (RFC 9110, section 6.5.1). */
  #trailers(bytes: Buffer, from: number): number {
    const before = this.#trailer.length
    this.#trailer += bytes.toString("latin1", from, Math.min(bytes.length, from + trailerBytesMax))
    const empty = this.#trailer.startsWith("\r\n")
    const end = empty ? 0 : this.#trailer.indexOf("\r\n\r\n", Math.max(0, before - 3))
    if (end === -1) {
      if (this.#trailer.length >= trailerBytesMax) throw malformed("its trailers are too long")
      return -1
    }
    const fields = empty ? [] : readFields(this.#trailer.slice(0, end), 0)
    this.trailers = withoutFraming(fields)
    return from + end - before + (empty ? 2 : 4)
  }
}

/** The chunks define where the message ends, so framing fields in a trailer are ignored (RFC 9110 §6.5.1). */
function withoutFraming(fields: readonly string[]): readonly string[] {
  return fields.filter((_, at) => !isFraming(fields[at - (at % 2)] as string))
}

function hexOf(code: number): number {
  if (code >= 48 && code <= 57) return code - 48
  const lower = code | 32
  return lower >= 97 && lower <= 102 ? lower - 87 : -1
}
