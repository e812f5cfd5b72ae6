import { isUtf8 } from "node:buffer"
import { ScalarType } from "@bufbuild/protobuf"
import { BinaryReader, type BinaryWriter, WireType } from "@bufbuild/protobuf/wire"
import { ApiError } from "../api-error.ts"

/** Also the limit of Go's and Java's readers; models and contexts of the API are less deep. */
export const depthMax = 100

/** A message that is no valid protobuf. gRPC's code for it is INTERNAL, as in the generated servers of Go. */
export class MalformedMessage extends ApiError {
  constructor(reason: string) {
    super("validation_error", `the message is not valid protobuf: ${reason}`)
  }
}

const tagByteMin = 1 << 3
const moreBytes = 1 << 7

/** The library's reader. What almost every field needs makes no object here: its tag, and a text. */
export class MessageReader extends BinaryReader {
  readonly #bytes: Uint8Array

  constructor(bytes: Uint8Array) {
    super(bytes)
    this.#bytes = bytes
  }

  /** The next tag as it is encoded: `number << 3 | wireType`. */
  key(): number {
    const byte = this.#bytes[this.pos] ?? 0
    if (byte >= tagByteMin && byte < moreBytes && (byte & 7) <= WireType.Bit32) {
      this.pos += 1
      return byte
    }
    const [number, wireType] = this.tag()
    return ((number << 3) | wireType) >>> 0
  }

  /** @throws MalformedMessage */
  text(): string {
    const end = endOf(this)
    const start = this.pos
    this.pos = end
    const text = Buffer.prototype.utf8Slice.call(this.#bytes, start, end)
    // Decoding replaces invalid UTF-8 by this character, so most texts need no second check.
    if (text.includes("\ufffd") && !isUtf8(this.#bytes.subarray(start, end)))
      throw new MalformedMessage("a string is not UTF-8")
    return text
  }
}

/** How values of one message type are read and written. */
export interface ValueType {
  /** Reads up to `end`. `into`: what an earlier occurrence of the same field has brought. */
  read(reader: MessageReader, end: number, into: unknown, depth: number): unknown
  write(writer: BinaryWriter, json: unknown): void
}

/** How each kind of value that the services use is encoded. */
const wireTypes: ReadonlyMap<ScalarType, WireType> = new Map([
  [ScalarType.STRING, WireType.LengthDelimited],
  [ScalarType.BYTES, WireType.LengthDelimited],
  [ScalarType.BOOL, WireType.Varint],
  [ScalarType.INT32, WireType.Varint],
  [ScalarType.UINT32, WireType.Varint],
  [ScalarType.INT64, WireType.Varint],
  [ScalarType.DOUBLE, WireType.Bit64],
])

/** @throws Error for a kind that no service uses */
export function scalarWireType(type: ScalarType): WireType {
  const wireType = wireTypes.get(type)
  if (wireType === undefined) throw new Error(`no way to read a ${ScalarType[type]}`)
  return wireType
}

/** Reads a value without its tag. Bytes become Base64, as in JSON. */
export function readScalar(reader: MessageReader, type: ScalarType): unknown {
  switch (type) {
    case ScalarType.STRING:
      return reader.text()
    case ScalarType.BYTES:
      return Buffer.from(reader.bytes()).toString("base64")
    case ScalarType.BOOL:
      return reader.bool()
    case ScalarType.UINT32:
      return reader.uint32()
    case ScalarType.INT64:
      return Number(reader.int64())
    case ScalarType.DOUBLE:
      return reader.double()
    default:
      return reader.int32()
  }
}

/** Writes a value without its tag. */
export function writeScalar(writer: BinaryWriter, type: ScalarType, json: unknown): void {
  if (type === ScalarType.STRING) writer.string(String(json))
  else if (type === ScalarType.BYTES)
    writer.bytes(typeof json === "string" ? Buffer.from(json, "base64") : (json as Uint8Array))
  else if (type === ScalarType.BOOL) writer.bool(json === true)
  else if (type === ScalarType.UINT32) writer.uint32(Number(json))
  else if (type === ScalarType.INT64) writer.int64(Number(json))
  else if (type === ScalarType.DOUBLE) writer.double(Number(json))
  else writer.int32(Number(json))
}

/** The end of a value with a length. */
export function endOf(reader: MessageReader): number {
  const length = reader.uint32()
  const end = reader.pos + length
  if (end > reader.len) throw new MalformedMessage("it ends within a field")
  return end
}

/** Sets a key that clients choose: `__proto__`, too, is only a key. */
export function setKey(object: object, key: string, value: unknown): void {
  if (key === "__proto__")
    Object.defineProperty(object, key, { value, enumerable: true, writable: true, configurable: true })
  else (object as Record<string, unknown>)[key] = value
}
