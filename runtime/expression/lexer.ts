import { readNumber } from "./number-literal.ts"
import { isNameStart, nameEnd, type Reporter } from "./source-characters.ts"
import { readText } from "./text-literal.ts"

/** The kind of a token: a name, a field in backticks, a value, the end, a mistake that is already reported, or the text of a sign. */
export type CelTokenKind = "name" | "quoted" | "literal" | "end" | "bad" | Sign

export type Sign =
  | "("
  | ")"
  | "["
  | "]"
  | "{"
  | "}"
  | "."
  | ","
  | ":"
  | "?"
  | "+"
  | "-"
  | "*"
  | "/"
  | "%"
  | "!"
  | "<"
  | "<="
  | ">"
  | ">="
  | "=="
  | "!="
  | "&&"
  | "||"
  | "in"

const singles = new Map<number, Sign>(
  (["(", ")", "[", "]", "{", "}", ".", ",", ":", "?", "+", "-", "*", "/", "%"] as const).map((sign) => [
    sign.charCodeAt(0),
    sign,
  ]),
)
const singleOf: readonly (Sign | undefined)[] = Array.from({ length: 128 }, (_, code) => singles.get(code))

/** The binding strength of operators of one character; 0 for other characters. */
const singleStrength = new Uint8Array(128)
for (const [sign, strength] of [
  ["+", 4],
  ["-", 4],
  ["*", 5],
  ["/", 5],
  ["%", 5],
] as const) {
  singleStrength[sign.charCodeAt(0)] = strength
}
const comparing = 3

const hints: ReadonlyMap<string, string> = new Map([
  ["#", "`#` does not start a comment; comments start with `//`"],
  [";", "`;` is not allowed here; an expression has only one part"],
])

/** Typographic quotation marks of word processors, and what closes a text that starts with one. */
const typographicMarks: ReadonlyMap<string, RegExp> = new Map([
  ["“", /[”“\n]/g],
  ["”", /[”“\n]/g],
  ["„", /[”“\n]/g],
  ["‘", /[’‘\n]/g],
  ["’", /[’‘\n]/g],
  ["‚", /[’‘\n]/g],
])

const quotedField = /`[A-Za-z0-9_.\-/ ]+`/y

/**
 * Splits a source into tokens, one at a time: `kind`, `start`, `end` and `value` describe the current one. It reports each mistake once and, if the
 * intention is clear, returns the intended token (`=` for `==`), so that the parser can continue.
 */
export class Lexer {
  kind: CelTokenKind = "end"
  start = 0
  end = 0
  /** The binding strength of the token as an operator; 0 if it is not an operator. */
  strength = 0
  /** The name, the field, or the value of a literal. */
  value: unknown
  /** The end of the previous token. */
  endBefore = 0
  private readonly source: string
  private readonly reporter: Reporter

  constructor(source: string, reporter: Reporter) {
    this.source = source
    this.reporter = reporter
  }

  /** Advances to the next token. */
  next(): void {
    this.endBefore = this.end
    this.start = this.skipBlanks(this.end)
    this.strength = 0
    this.kind = this.scan(this.start)
  }

  /** Reads one token. Sorted by frequency: names, numbers, strings, signs. */
  private scan(at: number): CelTokenKind {
    if (at >= this.source.length) return this.cut("end", at)
    const code = this.source.charCodeAt(at)
    if (isNameStart(code)) return this.word(at)
    const follower = this.source.charCodeAt(at + 1)
    if ((code >= 48 && code <= 57) || (code === 46 && follower >= 48 && follower <= 57)) {
      return this.literal(readNumber(this.source, at, this.reporter))
    }
    if (code === 34 || code === 39) return this.literal(readText(this.source, at, at, this.reporter))
    const sign = code < 128 ? singleOf[code] : undefined
    if (sign === undefined) return this.longSign(code, follower, at)
    this.strength = singleStrength[code] ?? 0
    return this.cut(sign, at + 1)
  }

  /** The offset after white space and comments. */
  private skipBlanks(from: number): number {
    const { source } = this
    let at = from
    for (;;) {
      const code = source.charCodeAt(at)
      if (code > 47) return at
      if (code === 32 || code === 10 || code === 9 || code === 13 || code === 12) at++
      else {
        const end = code === 47 ? this.commentEnd(at) : -1
        if (end === -1) return at
        at = end
      }
    }
  }

  /** The end of the comment that starts at a slash; -1 if there is no comment. */
  private commentEnd(at: number): number {
    const { source } = this
    const follower = source.charCodeAt(at + 1)
    if (follower !== 47 && follower !== 42) return -1
    const closer = follower === 47 ? "\n" : "*/"
    const close = source.indexOf(closer, at + 2)
    const end = close === -1 ? source.length : close + closer.length
    if (follower === 42)
      this.reporter.mistake(
        "`/*` does not start a comment; comments start with `//` and end with their line",
        at,
        end,
      )
    return end
  }

  private cut(kind: CelTokenKind, end: number): CelTokenKind {
    this.end = end
    return kind
  }

  private infix(kind: Sign, end: number, strength: number): CelTokenKind {
    this.strength = strength
    return this.cut(kind, end)
  }

  private literal({ value, end }: { readonly value: unknown; readonly end: number }): CelTokenKind {
    this.value = value
    return this.cut("literal", end)
  }

  /** A name, a keyword, or a string with a prefix. The length decides which keywords are compared. */
  private word(at: number): CelTokenKind {
    const { source } = this
    const end = nameEnd(source, at)
    const quote = source.charCodeAt(end)
    const name = source.slice(at, end)
    if ((quote === 34 || quote === 39) && /^(?:[rR]|[bB][rR]?)$/.test(name)) {
      return this.literal(readText(source, at, end, this.reporter))
    }
    this.value = name
    switch (name.length) {
      case 2:
        return name === "in" ? this.infix("in", end, comparing) : this.cut("name", end)
      case 4:
        if (name === "true") return this.literal({ value: true, end })
        return name === "null" ? this.literal({ value: null, end }) : this.cut("name", end)
      case 5:
        return name === "false" ? this.literal({ value: false, end }) : this.cut("name", end)
      default:
        return this.cut("name", end)
    }
  }

  /** Signs of two characters, and signs of other languages, which are read as what they mean and reported. */
  private longSign(code: number, follower: number, at: number): CelTokenKind {
    switch (code) {
      case 33:
        return follower === 61 ? this.comparison("!=", at) : this.cut("!", at + 1)
      case 60:
        if (follower === 62) return this.meant("!=", at, 2)
        return follower === 61 ? this.infix("<=", at + 2, comparing) : this.infix("<", at + 1, comparing)
      case 62:
        return follower === 61 ? this.infix(">=", at + 2, comparing) : this.infix(">", at + 1, comparing)
      case 61:
        if (follower === 61) return this.comparison("==", at)
        this.reporter.mistake("`=` is not a comparison; write `==`", at, at + 1)
        return this.infix("==", at + 1, comparing)
      case 38:
        return follower === 38 ? this.infix("&&", at + 2, 2) : this.meant("&&", at, 1)
      case 124:
        return follower === 124 ? this.infix("||", at + 2, 1) : this.meant("||", at, 1)
      case 96:
        return this.backticks(at)
      default:
        return this.stray(at)
    }
  }

  /** `==` and `!=`, or the three-character forms of other languages. */
  private comparison(sign: "==" | "!=", at: number): CelTokenKind {
    return this.source.charCodeAt(at + 2) === 61
      ? this.meant(sign, at, 3)
      : this.infix(sign, at + 2, comparing)
  }

  /** Reports an operator of another language and returns the equivalent sign. */
  private meant(sign: Sign, at: number, length: number): CelTokenKind {
    const found = this.source.slice(at, at + length)
    this.reporter.mistake(`\`${found}\` is not an operator; write \`${sign}\``, at, at + length)
    return this.infix(sign, at + length, sign === "&&" ? 2 : sign === "||" ? 1 : comparing)
  }

  /** A field name in backticks. */
  private backticks(at: number): CelTokenKind {
    quotedField.lastIndex = at
    const field = quotedField.exec(this.source)?.[0]
    if (field !== undefined) {
      this.value = field.slice(1, -1)
      return this.cut("quoted", at + field.length)
    }
    const close = this.source.indexOf("`", at + 1)
    const end = close === -1 ? at + 1 : close + 1
    this.reporter.mistake(
      "backticks contain the name of a field: letters, digits, spaces and `_.-/`",
      at,
      end,
    )
    return this.cut("bad", end)
  }

  /** A character that begins no token. Typographic quotes are read as strings and reported. */
  private stray(at: number): CelTokenKind {
    const character = String.fromCodePoint(this.source.codePointAt(at) ?? 0)
    const end = at + character.length
    const closing = typographicMarks.get(character)
    if (closing !== undefined) return this.typographicText(at, closing)
    const printable = /[\p{L}\p{N}\p{P}\p{S}]/u.test(character)
    const shown = printable ? `\`${character}\`` : "this character"
    this.reporter.mistake(hints.get(character) ?? `${shown} is not allowed here`, at, end)
    return this.cut("bad", end)
  }

  /** A text in typographic quotation marks, up to its closing mark or the end of the line. */
  private typographicText(at: number, closing: RegExp): CelTokenKind {
    closing.lastIndex = at + 1
    const close = closing.exec(this.source)
    const end = close === null ? this.source.length : close.index + (close[0] === "\n" ? 0 : 1)
    this.reporter.mistake("strings need straight quotes: `\"…\"` or `'…'`", at, end)
    return this.literal({ value: "", end })
  }
}
