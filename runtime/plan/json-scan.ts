/** Where a JSON text is wrong: an offset in the text and what was expected there. */
export interface JsonProblem {
  readonly at: number
  readonly message: string
  /** The key, where the problem is that its object has it already. */
  readonly duplicate?: string
}

/** From `start` up to `end`, UTF-16 offsets. */
interface Range {
  readonly start: number
  readonly end: number
}

/** Where a value of a JSON text stands. */
export interface JsonPlace extends Range {
  /** Where its key stands, with the quotes; undefined for elements of lists and the value as a whole. */
  readonly key: Range | undefined
}

/** Called for each value when its end is reached, after the values inside it: the steps that lead there (valid only during the call), and its place. */
export type JsonVisitor = (path: readonly (string | number)[], place: JsonPlace) => void

/** Finds the place of a value by the steps that lead there; undefined for steps that lead nowhere. */
export type JsonPlaces = (path: readonly (string | number)[]) => JsonPlace | undefined

/** Files of a project are nested less deep: what reads them further may be recursive. */
const fileDepthMax = 100

/** Values and names of a JSON body that is read, where the plan says nothing else. Reading so many takes some 15 ms at worst: names that are all different. */
export const jsonValuesDefault = 60_000

/**
 * Checks JSON (RFC 8259) whose keys are unique, nested at most 100 deep, and says where it is wrong. `JSON.parse` leaves the place out of many of its messages, and accepts a
 * key that is there twice.
 */
export function scanJson(text: string, visitor?: JsonVisitor): JsonProblem | undefined {
  return new JsonScanner(text, fileDepthMax, visitor).scan()
}

/** Reads JSON as `scanJson` does, with the places of all values. */
export function readJson(
  text: string,
): { readonly value: unknown; readonly placeOf: JsonPlaces } | { readonly problem: JsonProblem } {
  const places = new Map<string, JsonPlace>()
  const problem = scanJson(text, (path, place) => places.set(JSON.stringify(path), place))
  if (problem !== undefined) return { problem }
  return { value: JSON.parse(text), placeOf: (path) => places.get(JSON.stringify(path)) }
}

/** A key that stands twice in one object: `JSON.parse` keeps the last value without a message, other readers keep the first. */
export interface DuplicateKey {
  readonly key: string
  /** From 1. */
  readonly line: number
}

/**
 * The first key of `text` that its object has already; `value` is what `JSON.parse` made of the text. RFC 7493 forbids such keys. Counting costs a quarter of what parsing
 * does: a text with as many colons behind quotes as the value has keys has no key twice, and is not scanned.
 */
export function duplicateKey(text: string, value: unknown): DuplicateKey | undefined {
  if (quotedColons(text) === keysWithin(value, 0)) return undefined
  const problem = new JsonScanner(text, Number.POSITIVE_INFINITY).scan()
  if (problem?.duplicate === undefined) return undefined
  return { key: problem.duplicate, line: text.slice(0, problem.at).split("\n").length }
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

/** Deeper values are not counted, so that they do not overflow the stack: their text is scanned. */
const countedDepthMax = 1000

/** How many keys all objects of a value have; NaN, which no count equals, for one that is nested too deep. */
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

const [quote, backslash, comma, colon, bracket, brace] = [0x22, 0x5c, 0x2c, 0x3a, 0x5b, 0x7b]
const [openBrace, closeBrace, openBracket, closeBracket] = [0x7b, 0x7d, 0x5b, 0x5d]

function isBlank(code: number): boolean {
  return code <= 0x20 && (code === 0x20 || code === 0x0a || code === 0x0d || code === 0x09)
}

/** An object or a list whose end is not reached. */
interface Level {
  readonly start: number
  readonly key: Range | undefined
  /** Index of the first key of the object among the keys of all open objects; -1 for a list. */
  readonly firstKey: number
  /** The keys, where comparing them in place does not do. */
  keys: Set<string> | undefined
}

/** Objects with more keys, and those with escapes in keys, are compared by sets. */
const comparedMax = 16
const scalar = /(?:true|false|null|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?)(?![A-Za-z0-9_.])/y
/** What may follow a backslash beside `u` and four digits. */
const escapable = '"\\/bfnrt'
const hexDigits = /[0-9A-Fa-f]{4}/y

/** The offset behind the escape sequence at `at`; `at` when there is none. */
function behindEscape(text: string, at: number): number {
  const sign = text[at + 1]
  if (sign === undefined) return at
  if (sign !== "u") return escapable.includes(sign) ? at + 2 : at
  hexDigits.lastIndex = at + 2
  return hexDigits.test(text) ? at + 6 : at
}

/** One pass without recursion, because requests may be nested as deep as their size allows. */
class JsonScanner {
  readonly #text: string
  readonly #depthMax: number
  readonly #visitor: JsonVisitor | undefined
  readonly #levels: Level[] = []
  readonly #path: (string | number)[] = []
  /** Where the keys of all open objects begin and end, one object behind the other. */
  readonly #keyStarts: number[] = []
  readonly #keyEnds: number[] = []
  #keyCount = 0
  #at = 0
  /** Whether the last string has escapes. */
  #escaped = false
  /** The key whose value comes next. */
  #key: Range | undefined

  constructor(text: string, depthMax: number, visitor?: JsonVisitor) {
    this.#text = text
    this.#depthMax = depthMax
    this.#visitor = visitor
  }

  scan(): JsonProblem | undefined {
    do {
      const problem = this.#value()
      if (problem !== undefined) return problem
    } while (this.#levels.length > 0)
    this.#skipBlanks()
    return this.#at < this.#text.length
      ? this.#problem("nothing more is expected after the value")
      : undefined
  }

  /** Reads a value, or the beginning of one up to its first inner value, and what ends with it. */
  #value(): JsonProblem | undefined {
    if (this.#levels.length > this.#depthMax) return this.#problem(`nested deeper than ${this.#depthMax}`)
    this.#skipBlanks()
    const start = this.#at
    const key = this.#key
    this.#key = undefined
    const code = this.#text.charCodeAt(start)
    if (code === openBrace || code === openBracket) {
      const isObject = code === openBrace
      this.#at++
      if (!this.#accept(isObject ? closeBrace : closeBracket)) {
        const level = { start, key, firstKey: isObject ? this.#keyCount : -1, keys: undefined }
        this.#levels.push(level)
        this.#path.push(0)
        return isObject ? this.#member(level) : undefined
      }
    } else {
      const problem = code === quote ? this.#string() : this.#scalar()
      if (problem !== undefined) return problem
    }
    this.#visitor?.(this.#path, { start, end: this.#at, key })
    return this.#next()
  }

  /** What follows a value: the next value of the same object or list, or the ends of those around it. */
  #next(): JsonProblem | undefined {
    for (let level = this.#levels.at(-1); level !== undefined; level = this.#levels.at(-1)) {
      const isObject = level.firstKey >= 0
      if (this.#accept(comma)) {
        if (isObject) return this.#member(level)
        const index = this.#path.length - 1
        this.#path[index] = (this.#path[index] as number) + 1
        return undefined
      }
      if (!this.#accept(isObject ? closeBrace : closeBracket))
        return this.#problem(isObject ? "`,` or `}` is expected" : "`,` or `]` is expected")
      this.#levels.pop()
      this.#path.pop()
      if (isObject) this.#keyCount = level.firstKey
      this.#visitor?.(this.#path, { start: level.start, end: this.#at, key: level.key })
    }
    return undefined
  }

  /** A key and the colon behind it. */
  #member(level: Level): JsonProblem | undefined {
    this.#skipBlanks()
    const start = this.#at
    if (this.#text.charCodeAt(start) !== quote) return this.#problem("a key in double quotes is expected")
    const problem = this.#string()
    if (problem !== undefined) return problem
    const end = this.#at
    if (this.#hasKey(level, start, end)) {
      const written = this.#text.slice(start, end)
      return { at: start, message: `the key ${written} occurs twice`, duplicate: JSON.parse(written) }
    }
    this.#keyStarts[this.#keyCount] = start
    this.#keyEnds[this.#keyCount++] = end
    if (!this.#accept(colon)) return this.#problem("`:` is expected after the key")
    if (this.#visitor !== undefined) {
      this.#path[this.#path.length - 1] = this.#keyText(start, end)
      this.#key = { start, end }
    }
    return undefined
  }

  /** Whether the object has the key from `start` to `end` already. Nearly all objects are small and have no escapes in their keys. */
  #hasKey(level: Level, start: number, end: number): boolean {
    if (level.keys === undefined) {
      const few = this.#keyCount - level.firstKey < comparedMax
      if (few && !this.#escaped) return this.#isAmong(level.firstKey, start, end)
      level.keys = new Set()
      for (let index = level.firstKey; index < this.#keyCount; index++)
        level.keys.add(this.#keyText(this.#keyStarts[index] as number, this.#keyEnds[index] as number))
    }
    const key = this.#keyText(start, end)
    if (level.keys.has(key)) return true
    level.keys.add(key)
    return false
  }

  #isAmong(first: number, start: number, end: number): boolean {
    const text = this.#text
    for (let index = first; index < this.#keyCount; index++) {
      let other = this.#keyStarts[index] as number
      if ((this.#keyEnds[index] as number) - other !== end - start) continue
      let at = start
      while (at < end && text.charCodeAt(at) === text.charCodeAt(other)) {
        at++
        other++
      }
      if (at === end) return true
    }
    return false
  }

  #keyText(start: number, end: number): string {
    const inside = this.#text.slice(start + 1, end - 1)
    return inside.includes("\\") ? (JSON.parse(`"${inside}"`) as string) : inside
  }

  #string(): JsonProblem | undefined {
    const text = this.#text
    let at = this.#at + 1
    let code = text.charCodeAt(at)
    this.#escaped = false
    while (code !== quote) {
      const next = code === backslash ? behindEscape(text, at) : code >= 0x20 ? at + 1 : at
      if (next === at) {
        this.#at = at
        return this.#problem(at < text.length ? "this can't be in a JSON string" : "the string does not end")
      }
      if (code === backslash) this.#escaped = true
      at = next
      code = text.charCodeAt(at)
    }
    this.#at = at + 1
    return undefined
  }

  #scalar(): JsonProblem | undefined {
    scalar.lastIndex = this.#at
    if (!scalar.test(this.#text)) return this.#problem("a JSON value is expected")
    this.#at = scalar.lastIndex
    return undefined
  }

  #accept(code: number): boolean {
    this.#skipBlanks()
    if (this.#text.charCodeAt(this.#at) !== code) return false
    this.#at++
    return true
  }

  #skipBlanks(): void {
    const text = this.#text
    let at = this.#at
    while (isBlank(text.charCodeAt(at))) at++
    this.#at = at
  }

  #problem(message: string): JsonProblem {
    return { at: this.#at, message }
  }
}

/** Whether a text of JSON has more than `most` values and names of members. It is not judged otherwise: what is no JSON has any answer. */
export function hasMoreValues(json: Uint8Array, most: number): boolean {
  // Each but the first stands behind one of these.
  if (json.length <= most) return false
  let count = 1
  for (let at = 0; at < json.length; at += 1) {
    const byte = json[at]
    if (byte === quote) at = endOfText(json, at)
    else if (byte === comma || byte === colon || byte === bracket || byte === brace) {
      count += 1
      if (count > most) return true
    }
  }
  return count > most
}

function endOfText(json: Uint8Array, open: number): number {
  let at = open + 1
  for (; at < json.length && json[at] !== quote; at += 1) if (json[at] === backslash) at += 1
  return at
}
