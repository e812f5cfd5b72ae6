import type { IToken } from "chevrotain"
import type { Mistakes } from "./mistakes.ts"
import type { CallScan } from "./parens.ts"
import { quotable, type TokenProblem } from "./scan.ts"
import {
  Call,
  Close,
  Equals,
  endOf,
  Heredoc,
  Newline,
  Open,
  Parens,
  Quoted,
  Semicolon,
  Word,
} from "./tokens.ts"

/** Reports mistakes inside of single tokens, then mistakes between neighbouring tokens. */
export function checkTokens(tokens: readonly IToken[], mistakes: Mistakes): void {
  // Two passes: of two mistakes on a line, the one inside a token usually causes the other.
  for (const [index, token] of tokens.entries()) {
    const problem = keywordProblem(tokens, index) ?? (token.payload?.problem as TokenProblem | undefined)
    if (problem !== undefined) mistakes.add(problem)
  }
  for (let index = 1; index < tokens.length; index++) {
    const problem = neighbourProblem(tokens[index - 1] as IToken, tokens[index] as IToken)
    if (problem !== undefined) mistakes.add(problem)
  }
}

/** `when(x)`: a reference where a keyword is expected. */
function keywordProblem(tokens: readonly IToken[], index: number): TokenProblem | undefined {
  const token = tokens[index] as IToken
  if (token.tokenType !== Call) return undefined
  const before = tokens[index - 1]
  const name = token.image.slice(0, (token.payload as CallScan).nameEnd - token.startOffset)
  if (before !== undefined && !beginners.has(before.tokenType) && name !== "when") return undefined
  const start = token.startOffset
  return {
    code: "SP1013",
    start,
    end: start + name.length + 1,
    detail: `\`(\` follows \`${quotable(name)}\` directly`,
  }
}

const beginners = new Set([Newline, Semicolon, Open, Close])
const starters = new Set([Word, Quoted, Parens, Call, Heredoc])
const enders = new Set([Quoted, Parens, Call, Heredoc])
const afterHeredoc = new Set([Newline, Semicolon, Close])

/** Two arguments must be separated by a space: `"a""b"` and `a"b"` are almost always a mistake. */
function neighbourProblem(before: IToken, token: IToken): TokenProblem | undefined {
  const start = token.startOffset
  if (before.tokenType === Heredoc && !afterHeredoc.has(token.tokenType)) {
    const shown = quotable(token.image)
    const detail = `\`${shown}\` follows the closing tag`
    return { code: "SP1027", start, end: start + shown.length, detail }
  }
  if (endOf(before) !== start || !starters.has(token.tokenType)) return undefined
  const touching = enders.has(before.tokenType) || (before.tokenType === Word && token.tokenType === Quoted)
  if (!touching || before.tokenType === Equals) return undefined
  const shown = quotable(token.image)
  const detail = `there is no space between \`${shown}\` and the argument before it`
  return { code: "SP1033", start, end: start + shown.length, detail }
}
