import type { Span } from "../../core/source.ts"
import type { Raw } from "../ast.ts"
import { readEntity } from "./characters.ts"
import type { Cursor } from "./cursor.ts"
import { beginsExpression, expressionEnd } from "./expression-scan.ts"

/**
 * The context of an expression: `start` is the start of its text or value, `until` the delimiter that ends it, `alone` whether the expression
 * must be all of it.
 */
interface Surrounding {
  readonly start: number
  readonly until: string
  readonly what: string
  readonly alone?: boolean
}

/**
 * Reads the expression at the cursor up to the end of its text or value. Returns undefined when it has no end or is not alone (reported). The
 * cursor is then at a position from which the surrounding text can be read as plain text.
 */
export function readExpression(
  cursor: Cursor,
  { start, until, what, alone = false }: Surrounding,
): Raw | undefined {
  const { text, file, at } = cursor
  const found = expressionEnd(text, at)
  if (!("end" in found)) {
    const place = file.position(Math.min(found.at, text.length))
    cursor.report("SP7004", at, at + 2, `the expression in ${what} is not closed`, {
      help: `Up to line ${place.line}, column ${place.column} \`${found.expected}\` is missing.`,
    })
    return undefined
  }
  const code = codeAt(cursor, { start: at, end: found.end }, until)
  cursor.at = found.end
  cursor.blanks()
  if (!cursor.sees(until)) {
    const behind = { start: at, end: found.end }
    const around =
      !alone && textFollows(cursor, found.end, until)
        ? readAround(cursor, { start, until, behind })
        : undefined
    if (around !== undefined) {
      if (until !== "<") cursor.at += 1
      return around
    }
    cursor.report("SP7004", cursor.at, cursor.at + 1, `${what} contains other text beside the expression`, {
      help: 'Move the other text into the expression, e.g. `@($"before{…}after")`.',
    })
    return undefined
  }
  const end = cursor.at
  if (until !== "<") cursor.at += 1
  return { ...code, span: file.span(start, end) }
}

/**
 * Whether the text continues after an expression, as in `@(…)ms`. A following operator probably belongs in the expression, and a following
 * bracket or quote is one too many.
 */
function textFollows(cursor: Cursor, end: number, until: string): boolean {
  const close = cursor.find(until, end)
  const rest = close === undefined ? "" : cursor.text.slice(end, close)
  return /^(?:[\w/.:%-]| +(?!(?:as|is)\b)[A-Za-z])[^\n<>]*$/.test(rest)
}

/** An expression from `@(` to its bracket. */
function codeAt(
  cursor: Cursor,
  { start, end }: { readonly start: number; readonly end: number },
  until: string,
): Raw {
  const { text, file } = cursor
  if (isPlain(text, start + 2, end - 1, until)) cursor.plain = true
  return {
    kind: text[start + 1] === "(" ? "expression" : "statements",
    span: file.span(start, end),
    inner: file.span(start + 2, end - 1),
  }
}

/** The first expression in a value that begins with text. Its quotes would otherwise end the value. */
export function expressionIn(
  cursor: Cursor,
  start: number,
  value: string,
): { readonly start: number; readonly end: number } | undefined {
  const at = value.search(/@[({]/)
  if (at < 0) return undefined
  const found = expressionEnd(cursor.text, start + at)
  return "end" in found ? { start: start + at, end: found.end } : undefined
}

/** Text with one `@(…)` in it, up to its delimiter, where the cursor then is. Undefined for several expressions or for statements: those must be alone. */
export function readAround(
  cursor: Cursor,
  {
    start,
    until,
    behind,
  }: {
    readonly start: number
    readonly until: string
    readonly behind: { readonly start: number; readonly end: number }
  },
): Raw | undefined {
  const { file, text } = cursor
  const close = cursor.find(until, behind.end)
  if (close === undefined || text[behind.start + 1] !== "(") return undefined
  if (/@[({]/.test(text.slice(behind.end, close))) return undefined
  const hole = codeAt(cursor, behind, until)
  cursor.at = close
  return { kind: "text", span: file.span(start, close), hole }
}

/** Whether the code is not valid XML: its `"` would end the attribute, or `<` or `&` would begin a tag or entity. */
function isPlain(text: string, start: number, end: number, until: string): boolean {
  for (let at = start; at < end; at++) {
    const character = text[at]
    if (character === "<" || (character === '"' && until === '"')) return true
    if (character === "&") {
      const entity = readEntity(text, at, false)
      if (entity === undefined) return true
      at += entity.length - 1
    }
  }
  return false
}

/** Text up to the next tag or comment, including CDATA. Undefined when it is only white space. */
export function readText(cursor: Cursor, element: string): Raw | undefined {
  const start = cursor.at
  cursor.blanks()
  if (beginsExpression(cursor.text, cursor.at)) {
    const raw = readExpression(cursor, {
      start,
      until: "<",
      what: "the text",
      alone: !ofOneValue.has(element),
    })
    if (raw !== undefined) return raw
  }
  const around = ofOneValue.has(element) ? textAround(cursor, start) : undefined
  if (around !== undefined) return around
  const literal: { span: Span; entities: boolean }[] = []
  let at = start
  let framed = false
  for (;;) {
    const next = cursor.find("<", at) ?? cursor.text.length
    if (next > at) literal.push({ span: cursor.file.span(at, next), entities: true })
    cursor.at = next
    if (!cursor.sees("<![CDATA[")) break
    framed = true
    const end = cursor.find("]]>", next + 9)
    if (end === undefined) {
      cursor.report("SP7001", next, next + 9, "the CDATA section has no `]]>`", {
        help: "Add `]]>` at its end.",
      })
      cursor.at = cursor.text.length
      break
    }
    literal.push({ span: cursor.file.span(next + 9, end), entities: false })
    at = end + 3
  }
  const span = cursor.file.span(start, cursor.at)
  if (!framed && cursor.text.slice(span.start, span.end).trim() === "") return undefined
  return framed ? textOfParts(span, literal, cursor) : { kind: "text", span }
}

/** Elements whose text is one value: not a template, no markup. */
const ofOneValue: ReadonlySet<string> = new Set(["value", "set-url", "message"])

function textAround(cursor: Cursor, start: number): Raw | undefined {
  const next = cursor.find("<", start)
  const behind = next === undefined ? undefined : expressionIn(cursor, start, cursor.text.slice(start, next))
  return behind === undefined ? undefined : readAround(cursor, { start, until: "<", behind })
}

/** An expression may be inside CDATA as well. */
function textOfParts(span: Span, literal: NonNullable<Raw["literal"]>, cursor: Cursor): Raw {
  const parts = literal.filter(
    (part) => !part.entities || cursor.text.slice(part.span.start, part.span.end).trim() !== "",
  )
  const [only] = parts
  if (only !== undefined && parts.length === 1 && !only.entities) {
    const inner = cursor.text.slice(only.span.start, only.span.end)
    const at = only.span.start + (inner.length - inner.trimStart().length)
    if (beginsExpression(cursor.text, at)) {
      const found = expressionEnd(cursor.text, at)
      if ("end" in found && cursor.text.slice(found.end, only.span.end).trim() === "") {
        cursor.plain = true
        const kind = cursor.text[at + 1] === "(" ? "expression" : "statements"
        return { kind, span, inner: cursor.file.span(at + 2, found.end - 1) }
      }
    }
  }
  return { kind: "text", span, literal: parts }
}

/** Some tools put the expression of a body into a `<value>`. */
const wrapped = /^\s*<value>\s*@[({]/

/** The content of an element that may contain anything, up to its end tag, which is not consumed. */
export function readOpaque(cursor: Cursor, name: string): Raw | undefined {
  const start = cursor.at
  if (wrapped.test(cursor.text.slice(start, start + 64))) return undefined
  cursor.blanks()
  if (beginsExpression(cursor.text, cursor.at)) {
    const raw = readExpression(cursor, { start, until: "<", what: `\`<${name}>\``, alone: true })
    if (raw !== undefined && cursor.sees("</")) return raw
  } else if (!cursor.sees("<") || cursor.sees("</") || cursor.sees("<![CDATA[")) {
    cursor.at = start
    const raw = readText(cursor, name)
    if (cursor.sees("</")) return raw
  }
  cursor.at = start
  const end = endTag(cursor, name, start)
  if (end === undefined) {
    cursor.at = cursor.text.length
    return undefined
  }
  cursor.at = end
  return { kind: "markup", span: cursor.file.span(start, end) }
}

/** The position of the matching `</name`. Nested elements of the same name are counted. */
function endTag(cursor: Cursor, name: string, start: number): number | undefined {
  const tags = new RegExp(`<(/?)${name}(?=[\\s/>])`, "g")
  tags.lastIndex = start
  let depth = 1
  for (let found = tags.exec(cursor.text); found !== null; found = tags.exec(cursor.text)) {
    depth += found[1] === "/" ? -1 : 1
    if (depth === 0) return found.index
  }
  return undefined
}
