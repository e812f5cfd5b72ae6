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
 * The line of an offset with what has to be inserted there so that its texts and expressions end: while `"order:${path.` is being written, neither has an end,
 * and what follows on the line would belong to them. Undefined if all end.
 */
export function closedLine(file: SourceFile, offset: number): string | undefined {
  const { text } = file
  const before = text.slice(text.lastIndexOf("\n", offset - 1) + 1, offset)
  const after = text.slice(offset, lineEndOf(file, offset))
  const open = openAfter(before, [])
  if (open.length === 0 || openAfter(after, open).length === 0) return undefined
  const ends = open.toReversed().map((each) => closers[each])
  // As few as possible: the line can have the end of the text, and lack that of the expression.
  const fits = (count: number) => openAfter(after, open.slice(0, open.length - count)).length === 0
  let count = 1
  while (count < ends.length && !fits(count)) count++
  return `${before}${ends.slice(0, count).join("")}${after}`
}

export function lineEndOf({ text }: SourceFile, offset: number): number {
  const end = text.indexOf("\n", offset)
  return end === -1 ? text.length : end
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
