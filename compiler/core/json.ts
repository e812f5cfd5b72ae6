/** Where JSON text goes wrong: an offset in the text and what was expected there. */
export interface JsonProblem {
  readonly at: number
  readonly message: string
}

/** Where a value of a JSON text stands. */
export interface JsonPlace {
  readonly start: number
  readonly end: number
  /** Where its key stands, with the quotes; undefined for elements of lists and the value as a whole. */
  readonly key: { readonly start: number; readonly end: number } | undefined
}

const depthMax = 100

/**
 * Checks JSON (RFC 8259) and says where it is wrong. JSON.parse of Node 20 leaves the place out of many of its messages, and takes a key
 * that is there twice.
 */
export function checkJson(text: string): JsonProblem | undefined {
  return new JsonChecker(text).check()
}

/** Tells places in a JSON text by the steps that lead there; undefined for steps that lead nowhere. */
export type JsonPlaces = (path: readonly (string | number)[]) => JsonPlace | undefined

/** Reads JSON (RFC 8259) whose keys are unique, nested at most 100 deep, with the places of all values. */
export function readJson(
  text: string,
): { readonly value: unknown; readonly placeOf: JsonPlaces } | { readonly problem: JsonProblem } {
  const places = new Map<string, JsonPlace>()
  const problem = new JsonChecker(text, (path, place) => places.set(JSON.stringify(path), place)).check()
  if (problem !== undefined) return { problem }
  return { value: JSON.parse(text), placeOf: (path) => places.get(JSON.stringify(path)) }
}

/**
 * Reads JSON as `readJson` does and tells each value's place when its end is reached: what is inside of it was told before. For who makes
 * something else of it than objects.
 */
export function walkJson(text: string, note: Note): JsonProblem | undefined {
  return new JsonChecker(text, note).check()
}

/** Told for each value: the steps that lead there (only while it is called), and its place. */
export type Note = (path: readonly (string | number)[], place: JsonPlace) => void

class JsonChecker {
  readonly #text: string
  readonly #note: Note | undefined
  readonly #path: (string | number)[] = []
  #at = 0

  constructor(text: string, note?: Note) {
    this.#text = text
    this.#note = note
  }

  check(): JsonProblem | undefined {
    const problem = this.#value(0)
    if (problem !== undefined) return problem
    this.#blanks()
    return this.#at < this.#text.length
      ? this.#problem("nothing more is expected after the value")
      : undefined
  }

  #value(depth: number, key?: JsonPlace["key"]): JsonProblem | undefined {
    if (depth > depthMax) return this.#problem(`nested deeper than ${depthMax}`)
    this.#blanks()
    const start = this.#at
    const problem = this.#inner(depth)
    if (problem === undefined) this.#note?.(this.#path, { start, end: this.#at, key })
    return problem
  }

  #inner(depth: number): JsonProblem | undefined {
    const next = this.#text[this.#at]
    if (next === "{") return this.#object(depth)
    if (next === "[") return this.#array(depth)
    if (next === '"') return this.#string()
    return this.#scalar()
  }

  #object(depth: number): JsonProblem | undefined {
    const keys = new Set<string>()
    this.#at++
    if (this.#accept("}")) return undefined
    do {
      this.#blanks()
      const start = this.#at
      if (this.#text[start] !== '"') return this.#problem("a key in double quotes is expected")
      const problem = this.#string()
      if (problem !== undefined) return problem
      const key = this.#text.slice(start, this.#at)
      if (keys.has(key)) return { at: start, message: `the key ${key} is there twice` }
      keys.add(key)
      const end = this.#at
      if (!this.#accept(":")) return this.#problem("`:` is expected after the key")
      this.#path.push(JSON.parse(key) as string)
      const inner = this.#value(depth + 1, { start, end })
      if (inner !== undefined) return inner
      this.#path.pop()
    } while (this.#accept(","))
    return this.#accept("}") ? undefined : this.#problem("`,` or `}` is expected")
  }

  #array(depth: number): JsonProblem | undefined {
    this.#at++
    if (this.#accept("]")) return undefined
    let index = 0
    do {
      this.#path.push(index++)
      const problem = this.#value(depth + 1)
      if (problem !== undefined) return problem
      this.#path.pop()
    } while (this.#accept(","))
    return this.#accept("]") ? undefined : this.#problem("`,` or `]` is expected")
  }

  #string(): JsonProblem | undefined {
    // biome-ignore lint/suspicious/noControlCharactersInRegex: JSON allows none in a string.
    const pattern = /"(?:[^"\\\u0000-\u001f]|\\(?:["\\/bfnrt]|u[0-9A-Fa-f]{4}))*/y
    pattern.lastIndex = this.#at
    this.#at += pattern.exec(this.#text)?.[0].length ?? 0
    if (this.#text[this.#at] !== '"')
      return this.#problem(
        this.#at < this.#text.length ? "this can't be in a JSON string" : "the string does not end",
      )
    this.#at++
    return undefined
  }

  #scalar(): JsonProblem | undefined {
    const pattern = /(?:true|false|null|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?)(?![A-Za-z0-9_.])/y
    pattern.lastIndex = this.#at
    const found = pattern.exec(this.#text)
    if (found === null) return this.#problem("a JSON value is expected")
    this.#at += found[0].length
    return undefined
  }

  #accept(sign: string): boolean {
    this.#blanks()
    if (this.#text[this.#at] !== sign) return false
    this.#at++
    return true
  }

  #blanks(): void {
    while (/[ \t\n\r]/.test(this.#text[this.#at] ?? "x")) this.#at++
  }

  #problem(message: string): JsonProblem {
    return { at: this.#at, message }
  }
}
