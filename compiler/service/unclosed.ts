import type { SourceFile } from "../core/source.ts"

/** A text or an expression that a line has begun, by what ends it. */
type Open = "text" | "expression" | "inner text" | "braces"

const closers: Readonly<Record<Open, string>> = {
  text: '"',
  expression: "}",
  "inner text": '"',
  braces: "}",
}

/**
 * What has to be inserted at an offset so that texts and expressions of its line end there: while `"order:${path.` is being written, neither has an end,
 * and what follows on the line would belong to them. The empty text if all end.
 */
export function closersAt({ text }: SourceFile, offset: number): string {
  const lineStart = text.lastIndexOf("\n", offset - 1) + 1
  const lineEnd = text.indexOf("\n", offset)
  const before = text.slice(lineStart, offset)
  const after = text.slice(offset, lineEnd === -1 ? undefined : lineEnd)
  const open = openAfter(before, [])
  if (open.length === 0 || openAfter(after, open).length === 0) return ""
  const ends = open.toReversed().map((each) => closers[each])
  // As few as possible: the line can have the end of the text, and lack that of the expression.
  for (let count = 1; count < ends.length; count++) {
    const inserted = ends.slice(0, count).join("")
    if (openAfter(after, open.slice(0, -count)).length === 0) return inserted
  }
  return ends.join("")
}

/** What is open after a part of a line. `open`: what is open before it, the outermost first. */
function openAfter(part: string, before: readonly Open[]): Open[] {
  const open = [...before]
  for (let at = 0; at < part.length; at++) {
    const inner = open.at(-1)
    const char = part[at]
    const isText = inner === "text" || inner === "inner text"
    if (isText && char === "\\") at++
    else if (inner !== "inner text" && char === "$" && part[at + 1] === "{" && inner !== "expression") {
      open.push("expression")
      at++
    } else if (char === '"') {
      if (isText) open.pop()
      else open.push(inner === undefined ? "text" : "inner text")
    } else if (!isText && inner !== undefined && char === "{") open.push("braces")
    else if (!isText && inner !== undefined && char === "}") open.pop()
    else if (inner === undefined && char === "#" && /(?:^|[\s;{}])$/.test(part.slice(0, at))) break
  }
  return open
}
