import { type CelTypeTree, simpleTypes } from "./types.ts"
import { kindOf, type ValueKind } from "./values.ts"

const plain = ["bool", "int", "uint", "double", "string", "bytes", "list", "map", "type", "ipaddress"]
const timestamp = "google.protobuf.Timestamp"
const duration = "google.protobuf.Duration"

/** Names that denote a type as a value (`type(x) == int`), and the type's own name. */
export const typeNames: ReadonlyMap<string, string> = new Map([
  ...plain.map((name): [string, string] => [name, name]),
  ["null_type", "null_type"],
  ["timestamp", timestamp],
  ["duration", duration],
  [timestamp, timestamp],
  [duration, duration],
])

/** The name of the type of a value of this kind. */
export function typeNameOf(kind: ValueKind): string {
  return kind === "null" ? "null_type" : (typeNames.get(kind) ?? kind)
}

/** The type of the value of a literal. */
export function typeOfLiteral(value: unknown): CelTypeTree {
  if (typeof value === "string") return simpleTypes.string
  if (typeof value === "bigint") return simpleTypes.int
  if (typeof value === "boolean") return simpleTypes.bool
  return simpleTypes[kindOf(value) as keyof typeof simpleTypes]
}
