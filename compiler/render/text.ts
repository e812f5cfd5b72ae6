import pc from "picocolors"
import type { Diagnostic, Severity } from "../core/diagnostic.ts"
import type { Span } from "../core/source.ts"
import { frameOf } from "./frame.ts"
import { visible } from "./width.ts"

/** `path:line:column` of the start of a span. */
export function placeOf(span: Span): string {
  const { line, column } = span.file.position(span.start)
  return `${visible(span.file.path)}:${line}:${column}`
}

/**
 * One finding for people:
 *
 *     error SP1005 Unclosed text
 *       gateway.conf:3:8  no `"` closes this text before the end of its line
 *         path "/orders
 *              ^
 *       help: Close it …
 */
export function textOfFinding(finding: Diagnostic, colour: boolean): string {
  const paint = pc.createColors(colour)
  const severity = severityPaint(paint, finding.severity)
  const lines = [`${severity(finding.severity)} ${finding.code} ${paint.bold(finding.title)}`]
  const detail = visible(finding.detail)
  if (finding.span === undefined) lines.push(`  ${detail}`)
  else lines.push(...placeLines(finding.span, detail, "^", severity, paint))
  for (const { span, message } of finding.related)
    lines.push(...placeLines(span, visible(message), "-", paint.cyan, paint))
  if (finding.help !== undefined) lines.push(`  ${paint.cyan("help:")} ${visible(finding.help)}`)
  return lines.join("\n")
}

type Paint = ReturnType<typeof pc.createColors>

function severityPaint(paint: Paint, severity: Severity): (text: string) => string {
  const colours = { error: paint.red, warning: paint.yellow, info: paint.cyan }
  return (text) => paint.bold(colours[severity](text))
}

function placeLines(
  span: Span,
  message: string,
  mark: string,
  markPaint: (text: string) => string,
  paint: Paint,
): string[] {
  const lines = [`  ${paint.cyan(placeOf(span))}  ${message}`]
  for (const { source, marks } of frameOf(span, mark)) {
    lines.push(source === "" ? "" : `    ${source}`)
    if (marks !== "") lines.push(`    ${paintMarks(marks, markPaint)}`)
  }
  return lines
}

function paintMarks(marks: string, paint: (text: string) => string): string {
  const blanks = marks.length - marks.trimStart().length
  return marks.slice(0, blanks) + paint(marks.slice(blanks))
}
