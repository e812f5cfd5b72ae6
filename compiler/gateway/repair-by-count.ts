import type { IToken } from "chevrotain"
import type { Mistakes } from "./mistakes.ts"
import { Close, Equals, endOf, Newline, Open, Quoted, Word } from "./tokens.ts"

/** The tokens of one line, and the indentation of its first token. */
export interface IndentedLine {
  readonly tokens: readonly IToken[]
  readonly indent: number
}

/** Statements with a name and a block that can only be at the top level of a file. */
const declarations: ReadonlySet<string> = new Set(
  "gateway api issuer backend policy product subscription pdp token users certificate introspection oidc".split(
    " ",
  ),
)

/** A line that is only valid at the top level: `api NAME {`, `authz {`, `value NAME =`, `include "…"`. */
function beginsDeclaration({ tokens: [first, second, third] }: IndentedLine): boolean {
  const keyword = first?.tokenType === Word ? first.image : ""
  if (keyword === "authz" || keyword === "control" || keyword === "portal" || keyword === "change")
    return second?.tokenType === Open
  if (keyword === "include") return second?.tokenType === Quoted && third === undefined
  if (second?.tokenType !== Word) return false
  if (keyword === "value" || keyword === "secret") return third?.tokenType === Equals
  return declarations.has(keyword) && third?.tokenType === Open
}

/**
 * Balances braces in a file without useful indentation. Blocks that are open at the next declaration, or at the end of the file, are closed
 * there; every `}` too many is removed. It is unknown which inner block was unclosed, so the rest of that declaration is marked uncertain
 * and gets no other findings.
 */
export function repairByCount(lines: readonly IndentedLine[], mistakes: Mistakes): IToken[] {
  const out: IToken[] = []
  let open: IToken[] = []
  let declaration = 0
  const closeAll = (until: number): void => {
    if (open.length === 0) return
    mistakes.uncertain(declaration, until)
    for (const brace of [...open].reverse()) reportUnclosed(brace, mistakes)
    const newline = out.at(-1)?.tokenType === Newline ? out.pop() : undefined
    const end = endOf(out.at(-1) as IToken)
    for (const _ of open) out.push(brace0(Close, end))
    if (newline !== undefined) out.push(newline)
    open = []
  }
  for (const line of lines) {
    const start = line.tokens[0]?.startOffset ?? 0
    if (beginsDeclaration(line)) {
      closeAll(start)
      declaration = start
    }
    for (const token of line.tokens) {
      if (token.tokenType === Open) open.push(token)
      if (token.tokenType === Close && open.pop() === undefined) {
        mistakes.uncertain(declaration, endOf(token))
        reportStray(token, mistakes)
      } else out.push(token)
    }
    out.push(brace0(Newline, endOf(line.tokens.at(-1) as IToken)))
  }
  closeAll(mistakes.file.text.length)
  return out
}

export function reportUnclosed(brace: IToken, mistakes: Mistakes): void {
  const start = brace.startOffset
  mistakes.add({ code: "SP1001", start, end: start + 1, detail: "no `}` closes this `{`" })
}

export function reportStray(brace: IToken, mistakes: Mistakes): void {
  const start = brace.startOffset
  mistakes.add({ code: "SP1003", start, end: start + 1, detail: "this `}` closes no block" })
}

/** A token without characters. */
export function brace0(tokenType: typeof Open, offset: number): IToken {
  return { image: "", startOffset: offset, tokenType, tokenTypeIdx: tokenType.tokenTypeIdx as number }
}
