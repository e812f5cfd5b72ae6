import type { IToken, TokenType } from "chevrotain"
import type { Mistakes } from "./mistakes.ts"
import { balanced, repairBraces } from "./repair.ts"
import { quotable } from "./scan.ts"
import { Close, Else, End, endOf, Junk, Newline, Open, Semicolon, Word } from "./tokens.ts"

/** How deep blocks may be nested, and how many links an `else` chain may have. */
export const nestingMax = 64

/** An empty token at `offset`, for something that is not written there. */
export function virtual(tokenType: TokenType, offset: number, payload?: unknown): IToken {
  const token: IToken = {
    image: "",
    startOffset: offset,
    tokenType,
    tokenTypeIdx: tokenType.tokenTypeIdx as number,
  }
  if (payload !== undefined) token.payload = payload
  return token
}

/**
 * Turns newlines and `;` into one `End` behind each statement, and makes braces balance. After it the grammar fits
 * every input: whatever is wrong has been reported here or is a `Junk` item.
 */
export function layout(tokens: readonly IToken[], mistakes: Mistakes): IToken[] {
  const braced = balanced(tokens) ? tokens : repairBraces(tokens, mistakes)
  return new Ends(mistakes, mistakes.file.text.length).run(limitNesting(braced, mistakes))
}

/** Takes out what is nested too deep, and leaves one broken item in its place. */
function limitNesting(tokens: readonly IToken[], mistakes: Mistakes): readonly IToken[] {
  let depth = 0
  let out: IToken[] | undefined
  for (const [index, token] of tokens.entries()) {
    if (token.tokenType === Open) depth++
    if (depth <= nestingMax) out?.push(token)
    else if (token.tokenType === Open && depth === nestingMax + 1) {
      out ??= tokens.slice(0, index)
      const start = token.startOffset
      const detail = `this block is nested ${nestingMax + 1} deep`
      mistakes.add({ code: "SP1025", start, end: start + 1, detail })
      out.push(virtual(Junk, start, { end: start, problem: undefined }))
    }
    if (token.tokenType === Close) depth--
  }
  return out ?? tokens
}

/** Walks the tokens once, with what separates the last one put out from the next one. */
class Ends {
  readonly #out: IToken[] = []
  readonly #mistakes: Mistakes
  readonly #length: number
  #separator: IToken | undefined
  #semicolon = false

  constructor(mistakes: Mistakes, length: number) {
    this.#mistakes = mistakes
    this.#length = length
  }

  run(tokens: readonly IToken[]): IToken[] {
    for (const token of tokens) this.#take(token)
    if (this.#inStatement) this.#end(this.#separator?.startOffset ?? this.#length)
    return this.#out
  }

  #take(token: IToken): void {
    if (token.tokenType === Newline || token.tokenType === Semicolon) {
      this.#separator ??= token
      if (token.tokenType === Semicolon) this.#semicolon = true
      return
    }
    if (token.tokenType === Open) this.#open(token)
    else if (token.tokenType === Close) {
      if (this.#inStatement) this.#end(this.#separator?.startOffset ?? token.startOffset)
    } else if (this.#isElse(token)) token.tokenType = Else
    else this.#item(token)
    if (token.tokenType === Else) token.tokenTypeIdx = Else.tokenTypeIdx as number
    this.#out.push(token)
    this.#separator = undefined
    this.#semicolon = false
  }

  /** A `{` belongs to the statement before it, whatever newlines are between. */
  #open(token: IToken): void {
    const last = this.#out.at(-1)?.tokenType
    if (last !== undefined && last !== End && last !== Open && last !== Close && !this.#semicolon) return
    if (this.#inStatement) this.#end(this.#separator?.startOffset ?? token.startOffset)
    const start = token.startOffset
    const detail = "there is no statement before this `{`"
    this.#mistakes.add({ code: "SP1004", start, end: start + 1, detail })
  }

  #item(token: IToken): void {
    if (this.#out.at(-1)?.tokenType === Close && this.#separator === undefined) {
      const start = token.startOffset
      const shown = quotable(token.image)
      const detail = `\`${shown}\` follows the \`}\` of a statement`
      this.#mistakes.add({ code: "SP1019", start, end: start + shown.length, detail })
      this.#end(endOf(this.#out.at(-1) as IToken))
    } else if (this.#separator !== undefined && this.#inStatement) this.#end(this.#separator.startOffset)
  }

  /** `else` after a block goes on with its statement; on the next line too, `fmt` moves it up. */
  #isElse(token: IToken): boolean {
    return (
      token.tokenType === Word &&
      token.image === "else" &&
      this.#out.at(-1)?.tokenType === Close &&
      !this.#semicolon
    )
  }

  /** Whether something stands since the last end or `{`. */
  get #inStatement(): boolean {
    const last = this.#out.at(-1)?.tokenType
    return last !== undefined && last !== End && last !== Open
  }

  #end(offset: number): void {
    this.#out.push(virtual(End, offset))
  }
}
