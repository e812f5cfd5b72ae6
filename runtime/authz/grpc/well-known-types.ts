import { ScalarType } from "@bufbuild/protobuf"
import { type BinaryWriter, WireType } from "@bufbuild/protobuf/wire"
import { ApiError } from "../api-error.ts"
import {
  depthMax,
  endOf,
  MalformedMessage,
  type MessageReader,
  readScalar,
  setKey,
  type ValueType,
} from "./wire-values.ts"

/** The types of protobuf that have a form of their own in JSON; undefined for other types. */
export function wellKnownType(typeName: string): ValueType | undefined {
  return wellKnown[typeName]
}

/** Numbers of the fields of google.protobuf.Value. */
const valueField = { null: 1, number: 2, text: 3, boolean: 4, struct: 5, list: 6 } as const

const struct: ValueType = {
  read(reader, end, into, depth) {
    const object = (into ?? {}) as object
    while (reader.pos < end) {
      const [number, wireType] = reader.tag()
      if (number === 1 && wireType === WireType.LengthDelimited) readStructEntry(reader, object, depth)
      else reader.skip(wireType, number)
    }
    return ended(reader, end, object)
  },
  write(writer, json) {
    for (const [key, each] of Object.entries(json as object)) {
      if (each === undefined) continue
      writer.tag(1, WireType.LengthDelimited).fork()
      writer.tag(1, WireType.LengthDelimited).string(key)
      writeNested(writer.tag(2, WireType.LengthDelimited), value, each)
      writer.join()
    }
  },
}

function readStructEntry(reader: MessageReader, object: object, depth: number): void {
  const end = endOf(reader)
  let key = ""
  let found: unknown = null
  while (reader.pos < end) {
    const [number, wireType] = reader.tag()
    if (number === 1 && wireType === WireType.LengthDelimited)
      key = readScalar(reader, ScalarType.STRING) as string
    else if (number === 2 && wireType === WireType.LengthDelimited)
      found = value.read(reader, endOf(reader), undefined, depth + 1)
    else reader.skip(wireType, number)
  }
  setKey(object, key, ended(reader, end, found))
}

const value: ValueType = {
  read(reader, end, _into, depth) {
    if (depth > depthMax) throw new MalformedMessage(`more than ${depthMax} messages within each other`)
    let found: unknown = null
    while (reader.pos < end) {
      const [number, wireType] = reader.tag()
      if (number === valueField.null && wireType === WireType.Varint) {
        reader.int32()
        found = null
      } else if (number === valueField.number && wireType === WireType.Bit64) found = finite(reader.double())
      else if (number === valueField.text && wireType === WireType.LengthDelimited)
        found = readScalar(reader, ScalarType.STRING)
      else if (number === valueField.boolean && wireType === WireType.Varint) found = reader.bool()
      else if (number === valueField.struct && wireType === WireType.LengthDelimited)
        found = struct.read(reader, endOf(reader), undefined, depth + 1)
      else if (number === valueField.list && wireType === WireType.LengthDelimited)
        found = list.read(reader, endOf(reader), undefined, depth + 1)
      else reader.skip(wireType, number)
    }
    return ended(reader, end, found)
  },
  write(writer, json) {
    if (json === null) writer.tag(valueField.null, WireType.Varint).int32(0)
    else if (typeof json === "number") writer.tag(valueField.number, WireType.Bit64).double(json)
    else if (typeof json === "string") writer.tag(valueField.text, WireType.LengthDelimited).string(json)
    else if (typeof json === "boolean") writer.tag(valueField.boolean, WireType.Varint).bool(json)
    else if (Array.isArray(json))
      writeNested(writer.tag(valueField.list, WireType.LengthDelimited), list, json)
    else writeNested(writer.tag(valueField.struct, WireType.LengthDelimited), struct, json)
  },
}

const list: ValueType = {
  read(reader, end, into, depth) {
    const items = (into ?? []) as unknown[]
    while (reader.pos < end) {
      const [number, wireType] = reader.tag()
      if (number === 1 && wireType === WireType.LengthDelimited)
        items.push(value.read(reader, endOf(reader), undefined, depth + 1))
      else reader.skip(wireType, number)
    }
    return ended(reader, end, items)
  },
  write(writer, json) {
    for (const item of json as unknown[])
      writeNested(writer.tag(1, WireType.LengthDelimited), value, item ?? null)
  },
}

/** RFC 3339 in JSON; seconds since 1970 and nanoseconds in the message. */
const timestamp: ValueType = {
  read(reader, end) {
    let seconds = 0
    let nanos = 0
    while (reader.pos < end) {
      const [number, wireType] = reader.tag()
      if (number === 1 && wireType === WireType.Varint) seconds = Number(reader.int64())
      else if (number === 2 && wireType === WireType.Varint) nanos = reader.int32()
      else reader.skip(wireType, number)
    }
    return ended(reader, end, timeText(seconds, nanos))
  },
  write(writer, json) {
    const text = json instanceof Date ? json.toISOString() : String(json)
    const seconds = Math.floor(Date.parse(text) / 1000)
    const fraction = /\.(\d{1,9})/.exec(text)?.[1] ?? ""
    const nanos = Number(fraction.padEnd(9, "0"))
    if (seconds !== 0) writer.tag(1, WireType.Varint).int64(seconds)
    if (nanos !== 0) writer.tag(2, WireType.Varint).int32(nanos)
  },
}

/** The range of google.protobuf.Timestamp: the years 1 to 9999. */
const secondsMin = -62_135_596_800
const secondsMax = 253_402_300_799
const nanosMax = 999_999_999

function timeText(seconds: number, nanos: number): string {
  if (!(seconds >= secondsMin && seconds <= secondsMax && nanos >= 0 && nanos <= nanosMax))
    throw new ApiError("validation_error", "a time is outside the years 1 to 9999")
  const whole = new Date(seconds * 1000).toISOString().slice(0, 19)
  return nanos === 0 ? `${whole}Z` : `${whole}.${String(nanos).padStart(9, "0")}Z`
}

/** A number that may be absent. */
const int32Value: ValueType = {
  read(reader, end) {
    let found = 0
    while (reader.pos < end) {
      const [number, wireType] = reader.tag()
      if (number === 1 && wireType === WireType.Varint) found = reader.int32()
      else reader.skip(wireType, number)
    }
    return ended(reader, end, found)
  },
  write(writer, json) {
    if (json !== 0) writer.tag(1, WireType.Varint).int32(Number(json))
  },
}

const wellKnown: Readonly<Record<string, ValueType>> = {
  "google.protobuf.Struct": struct,
  "google.protobuf.Value": value,
  "google.protobuf.ListValue": list,
  "google.protobuf.Timestamp": timestamp,
  "google.protobuf.Int32Value": int32Value,
}

function writeNested(writer: BinaryWriter, type: ValueType, json: unknown): void {
  writer.fork()
  type.write(writer, json)
  writer.join()
}

function ended<Found>(reader: MessageReader, end: number, found: Found): Found {
  if (reader.pos !== end) throw new MalformedMessage("a field is longer than its message")
  return found
}

/** JSON has no other numbers. */
function finite(number: number): number {
  if (Number.isFinite(number)) return number
  throw new ApiError("validation_error", "a number of the context is not finite")
}
