import { type CharacterSet, characterSet, propertyItem, type SetItem, shorthands } from "./character-set.ts"
import { type Dialect, PatternError } from "./dialect.ts"

/** Reads the text of a pattern, its escapes and character classes `[…]`. */
export class ClassReader {
  readonly source: string
  readonly dialect: Dialect
  at = 0

  constructor(source: string, dialect: Dialect) {
    this.source = source
    this.dialect = dialect
  }

  sees(text: string): boolean {
    return this.source.startsWith(text, this.at)
  }

  take(text: string): boolean {
    if (!this.sees(text)) return false
    this.at += text.length
    return true
  }

  /** Consumes the match of a sticky expression at the current offset. */
  match(shape: RegExp): RegExpExecArray | undefined {
    shape.lastIndex = this.at
    const found = shape.exec(this.source)
    if (found === null) return undefined
    this.at += found[0].length
    return found
  }

  /** The next character: a UTF-16 unit in .NET, a code point in ECMAScript. */
  next(): number {
    if (this.at >= this.source.length) throw new PatternError("it ends too early")
    const code = this.dialect === "ecma" ? this.source.codePointAt(this.at) : this.source.charCodeAt(this.at)
    this.at += (code as number) > 0xffff ? 2 : 1
    return code as number
  }

  /** After a backslash: `d`, `W`, `p{L}`. */
  shorthand(): readonly SetItem[] | undefined {
    const [letter, property] = this.match(/[dwsDWS]|[pP]\{([^}]*)\}/y) ?? []
    if (letter === undefined) return undefined
    const kind = letter[0] as string
    const items =
      property === undefined
        ? shorthands[this.dialect][kind.toLowerCase() as "d"]
        : [propertyItem(property, this.dialect)]
    const [first] = items
    if (first === undefined) throw new PatternError(`it uses an unknown property: ${property}`)
    if (kind === kind.toLowerCase()) return items as readonly SetItem[]
    const set = characterSet(items as readonly SetItem[], { negative: false, ignoreCase: false })
    return [(code) => !set.has(code)]
  }

  /** After a backslash: one character. */
  escapedCharacter(): number {
    const [, x, u, braced, letter] =
      this.match(/x([\dA-Fa-f]{2})|u([\dA-Fa-f]{4})|u\{([\dA-Fa-f]{1,6})\}|c([A-Za-z])/y) ?? []
    if (x !== undefined) return Number.parseInt(x, 16)
    if (u !== undefined) return this.#unitsOrPoint(Number.parseInt(u, 16))
    if (braced !== undefined && this.dialect === "ecma" && Number.parseInt(braced, 16) <= 0x10ffff)
      return Number.parseInt(braced, 16)
    if (letter !== undefined) return letter.charCodeAt(0) & 31
    const [octal] = this.match(this.dialect === "dotnet" ? /0[0-7]{0,2}/y : /0(?!\d)/y) ?? []
    if (octal !== undefined) return Number.parseInt(octal, 8)
    const code = this.next()
    const named = controls[String.fromCodePoint(code)]
    if (named !== undefined && (this.dialect === "dotnet" || !"ae".includes(String.fromCodePoint(code))))
      return named
    // Escapes of letters and digits are reserved: an unknown one is a mistake.
    if (/[A-Za-z0-9]/.test(String.fromCodePoint(code)))
      throw new PatternError(`\`\\${String.fromCodePoint(code)}\` is not a valid escape`)
    return code
  }

  /** In ECMAScript two escaped surrogates are one code point. */
  #unitsOrPoint(unit: number): number {
    if (this.dialect === "dotnet" || unit < 0xd800 || unit > 0xdbff) return unit
    const [, low] = this.match(/\\u([dD][c-fC-F][\dA-Fa-f]{2})/y) ?? []
    return low === undefined ? unit : 0x10000 + ((unit - 0xd800) << 10) + (Number.parseInt(low, 16) - 0xdc00)
  }

  /** After `[`, up to its `]`. */
  characterClass(ignoreCase: boolean): CharacterSet {
    const negative = this.take("^")
    const items: SetItem[] = []
    let without: CharacterSet | undefined
    // In .NET, a bracket at the start of a class is a literal.
    for (let isFirst = true; isFirst ? !this.#endsAtOnce() : !this.take("]"); isFirst = false) {
      if (this.dialect === "dotnet" && !isFirst && this.take("-[")) {
        without = this.characterClass(ignoreCase)
        if (!this.sees("]")) throw new PatternError("`[…]` must end after a subtraction")
      } else items.push(...this.#classItem())
    }
    return characterSet(items, { negative, ignoreCase, without })
  }

  #endsAtOnce(): boolean {
    return this.dialect === "ecma" && this.take("]")
  }

  #classItem(): readonly SetItem[] {
    const from = this.#classAtom()
    if (typeof from !== "number") return from
    if (!this.sees("-") || this.sees("-]") || (this.dialect === "dotnet" && this.sees("-[")))
      return [[from, from]]
    this.at += 1
    const to = this.#classAtom()
    if (typeof to !== "number") return [[from, from], [45, 45], ...to]
    if (to < from) throw new PatternError("a range of characters ends before it begins")
    return [[from, to]]
  }

  #classAtom(): number | readonly SetItem[] {
    if (!this.take("\\")) return this.next()
    const items = this.shorthand()
    if (items !== undefined) return items
    return this.take("b") ? 8 : this.escapedCharacter()
  }
}

const controls: Readonly<Record<string, number>> = { t: 9, n: 10, v: 11, f: 12, r: 13, a: 7, e: 27 }
