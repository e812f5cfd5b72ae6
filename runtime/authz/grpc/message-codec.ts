import { type DescField, type DescMessage, ScalarType } from "@bufbuild/protobuf"
import { BinaryWriter, WireType } from "@bufbuild/protobuf/wire"
import { ApiError } from "../api-error.ts"
import { registry } from "./descriptors.ts"
import { wellKnownType } from "./well-known-types.ts"
import {
  depthMax,
  endOf,
  MalformedMessage,
  MessageReader,
  readScalar,
  scalarWireType,
  setKey,
  type ValueType,
  writeScalar,
} from "./wire-values.ts"

/**
 * Reads and writes messages of one type in the binary form, with JSON in between (ProtoJSON), because the resources take and return JSON.
 */
export interface MessageCodec {
  /**
   * The JSON of a message. Absent fields are absent, also those with a default; unknown fields are ignored. Fields that `apart` has go there, because
   * removing them from the JSON afterwards would cost as much as reading them.
   * @throws MalformedMessage
   */
  decode(bytes: Uint8Array, apart?: Record<string, unknown>): Record<string, unknown>
  /** The message of a JSON object. Fields that the message does not have are left out. */
  encode(json: object): Uint8Array
}

/** The codec of a message by its full name. */
export function codecOf(typeName: string): MessageCodec {
  const found = registry.getMessage(typeName)
  if (found === undefined) throw new Error(`no message ${typeName}`)
  const type = typeOf(found)
  return {
    decode(bytes, apart) {
      const reader = new MessageReader(bytes)
      try {
        if (type instanceof MessageType) return type.readFields(reader, reader.len, {}, 0, apart)
        return type.read(reader, reader.len, {}, 0) as Record<string, unknown>
      } catch (error) {
        if (error instanceof ApiError) throw error
        // The reader's errors are about lengths and varints.
        throw new MalformedMessage((error as Error).message)
      }
    },
    encode(json) {
      const writer = new BinaryWriter()
      type.write(writer, json)
      return writer.finish()
    },
  }
}

/** A value with its tag. */
interface FieldType {
  readonly wireType: WireType
  read(reader: MessageReader, into: unknown, depth: number): unknown
  write(writer: BinaryWriter, number: number, json: unknown): void
  /** The default of fields that cannot be absent: it is not written. */
  readonly zero: unknown
}

interface Field {
  readonly number: number
  /** Its name in JSON. */
  readonly name: string
  readonly kind: "single" | "list" | "map"
  readonly value: FieldType
  /** Names of the other fields of its `oneof`. */
  readonly rivals: readonly string[]
}

const types = new Map<string, ValueType>()

function typeOf(message: DescMessage): ValueType {
  let type = types.get(message.typeName)
  if (type === undefined) {
    type = wellKnownType(message.typeName) ?? new MessageType(message)
    types.set(message.typeName, type)
  }
  return type
}

class MessageType implements ValueType {
  readonly #message: DescMessage
  /** Made on the first use, because messages contain each other. */
  #fields: readonly (Field | undefined)[] | undefined
  readonly #byName = new Map<string, Field>()

  constructor(message: DescMessage) {
    this.#message = message
  }

  read(reader: MessageReader, end: number, into: unknown, depth: number): unknown {
    return this.readFields(reader, end, (into ?? {}) as Record<string, unknown>, depth, undefined)
  }

  readFields(
    reader: MessageReader,
    end: number,
    json: Record<string, unknown>,
    depth: number,
    apart: Record<string, unknown> | undefined,
  ): Record<string, unknown> {
    if (depth > depthMax) throw new MalformedMessage(`more than ${depthMax} messages within each other`)
    const fields = this.#fieldsByNumber()
    while (reader.pos < end) {
      const key = reader.key()
      const number = key >>> 3
      const wireType: WireType = key & 7
      const field = fields[number]
      if (field === undefined) {
        reader.skip(wireType, number)
        continue
      }
      const into = apart !== undefined && Object.hasOwn(apart, field.name) ? apart : json
      if (!readField(reader, field, wireType, into, depth + 1)) reader.skip(wireType, number)
    }
    if (reader.pos !== end) throw new MalformedMessage("a field is longer than its message")
    return json
  }

  write(writer: BinaryWriter, json: unknown): void {
    this.#fieldsByNumber()
    for (const [name, value] of Object.entries(json as object)) {
      const field = this.#byName.get(name)
      if (field !== undefined && value !== null && value !== undefined) writeField(writer, field, value)
    }
  }

  #fieldsByNumber(): readonly (Field | undefined)[] {
    if (this.#fields !== undefined) return this.#fields
    const fields: (Field | undefined)[] = []
    for (const descriptor of this.#message.fields) {
      const field = fieldOf(descriptor)
      fields[field.number] = field
      this.#byName.set(field.name, field)
    }
    this.#fields = fields
    return fields
  }
}

/** False: the wire type is not that of the field, which counts as an unknown field. */
function readField(
  reader: MessageReader,
  field: Field,
  wireType: WireType,
  json: Record<string, unknown>,
  depth: number,
): boolean {
  const { name, value, kind, rivals } = field
  if (kind === "list" && wireType === WireType.LengthDelimited && value.wireType !== wireType) {
    readPacked(reader, value, listIn(json, name), depth)
    return true
  }
  if (wireType !== (kind === "map" ? WireType.LengthDelimited : value.wireType)) return false
  for (const rival of rivals) delete json[rival]
  if (kind === "list") listIn(json, name).push(value.read(reader, undefined, depth))
  else if (kind === "map") {
    json[name] ??= {}
    readEntry(reader, value, json[name] as object, depth)
  } else json[name] = value.read(reader, json[name], depth)
  return true
}

function listIn(json: Record<string, unknown>, name: string): unknown[] {
  json[name] ??= []
  return json[name] as unknown[]
}

/** Numbers of a list may be sent in one piece. */
function readPacked(reader: MessageReader, value: FieldType, list: unknown[], depth: number): void {
  const end = endOf(reader)
  while (reader.pos < end) list.push(value.read(reader, undefined, depth))
  if (reader.pos !== end) throw new MalformedMessage("a number is longer than its list")
}

/** One entry of a map: a message with `key` and `value`. */
function readEntry(reader: MessageReader, type: FieldType, map: object, depth: number): void {
  const end = endOf(reader)
  let key = ""
  let value: unknown
  while (reader.pos < end) {
    const [number, wireType] = reader.tag()
    if (number === 1 && wireType === WireType.LengthDelimited)
      key = readScalar(reader, ScalarType.STRING) as string
    else if (number === 2 && wireType === type.wireType) value = type.read(reader, value, depth)
    else reader.skip(wireType, number)
  }
  if (reader.pos !== end) throw new MalformedMessage("an entry is longer than its map")
  setKey(map, key, value ?? type.zero ?? {})
}

function writeField(writer: BinaryWriter, { number, kind, value, rivals }: Field, json: unknown): void {
  if (kind === "list") for (const item of json as unknown[]) value.write(writer, number, item)
  else if (kind === "map")
    for (const [key, each] of Object.entries(json as object)) {
      writer.tag(number, WireType.LengthDelimited).fork()
      writer.tag(1, WireType.LengthDelimited).string(key)
      value.write(writer, 2, each)
      writer.join()
    }
  // A member of a `oneof` is present even with its default.
  else if (json !== value.zero || rivals.length > 0) value.write(writer, number, json)
}

function fieldOf(field: DescField): Field {
  const kind = field.fieldKind === "list" || field.fieldKind === "map" ? field.fieldKind : "single"
  const rivals = (field.oneof?.fields ?? []).filter((each) => each !== field).map((each) => each.jsonName)
  return { number: field.number, name: field.jsonName, kind, value: valueTypeOf(field), rivals }
}

function valueTypeOf(field: DescField): FieldType {
  if (field.message !== undefined) return messageField(typeOf(field.message))
  const enumeration = field.enum
  if (enumeration !== undefined)
    return {
      wireType: WireType.Varint,
      zero: enumeration.values[0]?.name,
      read: (reader) => {
        const number = reader.int32()
        return enumeration.value[number]?.name ?? number
      },
      write: (writer, number, json) => {
        const value = enumeration.values.find(({ name }) => name === json)
        if (value !== undefined) writer.tag(number, WireType.Varint).int32(value.number)
      },
    }
  const scalar = field.scalar ?? ScalarType.STRING
  const zeros = new Map<ScalarType, unknown>([
    [ScalarType.STRING, ""],
    [ScalarType.BOOL, false],
  ])
  return {
    wireType: scalarWireType(scalar),
    zero: zeros.get(scalar) ?? 0,
    read: (reader) => readScalar(reader, scalar),
    write: (writer, number, json) => writeScalar(writer.tag(number, scalarWireType(scalar)), scalar, json),
  }
}

function messageField(type: ValueType): FieldType {
  return {
    wireType: WireType.LengthDelimited,
    zero: undefined,
    read: (reader, into, depth) => type.read(reader, endOf(reader), into, depth),
    write: (writer, number, json) => {
      writer.tag(number, WireType.LengthDelimited).fork()
      type.write(writer, json)
      writer.join()
    },
  }
}
