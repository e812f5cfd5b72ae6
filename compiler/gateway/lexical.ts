import type { IToken } from "chevrotain"
import { noComment } from "./junk.ts"
import type { Mistakes } from "./mistakes.ts"
import type { CallScan } from "./parens.ts"
import { lineEnd, quotable, type TokenProblem } from "./scan.ts"
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
  for (const problem of strayClosers(tokens)) mistakes.add(problem)
  // Of two mistakes on a line, the one inside a token usually causes the one between two.
  for (const [index, token] of tokens.entries()) {
    const problem =
      keywordProblem(tokens, index) ??
      commentProblem(token, mistakes.file.text) ??
      (token.payload?.problem as TokenProblem | undefined)
    if (problem !== undefined) mistakes.add(problem)
  }
  for (let index = 1; index < tokens.length; index++) {
    const problem = neighbourProblem(tokens[index - 1] as IToken, tokens[index] as IToken)
    if (problem !== undefined) mistakes.add(problem)
  }
}

/** Each `)` whose line has commas or operators as its first mistake: without its `(`, they seem to be outside of an expression. */
function strayClosers(tokens: readonly IToken[]): TokenProblem[] {
  const found: TokenProblem[] = []
  let first: string | undefined
  for (const { tokenType, payload } of tokens) {
    const problem = payload?.problem as TokenProblem | undefined
    if (tokenType === Newline) first = undefined
    else if (problem?.code === "SP1008" && (first === "SP1012" || first === "SP1014")) found.push(problem)
    else first ??= problem?.code
  }
  return found
}

/** `when(x)`: a reference where a keyword is expected. */
function keywordProblem(tokens: readonly IToken[], index: number): TokenProblem | undefined {
  const token = tokens[index] as IToken
  if (token.tokenType !== Call) return undefined
  const before = tokens[index - 1]
  const { nameEnd, args } = token.payload as CallScan
  const name = token.image.slice(0, nameEnd - token.startOffset)
  const isArgument = before !== undefined && !beginners.has(before.tokenType)
  // An unknown name before something that is no list of words is a word before an expression: `body json({…})`.
  if (isArgument && name !== "when" && (args !== undefined || references.has(name))) return undefined
  const start = token.startOffset
  return {
    code: "SP1013",
    start,
    end: start + name.length + 1,
    detail: `\`(\` follows \`${quotable(name)}\` directly`,
    fix: [{ start: nameEnd, end: nameEnd, put: " " }],
  }
}

const references = new Set(["env", "file", "secret"])

/** A word that starts a comment in another language, behind the arguments of a statement. */
function commentProblem(
  { tokenType, image, startOffset: start }: IToken,
  text: string,
): TokenProblem | undefined {
  const mark = tokenType === Word ? /^(?:\/\/$|--$|\/\*\*?$)/.exec(image)?.[0] : /^<!--/.exec(image)?.[0]
  if (mark === undefined || !/[ \t]/.test(text[start - 1] ?? "")) return undefined
  const end = start + mark.length
  const line = text.slice(end, lineEnd(text, end))
  const closing = /[ \t]*(?:\*\/|-->)[ \t]*$/.exec(line)
  const fix = [
    { start, end, put: "#" },
    ...(closing === null ? [] : [{ start: end + closing.index, end: end + line.length, put: "" }]),
  ]
  const isFirst = /(?:^|\n)[ \t]*$/.test(text.slice(Math.max(0, start - 200), start))
  const detail = isFirst
    ? noComment(mark)
    : `\`${mark}\` does not start a comment: the words after it are read as arguments`
  return { code: "SP1036", start, end, detail, fix }
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
