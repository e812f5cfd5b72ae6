import { type Character, characterAt } from "./characters.ts"

/** The end of an expression. Otherwise `at` is the bracket that does not match or the end of the text, and `expected` is the missing bracket or quote. */
export type ExpressionEnd = { readonly end: number } | { readonly at: number; readonly expected: string }

/** An open bracket or string. `quote` is the quote as written, raw or as an entity. */
type Frame =
  | { readonly kind: "code"; readonly close: string }
  | {
      readonly kind: "text"
      readonly quote: string
      readonly verbatim: boolean
      readonly holes: boolean
    }

const closers: Readonly<Record<string, string>> = { "(": ")", "[": "]", "{": "}" }
const depthMax = 500

/** Whether an expression begins at `at`: `@(` or `@{`. */
export function beginsExpression(text: string, at: number): boolean {
  return text[at] === "@" && (text[at + 1] === "(" || text[at + 1] === "{")
}

/**
 * Finds the end of the expression that begins at `start` with `@(` or `@{`: its matching bracket. Brackets in C# strings (`"…"`, `@"…"`,
 * `$"…{…}…"`), character literals and comments do not count. Documents are XML or text that only resembles XML, so a quote may be raw or an
 * entity; a string ends with the same form of quote that began it.
 */
export function expressionEnd(text: string, start: number): ExpressionEnd {
  return new ExpressionScan(text, start + 1).run()
}

/** Finds the end of an expression: brackets and strings are nested, so they are frames on a stack. */
class ExpressionScan {
  readonly #text: string
  readonly #frames: Frame[] = []
  #at: number
  /** `$` and `@` directly before the position: they determine the kind of a string that follows. */
  #prefix = ""

  constructor(text: string, at: number) {
    this.#text = text
    this.#at = at
  }

  /** Runs until the outermost bracket closes. */
  run(): ExpressionEnd {
    for (;;) {
      if (this.#at >= this.#text.length) return this.#stopped(this.#text.length)
      const top = this.#frames.at(-1)
      const failed = top?.kind === "text" ? this.#inText(top) : this.#inCode()
      if (failed !== undefined) return failed
      if (this.#frames.length === 0) return { end: this.#at }
      if (this.#frames.length > depthMax) return this.#stopped(this.#at)
    }
  }

  #stopped(at: number): ExpressionEnd {
    const top = this.#frames.at(-1)
    return { at, expected: top === undefined ? ")" : top.kind === "code" ? top.close : '"' }
  }

  /** One character of code. */
  #inCode(): ExpressionEnd | undefined {
    const { character, length } = this.#codeCharacter()
    const prefix = this.#prefix
    this.#prefix = character === "$" || character === "@" ? prefix + character : ""
    const close = closers[character]
    if (close !== undefined) this.#frames.push({ kind: "code", close })
    else if (character === ")" || character === "]" || character === "}") {
      const top = this.#frames.at(-1)
      if (top?.kind === "code" && top.close !== character) return this.#stopped(this.#at)
      this.#frames.pop()
    } else if (character === '"') {
      const quote = this.#text.slice(this.#at, this.#at + length)
      this.#frames.push({
        kind: "text",
        quote,
        verbatim: prefix.includes("@"),
        holes: prefix.includes("$"),
      })
    } else if (character === "'") return this.#character(length)
    else if (character === "/") return this.#slash(length)
    this.#at += length
    return undefined
  }

  /**
   * A backslash has no meaning in C# code outside strings. Before a quote it is a JSON-style escape, so `\"` begins a string that ends with
   * `\"`, and the compiler reports the quotes.
   */
  #codeCharacter(): Character {
    const here = characterAt(this.#text, this.#at)
    if (here.character !== "\\") return here
    const next = characterAt(this.#text, this.#at + 1)
    return next.character === '"' ? { character: '"', length: next.length + 1 } : here
  }

  /** Skips a character literal. A single apostrophe may also occur in code that is wrong anyway. */
  #character(length: number): undefined {
    const found =
      /^(?:\\(?:[xu][0-9A-Fa-f]{1,8}|&(?:amp;)?\w+;|.)|&(?:amp;)?#?\w+;|[^\\'\n])(?:'|&apos;|&#39;)/.exec(
        this.#text.slice(this.#at + length, this.#at + length + 24),
      )
    this.#at += length + (found?.[0].length ?? 0)
    return undefined
  }

  #slash(length: number): undefined {
    const next = this.#text[this.#at + 1]
    if (next === "/") {
      const end = this.#text.indexOf("\n", this.#at)
      this.#at = end < 0 ? this.#text.length : end
    } else if (next === "*") {
      const end = this.#text.indexOf("*/", this.#at + 2)
      this.#at = end < 0 ? this.#text.length : end + 2
    } else this.#at += length
    return undefined
  }

  #inText({ quote, verbatim, holes }: Extract<Frame, { kind: "text" }>): undefined {
    const text = this.#text
    if (text.startsWith(quote, this.#at)) {
      this.#at += quote.length
      if (verbatim && text.startsWith(quote, this.#at)) this.#at += quote.length
      else this.#frames.pop()
      return
    }
    const character = text[this.#at]
    if (character === "\\" && !verbatim) {
      this.#at += 1 + characterAt(text, this.#at + 1).length
    } else if (holes && character === "{" && text[this.#at + 1] === "{") this.#at += 2
    else if (holes && character === "{") {
      this.#frames.push({ kind: "code", close: "}" })
      this.#at += 1
    } else this.#at += 1
  }
}
