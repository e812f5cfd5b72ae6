import type { SourceFile, Span } from "../core/source.ts"
import type { Argument, Block, Document, Statement, Word } from "./ast.ts"

/** A change of a text: what is between `start` and `end` becomes `by` characters longer. */
export interface Shift {
  readonly start: number
  readonly end: number
  readonly by: number
}

type Movable = { -readonly [Key in keyof Span]: Span[Key] }

/** Moves a span that is behind the change, or around it. */
export function shiftSpan(span: Span, { start, end, by }: Shift): void {
  const moving: Movable = span
  if (span.end >= end && span.end > start) moving.end += by
  if (span.start >= end) moving.start += by
}

/** Moves all spans of a document but those of statements in the changed part. The text of its file is changed by the caller. */
export function shiftDocument({ statements, comments }: Document, change: Shift): void {
  for (const { span } of comments) shiftSpan(span, change)
  const visit = (span: Span) => shiftSpan(span, change)
  for (const each of statements) visitStatement(each, visit, change)
}

/** Places what was parsed as a text of its own into a file, at an offset. */
export function placeDocument(
  { statements, comments }: Pick<Document, "statements" | "comments">,
  file: SourceFile,
  offset: number,
): void {
  const visit = (span: Span) => placeSpan(span, file, offset)
  for (const { span } of comments) visit(span)
  for (const each of statements) visitStatement(each, visit)
}

/** As `placeDocument`, for one span. */
export function placeSpan(span: Span, file: SourceFile, offset: number): void {
  const moving: Movable = span
  moving.file = file
  moving.start += offset
  moving.end += offset
}

/** Moves a statement, with everything in it, by a number of characters. */
export function moveStatement(statement: Statement, by: number): void {
  visitStatement(statement, (span) => placeSpan(span, span.file, by))
}

/** Moves the keyword and the arguments of a statement. */
export function moveHead({ keyword, args }: Statement, by: number): void {
  const visit: Visit = (span) => placeSpan(span, span.file, by)
  visit(keyword.span)
  for (const each of args) visitArgument(each, visit)
}

type Visit = (span: Span) => void

/** Visits each span once. Statements that end before `change` are left out. */
function visitStatement(statement: Statement, visit: Visit, change?: Shift): void {
  if (change !== undefined && statement.span.end <= change.start) return
  const { keyword, args, block, otherwise, span } = statement
  if (block !== undefined) visitBlock(block, visit, change)
  if (otherwise?.block !== undefined) visitBlock(otherwise.block, visit, change)
  if (otherwise?.when !== undefined) visitStatement(otherwise.when, visit, change)
  if (otherwise !== undefined) visit(otherwise.keyword)
  visit(keyword.span)
  for (const each of args) visitArgument(each, visit)
  // The last, because it says whether the statement is visited.
  visit(span)
}

function visitBlock({ statements, open, close }: Block, visit: Visit, change: Shift | undefined): void {
  for (const each of statements) visitStatement(each, visit, change)
  visit(open)
  visit(close)
}

function visitArgument(argument: Argument | Word, visit: Visit): void {
  if (argument.kind === "text") for (const { span } of argument.parts) visit(span)
  if (argument.kind === "call") {
    visit(argument.name.span)
    for (const each of argument.args) visitArgument(each, visit)
  }
  visit(argument.span)
}
