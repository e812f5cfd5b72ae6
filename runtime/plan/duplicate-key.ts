/** A key that stands twice in one object: `JSON.parse` keeps the last and says nothing, other readers keep the first. */
export interface DuplicateKey {
  readonly key: string
  /** From 1. */
  readonly line: number
}

/** Objects with more keys are looked at with sets. */
const comparedMax = 16
const countedDepthMax = 1000

/** Where the keys of the objects around a place begin and end, and what was around those; used by one call after the other. */
const starts: number[] = []
const ends: number[] = []
const outer: number[] = []

/**
 * The first key of `text` that its object has already; `value` is what `JSON.parse` made of it. RFC 7493 forbids such keys. A quarter of what parsing costs: a text that
 * has no more colons behind quotes than the value has keys has none of them twice.
 */
export function duplicateKey(text: string, value: unknown): DuplicateKey | undefined {
  return quotedColons(text) === keysWithin(value, 0) ? undefined : duplicateIn(text)
}

/** How many colons follow a quote: those of all keys, and some within strings. */
function quotedColons(text: string): number {
  let count = 0
  for (let at = text.indexOf(":"); at !== -1; at = text.indexOf(":", at + 1)) {
    let before = at - 1
    while (isBlank(text.charCodeAt(before))) before--
    if (text.charCodeAt(before) === quote) count++
  }
  return count
}

function isBlank(sign: number): boolean {
  return sign === 0x20 || (sign >= 0x09 && sign <= 0x0d)
}

/** How many keys all objects of a value have; none of the text's counts are like it when it is nested deeper than the stack bears. */
function keysWithin(value: unknown, depth: number): number {
  if (typeof value !== "object" || value === null) return 0
  if (depth > countedDepthMax) return Number.NaN
  let count = 0
  if (Array.isArray(value)) for (const item of value) count += keysWithin(item, depth + 1)
  else
    for (const key in value)
      count += 1 + keysWithin((value as Readonly<Record<string, unknown>>)[key], depth + 1)
  return count
}

/** Small objects without escapes in their keys, which nearly all are, are compared in place. */
function duplicateIn(text: string): DuplicateKey | undefined {
  /** The first key of the object around the place; -1 in a list. */
  let first = -1
  let count = 0
  let depth = 0
  let keyFollows = false
  for (let at = 0; at < text.length; at++) {
    const sign = text.charCodeAt(at)
    if (sign === quote) {
      const end = endOfString(text, at)
      if (keyFollows) {
        if (count - first >= comparedMax || text.slice(at, end).includes("\\")) return duplicateOfMany(text)
        if (isAmong(text, first, count, at, end)) return duplicateAt(text, at, end)
        starts[count] = at
        ends[count++] = end
      }
      keyFollows = false
      at = end - 1
    } else if (sign === comma) keyFollows = first >= 0
    else if (sign === openBrace || sign === openBracket) {
      outer[depth++] = first
      outer[depth++] = count
      keyFollows = sign === openBrace
      first = keyFollows ? count : -1
    } else if (sign === closeBrace || sign === closeBracket) {
      count = outer[--depth] as number
      first = outer[--depth] as number
      keyFollows = false
    }
  }
  return undefined
}

const [quote, comma, openBrace, closeBrace, openBracket, closeBracket] = [0x22, 0x2c, 0x7b, 0x7d, 0x5b, 0x5d]

/** Is the string from `start` to `end` one of these keys? */
function isAmong(text: string, first: number, count: number, start: number, end: number): boolean {
  for (let key = first; key < count; key++) {
    let other = starts[key] as number
    if ((ends[key] as number) - other !== end - start) continue
    let at = start
    while (at < end && text.charCodeAt(at) === text.charCodeAt(other)) {
      at++
      other++
    }
    if (at === end) return true
  }
  return false
}

/** The same for any keys. */
function duplicateOfMany(text: string): DuplicateKey | undefined {
  /** Keys of the objects around the place; undefined for a list. */
  const around: (Set<string> | undefined)[] = []
  let keyFollows = false
  for (let at = 0; at < text.length; at++) {
    const sign = text[at]
    if (sign === "{" || sign === "[") around.push(sign === "{" ? new Set() : undefined)
    else if (sign === "}" || sign === "]") around.pop()
    if (sign === "{" || sign === ",") keyFollows = true
    if (sign !== '"') continue
    const end = endOfString(text, at)
    const keys = around.at(-1)
    if (keyFollows && keys !== undefined) {
      const key: string = JSON.parse(text.slice(at, end))
      if (keys.has(key)) return duplicateAt(text, at, end)
      keys.add(key)
    }
    keyFollows = false
    at = end - 1
  }
  return undefined
}

function duplicateAt(text: string, start: number, end: number): DuplicateKey {
  return { key: JSON.parse(text.slice(start, end)), line: text.slice(0, start).split("\n").length }
}

/** The place behind the closing quote of the string that opens at `start`. */
function endOfString(text: string, start: number): number {
  for (let at = text.indexOf('"', start + 1); ; at = text.indexOf('"', at + 1)) {
    let backslashes = 0
    while (text.charCodeAt(at - 1 - backslashes) === 0x5c) backslashes++
    if (backslashes % 2 === 0) return at + 1
  }
}
