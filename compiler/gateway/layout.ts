import type { IToken, TokenType } from "chevrotain"
import type { Mistakes } from "./mistakes.ts"
import { balanced, repairBraces } from "./repair.ts"
import { quotable } from "./scan.ts"
import { Close, Else, End, endOf, Junk, Newline, Open, Semicolon, Word } from "./tokens.ts"

/** Maximum nesting depth of blocks, and maximum number of links in an `else` chain. */
export const nestingMax = 64

/** An empty token at `offset`, for something that is missing in the text. */
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
 * Turns newlines and `;` into one `End` after each statement, and balances braces. After this pass the grammar accepts every input: each
 * mistake is either reported here or is a `Junk` item.
 */
export function layout(tokens: readonly IToken[], mistakes: Mistakes): IToken[] {
  const braced = balanced(tokens) ? tokens : repairBraces(tokens, mistakes)
  return new Ends(mistakes, mistakes.file.text.length).run(limitNesting(braced, mistakes))
}

/** Replaces blocks that are nested too deeply by one broken item. */
function limitNesting(tokens: readonly IToken[], mistakes: Mistakes): readonly IToken[] {
  let depth = 0
  let out: IToken[] | undefined
  for (const [index, token] of tokens.entries()) {
    if (token.tokenType === Open) depth++
    if (depth <= nestingMax) out?.push(token)
    else if (token.tokenType === Open && depth === nestingMax + 1) {
      out ??= tokens.slice(0, index)
      const start = token.startOffset
      const detail = `this block is at nesting level ${nestingMax + 1}`
      mistakes.add({ code: "SP1025", start, end: start + 1, detail })
      out.push(virtual(Junk, start, { end: start, problem: undefined }))
    }
    if (token.tokenType === Close) depth--
  }
  return out ?? tokens
}

/** Walks the tokens once. Keeps the separators between the last emitted token and the next one. */
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

  /** Adds the token to the output and decides, by the separator before it, whether it begins a statement. */
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

  /** A `{` belongs to the statement before it, even after newlines. */
  #open(token: IToken): void {
    const last = this.#out.at(-1)?.tokenType
    if (last !== undefined && last !== End && last !== Open && last !== Close && !this.#semicolon) return
    if (this.#inStatement) this.#end(this.#separator?.startOffset ?? token.startOffset)
    const start = token.startOffset
    const detail = "there is no statement before this `{`"
    this.#mistakes.add({ code: "SP1004", start, end: start + 1, detail })
  }

  /** After `}` only a separator or `else` can follow. */
  #item(token: IToken): void {
    if (this.#out.at(-1)?.tokenType === Close && this.#separator === undefined) {
      const start = token.startOffset
      const shown = quotable(token.image)
      const detail = `\`${shown}\` follows the \`}\` of a statement`
      this.#mistakes.add({ code: "SP1019", start, end: start + shown.length, detail })
      this.#end(endOf(this.#out.at(-1) as IToken))
    } else if (this.#separator !== undefined && this.#inStatement) this.#end(this.#separator.startOffset)
  }

  /** `else` after a block continues its statement, also on the next line; `fmt` moves it up. */
  #isElse(token: IToken): boolean {
    return (
      token.tokenType === Word &&
      token.image === "else" &&
      this.#out.at(-1)?.tokenType === Close &&
      !this.#semicolon
    )
  }

  /** Whether a token was emitted since the last `End` or `{`. */
  get #inStatement(): boolean {
    const last = this.#out.at(-1)?.tokenType
    return last !== undefined && last !== End && last !== Open
  }

  #end(offset: number): void {
    this.#out.push(virtual(End, offset))
  }
}
