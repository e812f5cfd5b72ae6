import { type DescMessage, fromBinary, fromJson, type JsonObject, toBinary, toJson } from "@bufbuild/protobuf"
import { expect, test } from "vitest"
import { ApiError } from "../../runtime/authz/api-error.ts"
import { registry } from "../../runtime/authz/grpc/descriptors.ts"
import { codecOf } from "../../runtime/authz/grpc/message-codec.ts"
import { Random } from "../naive/random.ts"
import { scaled } from "../support/random-run.ts"

const rounds = scaled(2_000, 0.2)

const texts = ["", "a", "user:ann", "é\u{1f600}", "__proto__", "constructor", "x".repeat(300)]
const numbers = [0, 1, -1, 127, 128, 2 ** 31 - 1, -(2 ** 31)]
const contexts = [
  ...[{}, { a: null }, { list: [1, "x", [], {}, null, true] }, { deep: { deeper: { number: 1.5e300 } } }],
  JSON.parse('{"__proto__": {"x": 1}, "": -0.5}') as JsonObject,
]

/** The JSON of a random message, with every kind of field there is. */
function randomJson(random: Random, type: DescMessage, depth = 0): unknown {
  if (type.typeName === "google.protobuf.Struct") return random.pick(contexts)
  if (type.typeName === "google.protobuf.Timestamp")
    return random.pick(["2026-11-26T20:00:00Z", "1970-01-01T00:00:00.123Z", "0001-01-01T00:00:00Z"])
  if (type.typeName === "google.protobuf.Int32Value") return random.pick(numbers)
  const json: Record<string, unknown> = {}
  for (const member of type.members) {
    const field = member.kind === "oneof" ? random.pick(member.fields) : member
    if (!random.chance(60) || depth > 5) continue
    const one = (): unknown => {
      if (field.message !== undefined) return randomJson(random, field.message, depth + 1)
      if (field.enum !== undefined) return random.pick(field.enum.values).name
      const kind = toJsonKind(field.scalar)
      if (kind === "number") return random.pick(field.scalar === 13 ? [0, 1, 2 ** 32 - 1] : numbers)
      if (kind === "boolean") return random.chance(50)
      return kind === "bytes" ? "AAEC/w==" : random.pick(texts)
    }
    if (field.fieldKind === "list") json[field.jsonName] = [one(), one()]
    else if (field.fieldKind === "map")
      json[field.jsonName] = Object.fromEntries([
        ["k", one()],
        ["", one()],
      ])
    else json[field.jsonName] = one()
  }
  return json
}

function toJsonKind(scalar: number | undefined): "number" | "boolean" | "bytes" | "text" {
  if (scalar === 8) return "boolean"
  if (scalar === 12) return "bytes"
  return scalar === 9 || scalar === undefined ? "text" : "number"
}

const types = [...registry]
  .filter((each) => each.kind === "message" && !each.typeName.startsWith("google."))
  .map((each) => each as DescMessage)

test("messages are read and written as by the library", () => {
  const random = new Random(1)
  for (let round = 0; round < rounds; round++) {
    const type = random.pick(types)
    const json = randomJson(random, type) as JsonObject
    const message = fromJson(type, json)
    const codec = codecOf(type.typeName)
    const bytes = toBinary(type, message)
    expect(fromJson(type, codec.decode(bytes) as JsonObject), type.typeName).toEqual(message)
    expect(fromBinary(type, codec.encode(json)), type.typeName).toEqual(message)
    expect(fromBinary(type, codec.encode(toJson(type, message) as object)), type.typeName).toEqual(message)
  }
})

test("broken messages are refused, never more", () => {
  const random = new Random(2)
  for (let round = 0; round < rounds; round++) {
    const type = random.pick(types)
    const bytes = Buffer.from(toBinary(type, fromJson(type, randomJson(random, type) as JsonObject)))
    const broken = random.chance(50) ? bytes.subarray(0, random.below(bytes.length + 1)) : bytes
    for (let at = 0; at < 3 && broken.length > 0; at++)
      broken[random.below(broken.length)] = random.below(256)
    try {
      codecOf(type.typeName).decode(broken)
    } catch (error) {
      expect(error).toBeInstanceOf(ApiError)
    }
  }
})

test("a later member of a oneof replaces the earlier one, and messages that come in pieces are merged", () => {
  const type = registry.getMessage("openfga.v1.Userset")
  if (type === undefined) throw new Error("no Userset")
  const both = Buffer.concat([
    toBinary(type, fromJson(type, { this: {} })),
    toBinary(type, fromJson(type, { computedUserset: { object: "", relation: "owner" } })),
  ])
  expect(codecOf(type.typeName).decode(both)).toEqual({ computedUserset: { relation: "owner" } })
  const check = registry.getMessage("openfga.v1.CheckRequest")
  if (check === undefined) throw new Error("no CheckRequest")
  const pieces = Buffer.concat([
    toBinary(check, fromJson(check, { tuple_key: { user: "user:a" } })),
    toBinary(check, fromJson(check, { tuple_key: { object: "doc:1" } })),
  ])
  expect(codecOf(check.typeName).decode(pieces)).toEqual({ tuple_key: { user: "user:a", object: "doc:1" } })
})

test("unknown fields and other wire types are skipped; a key of a map is only a key", () => {
  const codec = codecOf("openfga.v1.CheckRequest")
  expect(codec.decode(Buffer.from([0xa2, 0x06, 1, 65, 0x08, 5, 0x0a, 1, 66]))).toEqual({ store_id: "B" })
  const struct = registry.getMessage("openfga.v1.CheckRequest")
  if (struct === undefined) throw new Error("no CheckRequest")
  const context = JSON.parse('{"__proto__": {"allowed": true}}') as JsonObject
  const read = codec.decode(toBinary(struct, fromJson(struct, { context })))["context"] as object
  expect(Object.getPrototypeOf(read)).toBe(Object.prototype)
  expect(Object.keys(read)).toEqual(["__proto__"])
})
