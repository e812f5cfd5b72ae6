import type { Diagnostic } from "../core/diagnostic.ts"
import { frameOf } from "./frame.ts"
import { placeOf } from "./text.ts"
import { visible } from "./width.ts"

/** A finding as a paragraph with its frame in a code block, for comments and job summaries. */
export function markdownOfFinding(finding: Diagnostic): string {
  const place = finding.span === undefined ? "" : ` ${codeSpan(placeOf(finding.span))}:`
  const parts = [`**${finding.severity} ${finding.code} ${finding.title}**${place} ${prose(finding.detail)}`]
  if (finding.span !== undefined) parts.push(codeBlock(frameOf(finding.span, "^").flatMap(linesOf)))
  for (const { span, message } of finding.related)
    parts.push(
      `${codeSpan(placeOf(span))}: ${prose(message)}`,
      codeBlock(frameOf(span, "-").flatMap(linesOf)),
    )
  if (finding.help !== undefined) parts.push(`Help: ${prose(finding.help)}`)
  return parts.join("\n\n")
}

function linesOf({ source, marks }: { source: string; marks: string }): string[] {
  return marks === "" ? [source] : [source, marks]
}

function codeBlock(lines: readonly string[]): string {
  const fence = "`".repeat(Math.max(3, longestRun(lines.join("\n")) + 1))
  return [`${fence}text`, ...lines, fence].join("\n")
}

function codeSpan(text: string): string {
  const ticks = "`".repeat(longestRun(text) + 1)
  return ticks.length === 1 ? `\`${text}\`` : `${ticks} ${text} ${ticks}`
}

/** A message: text in backticks stays code, everything else is escaped. */
function prose(text: string): string {
  return visible(text)
    .split(/(`[^`]*`)/)
    .map((part, at) => (at % 2 === 1 ? part : part.replace(/[\\<>*_[\]#|`]/g, "\\$&")))
    .join("")
}

function longestRun(text: string): number {
  return Math.max(0, ...(text.match(/`+/g) ?? []).map((run) => run.length))
}
