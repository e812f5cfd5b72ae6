import { isLess } from "./compare.ts"
import { AddressRange, type ParameterLimits } from "./condition-limits.ts"
import { ExpressionError } from "./expression-error.ts"
import { Duration, IpAddress, intMax, intMin, Timestamp, Uint, uintMax } from "./values.ts"

/** Smaller numbers are not told apart well enough by halving. */
const tiniest = 1e-300

/**
 * Values of a parameter from each region that the limits divide its type into: `count` different ones, or all if there are fewer, so that as many
 * parameters that are compared with each other can have any order within a region. They can be given as values of a context. Undefined: the regions
 * are not known.
 */
export function valuesOfRegions(
  { type, values, isOrdered }: ParameterLimits,
  count: number,
): unknown[] | undefined {
  if (type === "bool") return [true, false]
  if (type === "string") {
    const texts = [...new Set(values.filter((each) => typeof each === "string"))]
    return isOrdered ? textsOf(texts, count) : [...texts, ...otherTexts(texts, count)]
  }
  if (type === "double") return doublesOf(values, count)
  if (type === "ipaddress") return addressesOf(values, count)
  const whole = wholeNumbersOf(type, values)
  return whole && stepsOf(type, whole, count)
}

function otherTexts(texts: readonly string[], count: number): string[] {
  const found: string[] = []
  for (let other = "other"; found.length < count; other += "-") if (!texts.includes(other)) found.push(other)
  return found
}

/**
 * The limits, and texts between and above them. Nothing is below the empty text, which is always a limit. Between a text and the next limit, the smallest
 * texts are the text with one, two and more characters U+0000; others are easier to read.
 */
function textsOf(texts: readonly string[], count: number): string[] {
  const limits = [...new Set(["", ...texts])].sort((a, b) => (isLess(a, b) ? -1 : 1))
  return limits.flatMap((limit, at) => {
    const next = limits[at + 1]
    const isFree = (text: string) => next === undefined || isLess(text, next)
    const character = isFree(limit + "-".repeat(count)) ? "-" : "\u0000"
    const found = [limit]
    for (let length = 1; length <= count && isFree(limit + character.repeat(length)); length++)
      found.push(limit + character.repeat(length))
    return found
  })
}

/** Numbers between which whole numbers are not told apart: a fraction lies between the two next to it. */
function wholeNumbersOf(type: string, values: readonly unknown[]): bigint[] | undefined {
  const found = new Set<bigint>()
  for (const value of values) {
    if (typeof value === "bigint") found.add(value)
    else if (value instanceof Uint) found.add(value.value)
    else if (value instanceof Timestamp || value instanceof Duration) found.add(value.nanoseconds)
    else if (typeof value === "number" && Number.isFinite(value) && (type === "int" || type === "uint")) {
      found.add(BigInt(Math.floor(value)))
      found.add(BigInt(Math.ceil(value)))
    } else return undefined
  }
  return [...found].sort((a, b) => (a < b ? -1 : 1))
}

const second = 1_000_000_000n

/** The limits, and values below, between and above them; moments and durations a second apart, where there is room. */
function stepsOf(type: string, limits: readonly bigint[], count: number): unknown[] {
  const isTime = type === "timestamp" || type === "duration"
  const near = isTime ? second : 1n
  const found = new Set<bigint>(limits.length === 0 ? [0n] : limits)
  const steps = Array.from({ length: count }, (_, at) => BigInt(at + 1))
  for (const [at, limit] of (limits.length === 0 ? [0n] : limits).entries()) {
    const next = limits[at + 1]
    const isWide = next === undefined || limit + near * BigInt(count) < next
    for (const step of steps) {
      const value = limit + (isWide ? near : 1n) * step
      if (next === undefined || value < next) found.add(value)
      // At the ends of a type there may be room for small steps only.
      if (at === 0) found.add(limit - near * step).add(limit - step)
      if (next === undefined) found.add(limit + step)
    }
  }
  return [...found].flatMap((value) => madeOf(type, value) ?? [])
}

/** Undefined when the type does not have the value. */
function madeOf(type: string, value: bigint): unknown {
  if (type === "int") return value < intMin || value > intMax ? undefined : value
  if (type === "uint") return value < 0n || value > uintMax ? undefined : value
  try {
    return type === "timestamp" ? new Timestamp(value) : new Duration(value)
  } catch (error) {
    if (error instanceof ExpressionError) return undefined
    throw error
  }
}

function doublesOf(values: readonly unknown[], count: number): number[] | undefined {
  const found: number[] = []
  for (const value of values) {
    const number = value instanceof Uint ? value.value : value
    if (typeof number === "bigint" && BigInt(Number(number)) === number) found.push(Number(number))
    else if (typeof number === "number" && Number.isFinite(number)) found.push(number)
    else return undefined
  }
  if (found.some((value) => value !== 0 && Math.abs(value) < tiniest)) return undefined
  const limits = [...new Set(found)].sort((a, b) => a - b)
  const [first = 0, last = 0] = [limits[0], limits.at(-1)]
  const between = limits.slice(1).flatMap((limit, at) => halved(limits[at] as number, limit, count))
  const outside: number[] = []
  for (let step = 1; step <= count; step++)
    outside.push(first - step * Math.max(1, Math.abs(first)), last + step * Math.max(1, Math.abs(last)))
  // Of several numbers beyond the largest ones, nothing is known.
  if (count > 1 && outside.some((value) => !Number.isFinite(value))) return undefined
  return [...new Set([...limits, ...(limits.length === 0 ? [0] : []), ...between, ...outside.map(finite)])]
}

/** Different numbers between two, as many as wanted or as there are. */
function halved(low: number, high: number, count: number): number[] {
  const found: number[] = []
  const gaps: (readonly [number, number])[] = [[low, high]]
  for (let gap = gaps.shift(); gap !== undefined && found.length < count; gap = gaps.shift()) {
    const [from, to] = gap
    const middle = from / 2 + to / 2
    if (middle <= from || middle >= to) continue
    found.push(middle)
    gaps.push([from, middle], [middle, to])
  }
  return found
}

const finite = (value: number): number => Math.max(-Number.MAX_VALUE, Math.min(Number.MAX_VALUE, value))

const widths = { 4: 32n, 6: 128n } as const
/** IPv6 addresses that stand for IPv4 addresses (RFC 4291 §2.5.5.2): they are addresses of version 4. */
const mapped = { first: 0xffffn << 32n, end: 0x1_0000n << 32n } as const

/** The first addresses of each region between addresses and the ends of ranges, as texts. */
function addressesOf(values: readonly unknown[], count: number): string[] | undefined {
  const found: string[] = []
  for (const version of [4, 6] as const) {
    const limits = new Set<bigint>([0n])
    for (const value of values) {
      if (value instanceof AddressRange) {
        if (value.version === version) limits.add(value.first).add(value.end)
      } else if (value instanceof IpAddress) {
        if (value.version === version) limits.add(value.bits).add(value.bits + 1n)
      } else return undefined
    }
    const end = 1n << widths[version]
    const own = version === 6 ? [...limits].map(afterMapped) : [...limits]
    const sorted = [...new Set(own)].filter((limit) => limit < end).sort((a, b) => (a < b ? -1 : 1))
    sorted.forEach((limit, at) => {
      const next = sorted[at + 1] ?? end
      let bits = limit
      for (let left = count; left > 0 && bits < next; left--) {
        found.push(addressText(version, bits))
        bits = version === 6 ? afterMapped(bits + 1n) : bits + 1n
      }
    })
  }
  return found
}

function afterMapped(bits: bigint): bigint {
  return bits >= mapped.first && bits < mapped.end ? mapped.end : bits
}

function addressText(version: 4 | 6, bits: bigint): string {
  const size = version === 4 ? 8n : 16n
  const parts = Array.from({ length: version === 4 ? 4 : 8 }, (_, at) => {
    const part = (bits >> (size * BigInt(at))) & ((1n << size) - 1n)
    return part.toString(version === 4 ? 10 : 16)
  }).reverse()
  return version === 4 ? parts.join(".") : parts.join(":").replace(/(^|:)0(:0)+(:|$)/, "::")
}
