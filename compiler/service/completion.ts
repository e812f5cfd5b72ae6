import { SourceFile, type Span } from "../core/source.ts"
import type { Document, Statement } from "../gateway/ast.ts"
import { parseFile } from "../gateway/reparse.ts"
import { blocks } from "../gateway/schema/blocks.ts"
import type { StatementRow } from "../gateway/schema/row.ts"
import { type ArgumentTerms, argumentProposals, relationProposals } from "./argument-proposals.ts"
import type { Completion, CompletionProposal } from "./completion-item.ts"
import { documentAround, operationProposals } from "./described-operations.ts"
import { completeExpression, expressionAt } from "./expression-help.ts"
import { type GatewayPlace, placeInGateway } from "./gateway-place.ts"
import { statementMarkdown } from "./hover.ts"
import { partialWord, replacing } from "./partial-word.ts"
import { closedLine, lineEndOf } from "./unclosed.ts"

/** What can be written at an offset of gateway.conf: keywords of the block, words and names of the statement, names of an expression. */
export function completeGateway(document: Document, offset: number, terms: ArgumentTerms): Completion[] {
  const { file, comments } = document
  if (comments.some(({ span }) => span.start < offset && offset <= span.end)) return []
  const place = placeInGateway(document, offset)
  const closed = closedLine(file, offset)
  if (closed === undefined) return completeAt(place, file, offset, terms)
  const lineStart = file.text.lastIndexOf("\n", offset - 1) + 1
  const read = (text: string) => parseFile(new SourceFile(file.path, text)).document
  // In a heredoc, the line has no statements of its own.
  if (place.argument?.kind === "text" && place.argument.span.start < lineStart) {
    const whole = read(`${file.text.slice(0, lineStart)}${closed}${file.text.slice(lineEndOf(file, offset))}`)
    return completeAt(placeInGateway(whole, offset), whole.file, offset, terms)
  }
  // Parsing one line takes less time than the whole file; the spaces keep the offsets.
  const line = read(`${" ".repeat(lineStart)}${closed}`)
  return completeAt(
    placeInGateway(line, offset, placeInGateway(document, lineStart)),
    line.file,
    offset,
    terms,
  )
}

function completeAt(
  place: GatewayPlace,
  file: SourceFile,
  offset: number,
  terms: ArgumentTerms,
): Completion[] {
  const expression = expressionAt(place, offset)
  if (expression !== undefined) {
    const { replaces, proposals } = completeExpression(expression, offset, place, terms)
    return replacing(replaces, proposals)
  }
  const text = textBefore(place, offset)
  if (text === "other") return []
  if (text !== undefined) return replacing(text, argumentProposals(place, text, terms, true))
  const partial = partialWord(file, offset, /[\w.:/*@%+-]*$/)
  const before = file.text.slice(0, partial.start)
  // The end mark of a heredoc, and what is inside of `env(…)`, are the user's own. Nothing can follow a text without a space.
  if (/(?:<<|")$/.test(before) || isInCall(place, offset)) return []
  return replacing(
    partial,
    isAtKeyword(place, partial)
      ? keywordsOf(place, partial, terms)
      : argumentProposals(place, partial, terms, false),
  )
}

/** What is written of a text in quotes before the offset. `other`: behind an expression, or in a heredoc, where a text is the user's own. */
function textBefore({ argument }: GatewayPlace, offset: number): Span | "other" | undefined {
  if (argument?.kind !== "text") return undefined
  const { file, start, end } = argument.span
  if (argument.form === "heredoc") return start < offset ? "other" : undefined
  if (start >= offset || offset >= end) return undefined
  return file.text.slice(start, offset).includes("${") ? "other" : file.span(start + 1, offset)
}

function isInCall({ argument }: GatewayPlace, offset: number): boolean {
  return argument?.kind === "call" && argument.name.span.end < offset && offset < argument.span.end
}

function isAtKeyword({ statement }: GatewayPlace, partial: Span): boolean {
  return statement === undefined || partial.start <= statement.keyword.span.start
}

function keywordsOf(place: GatewayPlace, partial: Span, terms: ArgumentTerms): CompletionProposal[] {
  const { block } = place
  if (canHaveElse(place, partial)) return elseForms.map((label) => ({ label, kind: "keyword" }))
  const written = place.siblings.filter(({ span }) => span.end < partial.start || span.start > partial.end)
  const keywords = blocks[block].rows
    .filter((row) => mayFollow(row, written))
    .map(
      (row): CompletionProposal => ({
        ...{ label: row.keyword, kind: "keyword", detail: blocks[block].title },
        docs: statementMarkdown(block, row.keyword) ?? row.docs,
      }),
    )
  if (blocks[block].anyKeyword?.keyword === "RELATION") return relationProposals(place, partial, terms)
  const document = block === "api" || block === "version" ? documentAround(place, terms.insight) : undefined
  return document === undefined ? keywords : [...keywords, ...operationProposals(document, place)]
}

/** Whether a block may have one more of these statements. */
function mayFollow({ keyword, several = 1 }: StatementRow, written: readonly Statement[]): boolean {
  if (several === true) return true
  return written.filter((each) => each.keyword.text === keyword).length < Number(several)
}

const elseForms = ["else", "else when"]

/** Whether the offset is behind the block of a statement that can have an `else`, on the same line. */
function canHaveElse({ block, siblings }: GatewayPlace, { file, start }: Span): boolean {
  let last = siblings.findLast(({ span }) => span.end <= start)
  const row = blocks[block].rows.find(({ keyword }) => keyword === last?.keyword.text)
  while (last?.otherwise?.when !== undefined) last = last.otherwise.when
  if (last?.block === undefined || last.otherwise !== undefined || row?.otherwise !== true) return false
  return /^[ \t]*$/.test(file.text.slice(last.span.end, start))
}
