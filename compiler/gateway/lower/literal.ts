import { type Span, textOf } from "../../core/source.ts"
import type { TextArgumentPart } from "../ast.ts"

type Literal = Extract<TextArgumentPart, { kind: "literal" }>

/**
 * The place of a character of a literal in the source, one character wide. Exact if the source has no escapes (the lines of a heredoc only
 * lose their indentation). With escapes it is the whole line.
 */
export function placeIn(literal: Literal, offset: number): Span {
  const { span, value } = literal
  const raw = textOf(span)
  if (raw.length === value.length) return characterAt(span, span.start + offset)
  const rawLines = raw.split("\n")
  const lines = value.split("\n")
  if (rawLines.length !== lines.length) return span
  let start = 0
  let rawStart = 0
  for (const [index, line] of lines.entries()) {
    const rawLine = rawLines[index] as string
    if (offset <= start + line.length) {
      return rawLine.endsWith(line)
        ? characterAt(span, span.start + rawStart + rawLine.length - line.length + offset - start)
        : { file: span.file, start: span.start + rawStart, end: span.start + rawStart + rawLine.length }
    }
    start += line.length + 1
    rawStart += rawLine.length + 1
  }
  return span
}

function characterAt({ file, end }: Span, at: number): Span {
  return { file, start: at, end: Math.min(at + 1, Math.max(end, at)) }
}
