import { ExpressionError } from "./expression-error.ts"
import { isPlainObject } from "./plain-object.ts"

export const intMin = -(2n ** 63n)
export const intMax = 2n ** 63n - 1n
export const uintMax = 2n ** 64n - 1n

/** An unsigned 64-bit integer. It has its own class, because a bigint is an int. */
export class Uint {
  readonly value: bigint

  /** @throws ExpressionError `overflow` outside of 0 … 2^64-1. */
  constructor(value: bigint) {
    if (value < 0n || value > uintMax)
      throw new ExpressionError("overflow", "the value does not fit into a uint")
    this.value = value
  }
}

const nanosecondsPerSecond = 1_000_000_000n
const timestampMin = -62_135_596_800n * nanosecondsPerSecond
const timestampMax = 253_402_300_800n * nanosecondsPerSecond - 1n
const durationMax = intMax

/** A moment between the years 1 and 9999, exact to the nanosecond since 1970-01-01T00:00:00Z. */
export class Timestamp {
  readonly nanoseconds: bigint

  /** @throws ExpressionError `overflow` outside of the years 1 … 9999. */
  constructor(nanoseconds: bigint) {
    if (nanoseconds < timestampMin || nanoseconds > timestampMax) {
      throw new ExpressionError("overflow", "the timestamp is outside of the years 1 to 9999")
    }
    this.nanoseconds = nanoseconds
  }

  static fromDate(date: Date): Timestamp {
    const milliseconds = date.getTime()
    if (Number.isNaN(milliseconds)) throw new ExpressionError("type", "the date is invalid")
    return new Timestamp(BigInt(milliseconds) * 1_000_000n)
  }
}

/** A duration of up to ±292 years (2^63-1 nanoseconds, as in other implementations), exact to the nanosecond. */
export class Duration {
  readonly nanoseconds: bigint

  /** @throws ExpressionError `overflow` outside of the range. */
  constructor(nanoseconds: bigint) {
    if (nanoseconds < -durationMax || nanoseconds > durationMax) {
      throw new ExpressionError("overflow", "the duration is out of range")
    }
    this.nanoseconds = nanoseconds
  }
}

/** A type as a value: the result of `type(x)`, or a bare `int`. */
export class TypeValue {
  readonly name: string

  constructor(name: string) {
    this.name = name
  }
}

/** An IP address. An IPv4-mapped IPv6 address becomes the IPv4 address (RFC 4291, 2.5.5.2). */
export class IpAddress {
  readonly version: 4 | 6
  readonly bits: bigint

  constructor(version: 4 | 6, bits: bigint) {
    const mapped = version === 6 && bits >> 32n === 0xffffn
    this.version = mapped ? 4 : version
    this.bits = mapped ? bits & 0xffff_ffffn : bits
  }
}

type MapKey = string | boolean | bigint

/** A map of the language: keys are string, bool, int or uint, and 1, 1u and 1.0 are the same key. */
export class CelMap {
  private readonly byKey = new Map<MapKey, readonly [key: unknown, value: unknown]>()

  /** @throws ExpressionError `type` for an invalid key, `other` for a duplicate key. */
  static of(entries: Iterable<readonly [key: unknown, value: unknown]>): CelMap {
    const map = new CelMap()
    for (const [key, value] of entries) {
      const normal = CelMap.keyOf(key)
      if (normal === undefined || typeof key === "number")
        throw new ExpressionError("type", "a map key is bool, int, uint or string")
      if (map.byKey.has(normal)) throw new ExpressionError("other", "the map has a key twice")
      map.byKey.set(normal, [key, value])
    }
    return map
  }

  private static keyOf(key: unknown): MapKey | undefined {
    if (typeof key === "string" || typeof key === "bigint" || typeof key === "boolean") return key
    if (key instanceof Uint) return key.value
    return typeof key === "number" && Number.isInteger(key) ? BigInt(key) : undefined
  }

  get size(): number {
    return this.byKey.size
  }

  has(key: unknown): boolean {
    const normal = CelMap.keyOf(key)
    return normal !== undefined && this.byKey.has(normal)
  }

  /** Undefined if the key is missing; no value of the language is undefined. */
  get(key: unknown): unknown {
    const normal = CelMap.keyOf(key)
    return normal === undefined ? undefined : this.byKey.get(normal)?.[1]
  }

  keys(): unknown[] {
    return Array.from(this.byKey.values(), ([key]) => key)
  }

  entries(): Iterable<readonly [key: unknown, value: unknown]> {
    return this.byKey.values()
  }
}

export type ValueKind =
  | "null"
  | "bool"
  | "int"
  | "uint"
  | "double"
  | "string"
  | "bytes"
  | "list"
  | "map"
  | "timestamp"
  | "duration"
  | "ipaddress"
  | "type"
  | "object"

/** The kind of an object. Those that are most frequent are tested first. */
function kindOfObject(value: object): ValueKind {
  if (Array.isArray(value)) return "list"
  if (isPlainObject(value)) return "map"
  if (value instanceof CelMap) return "map"
  if (value instanceof Uint) return "uint"
  if (value instanceof Timestamp) return "timestamp"
  if (value instanceof Duration) return "duration"
  if (value instanceof IpAddress) return "ipaddress"
  if (value instanceof Uint8Array) return "bytes"
  return value instanceof TypeValue ? "type" : "object"
}

/** The kind of a value, found without reading its properties: a JSON object with a key `constructor` is a map like any other. */
export function kindOf(value: unknown): ValueKind {
  switch (typeof value) {
    case "string":
      return "string"
    case "bigint":
      return "int"
    case "number":
      return "double"
    case "boolean":
      return "bool"
    case "object":
      return value === null ? "null" : kindOfObject(value)
    default:
      return "object"
  }
}

export type JsonObject = Readonly<Record<string, unknown>>

/** The value of a key, undefined if it is missing. `map` is a CelMap or a JSON object. */
export function mapGet(map: CelMap | JsonObject, key: unknown): unknown {
  if (map instanceof CelMap) return map.get(key)
  return typeof key === "string" && Object.hasOwn(map, key) ? map[key] : undefined
}

export function mapSize(map: CelMap | JsonObject): number {
  return map instanceof CelMap ? map.size : Object.keys(map).length
}

export function mapKeys(map: CelMap | JsonObject): unknown[] {
  return map instanceof CelMap ? map.keys() : Object.keys(map)
}

export function mapEntries(map: CelMap | JsonObject): Iterable<readonly [key: unknown, value: unknown]> {
  return map instanceof CelMap ? map.entries() : Object.entries(map)
}
