import { type CustomPatternMatcherFunc, createToken, type IToken, Lexer, type TokenType } from "chevrotain"
import { type HeredocScan, scanHeredoc } from "./heredoc.ts"
import { type JunkScan, scanJunk } from "./junk.ts"
import { type CallScan, type ParensScan, scanCall, scanParens } from "./parens.ts"
import { type ScanState, scanState } from "./scan.ts"
import { scanQuoted, type TextScan } from "./texts.ts"

// Texts, heredocs, expressions and references are one raw token each. The payload is the result of their scanner. Their patterns match even
// broken ones; otherwise the lexer would search for its next token inside of the text.

type Scanned = TextScan | HeredocScan | ParensScan | CallScan | JunkScan
type Scanner = (state: ScanState, offset: number) => Scanned | undefined

// One state per run, keyed by the object that chevrotain creates for each run. State in the module would leak into the next run.
const states = new WeakMap<object, ScanState>()

/** A token that a scanner finds. Its state belongs to the run: chevrotain passes one `groups` object for each. */
function raw(scan: Scanner): CustomPatternMatcherFunc {
  return (text, offset, _tokens, groups) => {
    let state = states.get(groups)
    if (state === undefined) {
      state = scanState(text)
      states.set(groups, state)
    }
    const found = scan(state, offset)
    if (found === undefined) return null
    const match: [string] & { payload?: unknown } = [text.slice(offset, found.end)]
    match.payload = found
    return match
  }
}

function commentEnd(text: string, offset: number): number | undefined {
  const before = offset === 0 ? "\n" : (text[offset - 1] as string)
  if (!" \t\n;{}".includes(before)) return undefined
  const end = text.indexOf("\n", offset)
  if (end === -1) return text.length
  return text.charCodeAt(end - 1) === 13 ? end - 1 : end
}

const wordCharacters = [..."ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.:/*@%+~[]-"]
// One character code of each class by which chevrotain indexes first characters.
const anyCharacter = [
  ...Array(256).keys(),
  ...Array.from({ length: 257 }, (_, index) => (index + 1) * 255 + 1),
].filter((code) => code <= 0xffff)

// Each type says its first characters and whether it has line breaks: finding them in the patterns took chevrotain 13 ms of each start.
/** An item between the keyword and the block of a statement. */
export const Item = createToken({ name: "Item", pattern: Lexer.NA })
export const Blank = createToken({
  ...{ name: "Blank", pattern: /[ \t]+/, group: Lexer.SKIPPED },
  ...{ start_chars_hint: [" ", "\t"], line_breaks: false },
})
export const Newline = createToken({
  ...{ name: "Newline", pattern: /(?:\r?\n[ \t]*)+/ },
  ...{ start_chars_hint: ["\r", "\n"], line_breaks: true },
})
export const Semicolon = createToken({ name: "Semicolon", pattern: ";" })
export const Open = createToken({ name: "Open", pattern: "{" })
export const Close = createToken({ name: "Close", pattern: "}" })
export const Word = createToken({
  name: "Word",
  pattern: /[A-Za-z0-9_.:/*@%+~[\]-]+(?![A-Za-z0-9_.:/*@%+~[\](-])/,
  start_chars_hint: wordCharacters,
  line_breaks: false,
  categories: Item,
})
export const Equals = createToken({
  ...{ name: "Equals", pattern: /=(?![=>])/, categories: Item },
  ...{ start_chars_hint: ["="], line_breaks: false },
})
/** A comment. It is kept outside of the tokens, for `fmt`. */
export const Comment = createToken({
  name: "Comment",
  group: "comments",
  start_chars_hint: ["#"],
  line_breaks: false,
  pattern: (text, offset) => {
    const end = commentEnd(text, offset)
    return end === undefined ? null : [text.slice(offset, end)]
  },
})

const wordAtOffset = /[A-Za-z0-9_.:/*@%+~[\]-]+/y

export const Call = custom("Call", wordCharacters, (state, offset) => {
  wordAtOffset.lastIndex = offset
  const name = wordAtOffset.exec(state.text)
  return name === null ? undefined : scanCall(state, offset, offset + name[0].length)
})
export const Quoted = custom("Quoted", ['"'], scanQuoted)
export const Heredoc = custom("Heredoc", ["<"], (state, offset) =>
  state.text.startsWith("<<", offset) ? scanHeredoc(state, offset) : undefined,
)
export const Parens = custom("Parens", ["("], scanParens)
/** `{id}` after the `/` of a bare word: part of a path, not a block. Must come before `Open`. */
export const RouteJunk = custom("RouteJunk", ["{"], (state, offset) =>
  state.text[offset - 1] === "/" && /^\{\w+\*?\}/.test(state.text.slice(offset, offset + 80))
    ? scanJunk(state, offset)
    : undefined,
)
export const Junk = custom("Junk", anyCharacter, scanJunk)

/** `hint`: the first characters, by which chevrotain selects the patterns to try. */
function custom(name: string, hint: (string | number)[], scan: Scanner): TokenType {
  return createToken({
    name,
    pattern: raw(scan),
    start_chars_hint: hint,
    line_breaks: true,
    categories: Item,
  })
}

/** End of a statement, inserted by the layout pass. */
export const End = createToken({ name: "End", pattern: Lexer.NA })
/** The word `else` after a block, marked by the layout pass. */
export const Else = createToken({ name: "Else", pattern: Lexer.NA })

/** In order of precedence: the first type that matches wins. */
export const tokenTypes = [
  Blank,
  Newline,
  Semicolon,
  RouteJunk,
  Open,
  Close,
  Word,
  Call,
  Equals,
  Comment,
  Quoted,
  Heredoc,
  Parens,
  Junk,
  Item,
  End,
  Else,
]

/** Tests validate the patterns: validating them at every start takes longer than reading a small file. */
export const lexerConfig = {
  positionTracking: "onlyOffset",
  ensureOptimizations: true,
  skipValidations: true,
} as const

const lexer = new Lexer(tokenTypes, lexerConfig)

/** All tokens of a text in order, and separately the comments. Text that is no token becomes `Junk`. */
export function tokenize(text: string): { tokens: IToken[]; comments: IToken[] } {
  const { tokens, groups, errors } = lexer.tokenize(text)
  if (errors.length > 0) throw new Error(`no token begins at offset ${errors[0]?.offset}`)
  return { tokens, comments: groups["comments"] ?? [] }
}

/** Offset after a token. */
export function endOf(token: IToken): number {
  return token.startOffset + token.image.length
}

/** The result of a raw token's scanner. */
export function scanOf<Scan extends Scanned>(token: IToken): Scan {
  return token.payload as Scan
}
