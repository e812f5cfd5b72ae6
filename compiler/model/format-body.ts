import type { Span } from "../core/source.ts"
import { beginsDefinition, type ConditionBody } from "./condition-body.ts"

/**
 * The body of a condition, from `{` to `}`, with the braces on lines of their own. The first line of the expression and the comments before it
 * are indented; what follows is kept as it is, but for blanks at the ends of lines, because it is part of the expression.
 */
export function formatBody(text: string, body: Span, cuts: ConditionBody["cuts"]): string {
  const inner = withoutBlanks(text, body, cuts)
  // A `#` behind the brace begins no comment, but would on a line of its own.
  if (inner.startsWith("#") && text[body.start + 1] === "#") return `{${inner.trimEnd()}\n}`
  const lines = inner.trim().split("\n")
  const first = lines.findIndex((line) => !line.trimStart().startsWith("#"))
  const head = lines.slice(0, first === -1 ? lines.length : first + 1).map((line) => line.trim())
  const rest = first === -1 ? [] : lines.slice(first + 1)
  if (head.length === 1 && head[0] === "") return "{\n}"
  const start = head.length === 1 && beginsDefinition(head[0] as string) ? "{ " : "{\n  "
  return `${start}${[head.join("\n  "), ...rest].join("\n")}\n}`
}

/** What is between the braces, with comments, without the blanks at the ends of lines. */
function withoutBlanks(text: string, { start, end }: Span, cuts: ConditionBody["cuts"]): string {
  let kept = ""
  let from = start + 1
  for (const cut of cuts) {
    kept += text.slice(from, cut.start)
    const cutText = text.slice(cut.start, cut.end)
    const sign = cutText.indexOf("#")
    const [blanks, comment] = sign === -1 ? [cutText, ""] : [cutText.slice(0, sign), cutText.slice(sign)]
    const alone = kept === "" || kept.endsWith("\n")
    // A CR by itself ended the line before the comment.
    const before = alone ? blanks.replaceAll("\r", "") : blanks.includes("\r") ? "\r" : " "
    if (comment !== "") kept += before + comment.trimEnd()
    from = cut.end
  }
  return kept + text.slice(from, end - 1)
}
