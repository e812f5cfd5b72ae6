import { shown } from "../../core/shown.ts"
import type { Attribute, Raw } from "../ast.ts"
import type { Cursor } from "./cursor.ts"
import { beginsExpression } from "./expression-scan.ts"
import { expressionIn, readAround, readExpression } from "./texts.ts"

/** Documents have a dozen; more is an attempt to exhaust the reader. */
const attributesMax = 50

/** Reads the attributes of a start tag, up to `>` or `/>` or to the place where reading cannot continue. */
export function readAttributes(cursor: Cursor, element: string): Attribute[] {
  const attributes: Attribute[] = []
  const first = new Map<string, Attribute>()
  for (;;) {
    cursor.blanks()
    if (cursor.done || cursor.givenUp || cursor.sees(">") || cursor.sees("/>") || cursor.sees("<"))
      return attributes
    const attribute = readAttribute(cursor)
    if (attribute === undefined) continue
    const earlier = first.get(attribute.name)
    if (earlier !== undefined) {
      const { start, end } = attribute.nameSpan
      cursor.report("SP7001", start, end, `\`${shown(attribute.name)}\` is given twice`, {
        help: "Keep one of the two.",
        related: [{ span: earlier.nameSpan, message: "the first" }],
      })
      // The first counts: it is what most readers of XML would report.
      continue
    }
    first.set(attribute.name, attribute)
    attributes.push(attribute)
    if (attributes.length > attributesMax) {
      const { start, end } = attribute.nameSpan
      cursor.report("SP7003", start, end, `\`<${shown(element)}>\` has more than ${attributesMax} attributes`)
      cursor.giveUp()
    }
  }
}

/** One attribute. After a mistake the cursor is moved to where an attribute or the end of the tag begins. */
function readAttribute(cursor: Cursor): Attribute | undefined {
  const start = cursor.at
  const name = cursor.name()
  if (name === undefined) {
    skipStray(cursor)
    cursor.derail(start, cursor.at, `\`${shown(cursor.text.slice(start, cursor.at))}\` is not an attribute`, {
      // An unescaped quote in a value is the commonest reason.
      help: 'An attribute is `name="value"`; a `"` in a value that is not an expression is written `&quot;`.',
    })
    return undefined
  }
  const nameSpan = cursor.file.span(start, cursor.at)
  cursor.blanks()
  if (!cursor.takes("=")) {
    cursor.derail(start, nameSpan.end, `\`${shown(name)}\` has no value`, {
      help: `Write \`${shown(name)}="…"\`.`,
    })
    return undefined
  }
  cursor.blanks()
  const quote = cursor.text[cursor.at]
  if (quote !== '"' && quote !== "'") {
    cursor.report("SP7001", cursor.at, cursor.at + 1, `the value of \`${shown(name)}\` has no quotes`, {
      help: `Write \`${shown(name)}="…"\`.`,
    })
    skipStray(cursor)
    return undefined
  }
  cursor.at += 1
  const raw = readValue(cursor, quote, name)
  return raw === undefined ? undefined : { name, nameSpan, raw }
}

/** Skips at least one character, up to a place where an attribute or the end of the tag may begin. */
function skipStray(cursor: Cursor): void {
  cursor.at += 1
  while (!cursor.done && !/[\s<>]/.test(cursor.text[cursor.at] ?? "") && !cursor.sees("/>")) cursor.at += 1
}

/** A value. An expression in it may contain quotes. */
function readValue(cursor: Cursor, quote: string, name: string): Raw | undefined {
  const start = cursor.at
  cursor.blanks()
  // An expression ends at its bracket, so quotes inside it do not end the value.
  if (beginsExpression(cursor.text, cursor.at)) {
    const raw = readExpression(cursor, { start, until: quote, what: `\`${shown(name)}\`` })
    return raw ?? recover(cursor)
  }
  const end = cursor.find(quote, cursor.at)
  if (end === undefined) {
    cursor.derail(start - 1, start, `the value of \`${shown(name)}\` has no closing quote`, {
      help: `Add \`${quote}\` at its end.`,
    })
    cursor.at = cursor.text.length
    return undefined
  }
  const value = cursor.text.slice(start, end)
  // The quote that ends the value begins the next one, as in `name="a other="b"`, or the tag ends before it.
  if (/\s[A-Za-z_][\w.:-]*=$|^[^\n<@]*>[ \t]*\r?\n/.test(value)) {
    cursor.at = end + 1
    cursor.derail(start - 1, start, `the value of \`${shown(name)}\` has no closing quote`, {
      help: `Add \`${quote}\` at its end.`,
    })
    return undefined
  }
  const behind = expressionIn(cursor, start, value)
  if (behind !== undefined) {
    const raw = readAround(cursor, { start, until: quote, behind })
    if (raw !== undefined) {
      cursor.at += 1
      return raw
    }
  }
  if (behind !== undefined) {
    cursor.report(
      "SP7004",
      behind.start,
      behind.start + 2,
      `\`${shown(name)}\` contains other text beside the expression`,
      {
        help: 'Move the other text into the expression, e.g. `@($"before{…}after")`.',
      },
    )
    cursor.at = behind.end
    const close = cursor.find(quote, cursor.at)
    cursor.at = close === undefined ? cursor.text.length : close + 1
    return undefined
  }
  cursor.at = end + 1
  const less = start + value.indexOf("<")
  // On one line, `<` is most likely intended. Over several lines, the closing quote is probably missing.
  if (less >= start && value.includes("\n") && !cursor.damaged)
    cursor.derail(less, less + 1, `the value of \`${shown(name)}\` contains \`<\``, {
      help: `Write \`&lt;\`, or add the missing \`${quote}\` at the end of the value.`,
    })
  return { kind: "text", span: cursor.file.span(start, end) }
}

/** After an expression without an end: continues at the most likely end of the attribute. */
function recover(cursor: Cursor): undefined {
  // A quote that is followed by the end of the tag or another attribute.
  const ends = /["'](?=\s*\/?>|\s+[A-Za-z_][\w.:-]*\s*=\s*["'])/g
  ends.lastIndex = cursor.at
  const found = ends.exec(cursor.text)
  cursor.at = found === null ? cursor.text.length : found.index + 1
}
