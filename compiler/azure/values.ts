import type { Text, TextPart } from "../../runtime/plan/text.ts"
import { didYouMean } from "../core/nearest.ts"
import { shown } from "../core/shown.ts"
import type { Span } from "../core/source.ts"
import type { PolicyDocument, Raw } from "./ast.ts"
import { beginsExpression, expressionEnd } from "./reader/expression-scan.ts"
import type { DocumentHost, DocumentSection, ExpressionSource, NamedValue } from "./site.ts"
import { type SourceText, sourceTextOf } from "./source-text.ts"

/** The value of an attribute or a text: one expression, or text with named values in it. */
export type ElementValue =
  | { readonly kind: "code"; readonly code: ExpressionSource; readonly span: Span }
  | {
      readonly kind: "text"
      readonly parts: readonly ValuePart[]
      /** An expression after the parts, and the text after that expression. */
      readonly behind?: { readonly code: ExpressionSource; readonly parts: readonly ValuePart[] }
      readonly span: Span
    }

type ValuePart = string | Exclude<NamedValue, { constant: string }>

/** Options for reading a text. */
export interface Reading {
  readonly section: DocumentSection
  /** Surrounding white space is significant, as in an attribute. */
  readonly exact?: boolean
  /** An unknown `{{…}}` stays as written: it belongs to a template or a body. */
  readonly lenient?: boolean
}

/** Names of named values. Examples in use also contain `|`. */
const namePattern = /\{\{\s*([A-Za-z0-9._|-]{1,256})\s*\}\}/g
/** In a template or body, `{{ name }}` with spaces most likely belongs to the template. */
const tightPattern = /\{\{([A-Za-z0-9._|-]{1,256})\}\}/g

/**
 * Reads a piece of a document. A named value whose text is known from gateway.conf is inserted first, so it may contain code or a part of
 * code. A value that is only known when the plan is loaded stays a reference. Returns undefined when a name is unknown (reported).
 */
export function readValue(
  raw: Raw,
  document: PolicyDocument,
  { section, lenient = false, exact = false }: Reading,
  host: DocumentHost,
): ElementValue | undefined {
  if (raw.hole !== undefined && !lenient) return readAround(raw, raw.hole, document, section, host)
  const source = sourceTextOf(raw, document.file, document.plain)
  if (raw.inner !== undefined) {
    const form = raw.kind === "statements" ? "statements" : "expression"
    const code = putIntoCode(source, host)
    return code === undefined ? undefined : { kind: "code", code: { code, form, section }, span: raw.span }
  }
  const trimmed = exact ? source : trim(source)
  const found = namesIn(trimmed, host, lenient)
  if (found === undefined) return undefined
  const [sole] = found
  if (sole !== undefined && found.length === 1 && sole.start === 0 && sole.end === trimmed.text.length) {
    const code = "constant" in sole.value ? codeOf(trimmed, sole.value.constant) : undefined
    if (code !== undefined) return { kind: "code", code: { ...code, section }, span: raw.span }
  }
  const parts: ValuePart[] = []
  let at = 0
  for (const { start, end, value } of found) {
    if (start > at) parts.push(trimmed.text.slice(at, start))
    parts.push("constant" in value ? value.constant : value)
    at = end
  }
  if (at < trimmed.text.length) parts.push(trimmed.text.slice(at))
  return { kind: "text", parts: joined(parts), span: raw.span }
}

/** Text, an expression, and text again. */
function readAround(
  { span }: Raw,
  hole: Raw,
  document: PolicyDocument,
  section: DocumentSection,
  host: DocumentHost,
): ElementValue | undefined {
  const { file } = document
  const [before, code, after] = [
    { kind: "text" as const, span: file.span(span.start, hole.span.start) },
    hole,
    { kind: "text" as const, span: file.span(hole.span.end, span.end) },
  ].map((each) => readValue(each, document, { section, exact: true }, host))
  if (before?.kind !== "text" || code?.kind !== "code" || after?.kind !== "text") return undefined
  return { kind: "text", parts: before.parts, behind: { code: code.code, parts: after.parts }, span }
}

/** The code of a named value that contains a whole expression. */
function codeOf(source: SourceText, constant: string): Omit<ExpressionSource, "section"> | undefined {
  const text = constant.trim()
  if (!beginsExpression(text, 0)) return undefined
  const found = expressionEnd(text, 0)
  if (!("end" in found) || found.end !== text.length) return undefined
  const code = source.replace([{ start: 0, end: source.text.length, text: text.slice(2, -1) }])
  return { code, form: text[1] === "(" ? "expression" : "statements" }
}

function trim(source: SourceText): SourceText {
  const start = source.text.length - source.text.trimStart().length
  const end = source.text.trimEnd().length
  const cut = [
    { start: 0, end: start, text: "" },
    { start: Math.max(start, end), end: source.text.length, text: "" },
  ]
  return source.replace(cut.filter((each) => each.start < each.end))
}

interface Found {
  readonly start: number
  readonly end: number
  readonly value: NamedValue
}

function namesIn(source: SourceText, host: DocumentHost, lenient: boolean): Found[] | undefined {
  const found: Found[] = []
  let complete = true
  for (const each of source.text.matchAll(lenient ? tightPattern : namePattern)) {
    const start = each.index
    const end = start + each[0].length
    const value = host.named(each[1] as string)
    if (value !== undefined) found.push({ start, end, value })
    else if (!lenient) {
      reportUnknown(each[1] as string, source.span(start, end), host)
      complete = false
    }
  }
  if (lenient || !complete) return complete ? found : undefined
  const rest = source.text.replace(namePattern, (whole) => " ".repeat(whole.length))
  const stray = rest.indexOf("{{")
  if (stray < 0) return found
  const close = source.text.indexOf("}", stray)
  const end = close < 0 ? source.text.length : close + (source.text[close + 1] === "}" ? 2 : 1)
  host.report.add(
    "SP7012",
    source.span(stray, end),
    `\`${shown(source.text.slice(stray, end))}\` is not a named value`,
    {
      help: "Write a named value as `{{NAME}}`, with letters, digits, `.`, `_` and `-`; write an expression as `@(…)`.",
    },
  )
  return undefined
}

/** Inserts the named values with known text into code. The others are left for the compiler of the code. */
function putIntoCode(source: SourceText, host: DocumentHost): SourceText | undefined {
  const put: { start: number; end: number; text: string }[] = []
  let complete = true
  for (const each of source.text.matchAll(tightPattern)) {
    const value = host.named(each[1] as string)
    const start = each.index
    const end = start + each[0].length
    if (value === undefined) {
      // In an interpolated string, `{{` and `}}` are escaped braces.
      if (isInInterpolation(source.text, start)) continue
      reportUnknown(each[1] as string, source.span(start, end), host)
      complete = false
    } else if ("constant" in value) put.push({ start, end, text: value.constant })
  }
  return complete ? source.replace(put) : undefined
}

function isInInterpolation(text: string, at: number): boolean {
  const before = text.slice(0, at)
  const opened = Math.max(before.lastIndexOf('$"'), before.lastIndexOf('$@"'), before.lastIndexOf('@$"'))
  return opened >= 0 && !/[^\\]"/.test(before.slice(before.indexOf('"', opened) + 1))
}

/** The name of a named value in gateway.conf, which allows only identifiers: `my-api.key` becomes `my_api_key`. */
export function declaredAs(name: string): string {
  return name.replace(/[^A-Za-z0-9_]/g, "_").replace(/^(?=\d)/, "_")
}

function reportUnknown(name: string, span: Span, host: DocumentHost): void {
  host.report.add(
    "SP7012",
    span,
    `unknown value or secret \`${shown(name)}\`${didYouMean(name, host.namedNames())}`,
    {
      help: `Declare it in gateway.conf: \`value ${declaredAs(name)} = "…"\` or \`secret ${declaredAs(name)} = env(…)\`.`,
    },
  )
}

function joined(parts: readonly ValuePart[]): ValuePart[] {
  const result: ValuePart[] = []
  for (const part of parts) {
    const last = result.at(-1)
    if (typeof part === "string" && typeof last === "string") result[result.length - 1] = last + part
    else if (part !== "") result.push(part)
  }
  return result
}

/** The constant text of a value, if it is constant. */
export function constantOf(value: ElementValue): string | undefined {
  if (value.kind === "code" || value.behind !== undefined) return undefined
  const [first = "", ...more] = value.parts
  return typeof first === "string" && more.length === 0 ? first : undefined
}

/** The value as text of the plan. Undefined when an expression in it is wrong (reported). */
export function textOf(value: ElementValue, host: DocumentHost): Text | undefined {
  if (value.kind === "code") {
    const expression = host.compile(value.code)
    return expression === undefined ? undefined : { text: [{ expression }] }
  }
  const constant = constantOf(value)
  if (constant !== undefined) return constant
  const parts: TextPart[] = value.parts.map((part) => part)
  if (value.behind === undefined) return { text: parts }
  const expression = host.compile(value.behind.code)
  return expression === undefined
    ? undefined
    : { text: [...parts, { expression }, ...value.behind.parts.map((part) => part)] }
}
