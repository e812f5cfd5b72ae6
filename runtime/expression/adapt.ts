import { ExpressionError } from "./expression-error.ts"
import type { CelTypeTree } from "./types.ts"
import {
  CelMap,
  Duration,
  IpAddress,
  type JsonObject,
  kindOf,
  mapEntries,
  Timestamp,
  TypeValue,
  Uint,
} from "./values.ts"

/** Converts a value of the host to the form of its declared type. @throws ExpressionError `type` */
export type Adapt = (value: unknown) => unknown

function refuse(type: string, value: unknown): ExpressionError {
  return new ExpressionError("type", `${type} is declared, ${kindOf(value)} was given`)
}

function simple(name: string, test: (value: unknown) => boolean): Adapt {
  return (value) => {
    if (test(value)) return value
    throw refuse(name, value)
  }
}

function adaptInt(value: unknown): unknown {
  if (typeof value === "bigint") return value
  if (typeof value === "number" && Number.isSafeInteger(value)) return BigInt(value)
  throw refuse("int", value)
}

/** An int unchanged, for places where bigint and number have the same effect. */
export function adaptRawInt(value: unknown): unknown {
  if (typeof value === "bigint" || (typeof value === "number" && Number.isSafeInteger(value))) return value
  throw refuse("int", value)
}

function adaptUint(value: unknown): unknown {
  if (value instanceof Uint) return value
  if (typeof value === "bigint") return new Uint(value)
  if (typeof value === "number" && Number.isSafeInteger(value)) return new Uint(BigInt(value))
  throw refuse("uint", value)
}

const simpleAdapters: ReadonlyMap<string, Adapt> = new Map<string, Adapt>([
  ["bool", simple("bool", (value) => typeof value === "boolean")],
  ["string", simple("string", (value) => typeof value === "string")],
  ["double", simple("double", (value) => typeof value === "number")],
  ["bytes", simple("bytes", (value) => value instanceof Uint8Array)],
  ["null", simple("null", (value) => value === null)],
  ["duration", simple("duration", (value) => value instanceof Duration)],
  ["ipaddress", simple("ipaddress", (value) => value instanceof IpAddress)],
  ["type", simple("type", (value) => value instanceof TypeValue)],
  ["timestamp", (value) => (value instanceof Date ? Timestamp.fromDate(value) : requireTimestamp(value))],
  ["int", adaptInt],
  ["uint", adaptUint],
])

function requireTimestamp(value: unknown): Timestamp {
  if (value instanceof Timestamp) return value
  throw refuse("timestamp", value)
}

// Elements of other types are not converted: walking them in each evaluation would cost more than finding a wrong one when it is used.
const changed = new Set(["int", "uint", "timestamp"])

function elementAdapter(element: CelTypeTree | undefined): Adapt | undefined {
  return element !== undefined && needsAdapting(element) ? adapterFor(element) : undefined
}

function needsAdapting(type: CelTypeTree): boolean {
  return changed.has(type.name) || type.args.some(needsAdapting)
}

function adaptList(element: CelTypeTree | undefined): Adapt {
  const inner = elementAdapter(element)
  return (value) => {
    if (!Array.isArray(value)) throw refuse("list", value)
    return inner === undefined ? value : value.map(inner)
  }
}

/** A map whose values are adapted. Without a type for them the map is used as it is. */
function adaptMap(element: CelTypeTree | undefined): Adapt {
  const inner = elementAdapter(element)
  return (value) => {
    if (kindOf(value) !== "map") throw refuse("map", value)
    if (inner === undefined) return value
    const entries = Array.from(mapEntries(value as CelMap | JsonObject))
    return CelMap.of(entries.map(([key, part]) => [key, inner(part)] as const))
  }
}

function adaptObject(name: string): Adapt {
  return (value) => {
    if (typeof value === "object" && value !== null) return value
    throw refuse(name, value)
  }
}

/** The adapter of a type; undefined if every value is acceptable. */
export function adapterFor(type: CelTypeTree): Adapt | undefined {
  if (type.name === "dyn") return undefined
  const simpleAdapter = simpleAdapters.get(type.name)
  if (simpleAdapter !== undefined) return simpleAdapter
  if (type.name === "list") return adaptList(type.args[0])
  return type.name === "map" ? adaptMap(type.args[1]) : adaptObject(type.name)
}
