import type { IToken } from "chevrotain"
import { compactList, compactText } from "../core/compact.ts"
import { asItLooks } from "../core/odd-characters.ts"
import type { Span } from "../core/source.ts"
import type {
  Argument,
  Block,
  Call,
  Otherwise,
  Statement,
  TextArgument,
  TextArgumentPart,
  Word,
} from "./ast.ts"
import type { HeredocScan } from "./heredoc.ts"
import type { JunkScan } from "./junk.ts"
import { nestingMax } from "./layout.ts"
import type { Mistakes } from "./mistakes.ts"
import type { CallScan, ParensScan } from "./parens.ts"
import { lengthProblem, quotable, type TokenProblem } from "./scan.ts"
import { dedent, type ScannedSegment, type TextScan, unescaped } from "./texts.ts"
import * as tokens from "./tokens.ts"
import { endOf, scanOf } from "./tokens.ts"

/** One `else` as parsed: the word, the items before its block, and the block. */
export interface ElsePart {
  readonly keyword: IToken
  readonly items: readonly IToken[]
  readonly block: Block | undefined
}

/** Builds the syntax tree from tokens, and reports mistakes that can only be found here. */
export class Builder {
  readonly #mistakes: Mistakes

  constructor(mistakes: Mistakes) {
    this.#mistakes = mistakes
  }

  /** `keyword args… { … } else …`. A statement that does not begin with a word gets an empty keyword and is broken. */
  statement(items: readonly IToken[], block: Block | undefined, elses: readonly ElsePart[]): Statement {
    const chain = this.#checkElses(elses)
    const otherwise = this.#otherwise(chain)
    return this.#statement(items, block, otherwise, chain.length < elses.length)
  }

  /** `{ … }`. A brace that the layout pass inserted has no characters. */
  block(open: IToken, statements: readonly Statement[], close: IToken): Block {
    return { statements, open: this.#spanOf(open), close: this.#spanOf(close) }
  }

  /**
   * Makes a statement of its tokens. The problems of its tokens make it broken, so that later phases report nothing that follows from them.
   */
  #statement(
    items: readonly IToken[],
    block: Block | undefined,
    otherwise: Otherwise | undefined,
    spoilt: boolean,
  ): Statement {
    const [head, ...rest] = asTheyLook(items, this.#mistakes.file.text)
    const start = head?.startOffset ?? block?.open.start ?? 0
    const problems: TokenProblem[] = []
    const args: Argument[] = []
    const keyword = this.#keyword(head, start, args, problems)
    for (const item of rest) {
      const argument = this.#argument(item, problems)
      if (argument !== undefined) args.push(argument)
    }
    // The tag must be alone at the end of its line, so a block there is on the wrong line.
    if (block !== undefined && items.at(-1)?.tokenType === tokens.Heredoc)
      problems.push({ code: "SP1027", ...range(block.open), detail: "a block follows the closing tag" })
    for (const problem of problems) this.#mistakes.add(problem)
    const last = items.at(-1)
    const end = otherwiseEnd(otherwise) ?? block?.close.end ?? (last === undefined ? start : endOf(last))
    const broken =
      spoilt ||
      problems.length > 0 ||
      keyword.text === "" ||
      // A token with a problem that the lexer reported.
      items.some(isBad) ||
      // Braces that the layout pass inserted are empty.
      (block !== undefined && (isEmpty(block.open) || isEmpty(block.close))) ||
      // An earlier finding on this line: what follows from it is not reported again.
      this.#mistakes.on(start) ||
      (last !== undefined && this.#mistakes.on(endOf(last)))
    return { keyword, args: compactList(args), block, otherwise, broken, span: this.#span(start, end) }
  }

  /**
   * The keyword. A first token of another kind becomes an argument of a statement without keyword, so that it is reported once and keeps
   * its place.
   */
  #keyword(head: IToken | undefined, start: number, args: Argument[], problems: TokenProblem[]): Word {
    if (head?.tokenType === tokens.Word) {
      if (head.image === "else") {
        const detail = "there is no block before this `else`"
        problems.push({ code: "SP1020", start, end: endOf(head), detail })
      }
      return this.#word(start, endOf(head))
    }
    if (head?.tokenType === tokens.Call) {
      // `when(x)` is already reported. The meaning is clear, so read it as `when (x)`.
      const { nameEnd, start: from, close } = scanOf<CallScan>(head)
      const source = this.#textOf(from, close)
      args.push({ kind: "cel", source, span: this.#span(from, close) })
      return this.#word(start, nameEnd)
    }
    if (head !== undefined && !isBad(head)) {
      const detail = `\`${quotable(head.image)}\` is not a keyword`
      problems.push({ code: "SP1018", start, end: start + quotable(head.image).length, detail })
      // A word in quotes is most likely meant without them.
      if (/^"[a-z][a-z-]*"$/.test(head.image)) {
        const span = this.#spanOf(head)
        return { kind: "word", text: head.image.slice(1, -1), span }
      }
      const argument = this.#argument(head, problems)
      if (argument !== undefined) args.push(argument)
    }
    return { kind: "word", text: "", span: this.#span(start, start) }
  }

  /** An argument with its place; undefined for tokens that are reported already. */
  #argument(token: IToken, problems: TokenProblem[]): Argument | undefined {
    const start = token.startOffset
    switch (token.tokenType) {
      case tokens.Word:
        return this.#word(start, endOf(token))
      case tokens.Equals:
        return { kind: "equals", span: this.#spanOf(token) }
      case tokens.Quoted:
        return this.#text("quoted", token, undefined, problems)
      case tokens.Heredoc:
        return this.#text("heredoc", token, scanOf<HeredocScan>(token).indent, problems)
      case tokens.Parens: {
        const { start: from, close, problem } = scanOf<ParensScan>(token)
        const source = this.#textOf(from, close)
        if (problem === undefined && source.trim() === "")
          problems.push({
            code: "SP1023",
            start,
            end: endOf(token),
            detail: "there is nothing between `(` and `)`",
          })
        return { kind: "cel", source, span: this.#span(from, close) }
      }
      case tokens.Call:
        return this.#call(token, problems)
      default:
        return undefined
    }
  }

  /** A reference to the outside. Undefined if its parentheses could not be read. */
  #call(token: IToken, problems: TokenProblem[]): Call | undefined {
    const { nameEnd, args } = scanOf<CallScan>(token)
    if (args === undefined) return undefined
    return {
      kind: "call",
      name: this.#word(token.startOffset, nameEnd),
      args: args.map(({ start, end, pieces }) => {
        if (pieces === undefined) return this.#word(start, end)
        const parts = this.#parts(pieces, undefined, start, problems)
        return { kind: "text", form: "quoted", parts, span: this.#span(start, end) }
      }),
      span: this.#spanOf(token),
    }
  }

  /** `indent`: how many leading spaces each line of a heredoc loses. */
  #text(
    form: TextArgument["form"],
    token: IToken,
    indent: number | undefined,
    problems: TokenProblem[],
  ): TextArgument {
    const { pieces } = scanOf<TextScan>(token)
    const parts = this.#parts(pieces, indent, pieces[0]?.start ?? 0, problems)
    return { kind: "text", form, parts, span: this.#spanOf(token) }
  }

  /** `indent` is the indentation of a heredoc's closing tag, undefined for quoted text. `from` is the offset where the content begins. */
  #parts(
    pieces: readonly ScannedSegment[],
    indent: number | undefined,
    from: number,
    problems: TokenProblem[],
  ): readonly TextArgumentPart[] {
    const { text } = this.#mistakes.file
    const parts: TextArgumentPart[] = []
    for (const { kind, start, end } of pieces) {
      const span = this.#span(start, end)
      const source = this.#textOf(start, end)
      if (kind === "cel") {
        // The length of the source is limited here, before CEL parses it.
        const long = lengthProblem(text, start - 1, end)
        if (long !== undefined) problems.push(long)
        if (source.trim() === "") {
          const detail = "there is nothing between `${` and `}`"
          problems.push({ code: "SP1023", start: start - 2, end: end + 1, detail })
        }
        // The parts of a text are kept apart, so that an expression has its own place.
        parts.push({ kind, source, span })
        continue
      }
      const value =
        indent === undefined
          ? unescaped(source, start, problems)
          : compactText(dedent(source, indent, start === from))
      // An empty literal would be a part that prints nothing.
      if (value !== "") parts.push({ kind, value, span })
    }
    return compactList(parts)
  }

  /** The leading valid links of an `else` chain. Reports the first invalid one. */
  #checkElses(elses: readonly ElsePart[]): readonly ElsePart[] {
    for (const [index, part] of elses.entries()) {
      const problem = this.#elseProblem(part, index, elses[index - 1])
      if (problem === undefined) continue
      this.#mistakes.add(problem)
      // What follows an invalid link cannot be placed, so it is left out.
      return elses.slice(0, index)
    }
    return elses
  }

  /** The problem of one link of an `else` chain, if it has one. */
  #elseProblem(part: ElsePart, index: number, before: ElsePart | undefined): TokenProblem | undefined {
    const start = part.keyword.startOffset
    const end = endOf(part.keyword)
    const head = part.items[0]
    if (index >= nestingMax)
      return {
        code: "SP1025",
        start,
        end,
        detail: `this is link ${index + 1} of an \`else\` chain; the maximum is ${nestingMax}`,
      }
    if (before !== undefined && before.items.length === 0)
      return {
        code: "SP1020",
        start,
        end,
        detail: "the `else` before it has no `when`, so this one never runs",
      }
    if (head !== undefined && !isWhen(head)) {
      const shown = quotable(head.image)
      const at = head.startOffset
      return { code: "SP1020", start: at, end: at + shown.length, detail: `\`${shown}\` follows \`else\`` }
    }
    if (part.block === undefined)
      return { code: "SP1020", start, end, detail: "no block follows this `else`" }
    return undefined
  }

  /** Built from the last link to the first: each `when` has the rest of the chain as its `else`. */
  #otherwise(chain: readonly ElsePart[]): Otherwise | undefined {
    let otherwise: Otherwise | undefined
    for (const { keyword, items, block } of [...chain].reverse()) {
      const at = this.#spanOf(keyword)
      otherwise =
        items.length === 0
          ? { keyword: at, block, when: undefined }
          : { keyword: at, block: undefined, when: this.#statement(items, block, otherwise, false) }
    }
    return otherwise
  }

  #word(start: number, end: number): Word {
    const text = asItLooks(this.#textOf(start, end))
    return { kind: "word", text, span: this.#span(start, end) }
  }

  #textOf(start: number, end: number): string {
    return compactText(this.#mistakes.file.text.slice(start, end))
  }

  #spanOf(token: IToken): Span {
    return this.#span(token.startOffset, endOf(token))
  }

  #span(start: number, end: number): Span {
    return this.#mistakes.file.span(start, end)
  }
}

/**
 * Items with the pieces of a word that has invisible characters or letters of another script in one. The characters are reported, but the
 * word is most likely the one that it looks like.
 */
function asTheyLook(items: readonly IToken[], text: string): IToken[] {
  const found: IToken[] = []
  for (const item of items) {
    const before = found.at(-1)
    const continues =
      before !== undefined && isPiece(before) && isPiece(item) && endOf(before) === item.startOffset
    const start = continues ? before.startOffset : item.startOffset
    const image = text.slice(start, endOf(item))
    if (!isPiece(item) || !/^[A-Za-z0-9_.:/*@%+~[\]-]+$/.test(asItLooks(image))) found.push(item)
    else {
      if (continues) found.pop()
      found.push({ ...item, tokenType: tokens.Word, startOffset: start, image })
    }
  }
  return found
}

/** A word, or junk that looks like a part of one. */
function isPiece({ tokenType, image }: IToken): boolean {
  if (tokenType === tokens.Word) return true
  return tokenType === tokens.Junk && !/\s/.test(asItLooks(image)) && asItLooks(image) !== image
}

function otherwiseEnd(otherwise: Otherwise | undefined): number | undefined {
  return otherwise?.when?.span.end ?? otherwise?.block?.close.end
}

function range({ start, end }: Span): { start: number; end: number } {
  return { start, end }
}

function isEmpty(span: Span): boolean {
  return span.start === span.end
}

function isWhen(token: IToken): boolean {
  if (token.tokenType === tokens.Word) return token.image === "when"
  return token.tokenType === tokens.Call && token.image.startsWith("when(")
}

function isBad(token: IToken): boolean {
  if (token.tokenType === tokens.Junk || token.tokenType === tokens.RouteJunk) return true
  return token.payload !== undefined && scanOf<JunkScan>(token).problem !== undefined
}
