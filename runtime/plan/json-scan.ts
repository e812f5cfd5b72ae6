/** Where a JSON text is wrong: an offset in the text and what is expected there. */
export interface JsonProblem {
  readonly at: number
  readonly message: string
  /** The key, if the problem is that its object already has it. */
  readonly duplicate?: string
}

/** From `start` up to `end`, UTF-16 offsets. */
interface Range {
  readonly start: number
  readonly end: number
}

/** The place of a value in a JSON text. */
export interface JsonPlace extends Range {
  /** The place of its key, including the quotes; undefined for list elements and for the whole value. */
  readonly key: Range | undefined
}

/** Called for each value at its end, after the values inside it. `path` leads to the value and is valid only during the call. */
export type JsonVisitor = (path: readonly (string | number)[], place: JsonPlace) => void

/** Finds the place of a value by its path; undefined if the path leads nowhere. */
export type JsonPlaces = (path: readonly (string | number)[]) => JsonPlace | undefined

/** Files of a project are less deep than this, so later readers may be recursive. */
const fileDepthMax = 100

/** Default limit on values and member names of a JSON body. Reading as many takes about 15 ms in the worst case, when all names differ. */
export const jsonValuesDefault = 60_000

/**
 * Checks that JSON (RFC 8259) has unique keys and is nested at most 100 deep, and finds the place of an error. `JSON.parse` omits the place in many
 * messages and accepts duplicate keys.
 */
export function scanJson(text: string, visitor?: JsonVisitor): JsonProblem | undefined {
  return new JsonScanner(text, fileDepthMax, visitor).scan()
}

/** Like `scanJson`, but returns the value and the places of all its parts. */
export function readJson(
  text: string,
): { readonly value: unknown; readonly placeOf: JsonPlaces } | { readonly problem: JsonProblem } {
  const places = new Map<string, JsonPlace>()
  const problem = scanJson(text, (path, place) => places.set(JSON.stringify(path), place))
  if (problem !== undefined) return { problem }
  return { value: JSON.parse(text), placeOf: (path) => places.get(JSON.stringify(path)) }
}

/** A duplicate key in one object. `JSON.parse` silently keeps the last value; other readers keep the first. */
export interface DuplicateKey {
  readonly key: string
  /** Starts at 1. */
  readonly line: number
}

/**
 * The first duplicate key of `text`, which RFC 7493 forbids; `value` is the result of `JSON.parse(text)`. Counting costs a quarter of parsing. If the
 * text has as many colons after quotes as the value has keys, no key is duplicate and the text need not be scanned.
 */
export function duplicateKey(text: string, value: unknown): DuplicateKey | undefined {
  if (quotedColons(text) === keysWithin(value, 0)) return undefined
  const problem = new JsonScanner(text, Number.POSITIVE_INFINITY).scan()
  if (problem?.duplicate === undefined) return undefined
  return { key: problem.duplicate, line: text.slice(0, problem.at).split("\n").length }
}

/** The number of colons that follow a quote: one for each key, and some inside strings. */
function quotedColons(text: string): number {
  let count = 0
  for (let at = text.indexOf(":"); at !== -1; at = text.indexOf(":", at + 1)) {
    let before = at - 1
    while (isBlank(text.charCodeAt(before))) before--
    if (text.charCodeAt(before) === quote) count++
  }
  return count
}

/** Values deeper than this are not counted, to avoid a stack overflow. Their text is scanned instead. */
const countedDepthMax = 1000

/** The number of keys in all objects of a value. NaN, which equals no count, for a value that is nested too deep. */
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

/** An object or a list whose end is not reached yet. */
interface Level {
  readonly start: number
  readonly key: Range | undefined
  /** Index of the first key of the object among the keys of all open objects; -1 for a list. */
  readonly firstKey: number
  /** The keys, if comparing them in place is too slow or wrong. */
  keys: Set<string> | undefined
}

/** Objects with more keys than this, or with escapes in keys, use a set. */
const comparedMax = 16
const scalar = /(?:true|false|null|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?)(?![A-Za-z0-9_.])/y
/** What may follow a backslash, in addition to `u` and four hex digits. */
const escapable = '"\\/bfnrt'
const hexDigits = /[0-9A-Fa-f]{4}/y

/** The offset after the escape sequence at `at`; `at` if there is no valid escape sequence. */
function behindEscape(text: string, at: number): number {
  const sign = text[at + 1]
  if (sign === undefined) return at
  if (sign !== "u") return escapable.includes(sign) ? at + 2 : at
  hexDigits.lastIndex = at + 2
  return hexDigits.test(text) ? at + 6 : at
}

/** One pass without recursion, because a request can be nested as deep as its size allows. */
class JsonScanner {
  readonly #text: string
  readonly #depthMax: number
  readonly #visitor: JsonVisitor | undefined
  readonly #levels: Level[] = []
  readonly #path: (string | number)[] = []
  /** Start and end of the keys of all open objects, one object after the other. */
  readonly #keyStarts: number[] = []
  readonly #keyEnds: number[] = []
  #keyCount = 0
  #at = 0
  /** Whether the last string has escapes. */
  #escaped = false
  /** The key whose value follows. */
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
    return this.#at < this.#text.length ? this.#problem("there is more text after the value") : undefined
  }

  /** Reads a value, or its beginning up to the first inner value, and everything that ends with it. */
  #value(): JsonProblem | undefined {
    if (this.#levels.length > this.#depthMax)
      return this.#problem(`nested deeper than ${this.#depthMax} levels`)
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

  /** Reads what follows a value: the next value of the same object or list, or the ends of the enclosing ones. */
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

  /** A key and the colon after it. */
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

  /** Whether the object already has the key from `start` to `end`. Nearly all objects are small and have no escapes in their keys. */
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

  /** Whether a key repeats one of its object, by comparing the text in place. Keys with escapes are compared elsewhere. */
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

  /** Skips a string and notes whether it has escapes. */
  #string(): JsonProblem | undefined {
    const text = this.#text
    let at = this.#at + 1
    let code = text.charCodeAt(at)
    this.#escaped = false
    while (code !== quote) {
      const next = code === backslash ? behindEscape(text, at) : code >= 0x20 ? at + 1 : at
      if (next === at) {
        this.#at = at
        return this.#problem(
          at < text.length ? "this character is not allowed in a JSON string" : "the string is not closed",
        )
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

/** Whether a JSON text has more than `most` values and member names. The result for an invalid text is unspecified. */
export function hasMoreValues(json: Uint8Array, most: number): boolean {
  // Every value and name except the first follows one of these.
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
