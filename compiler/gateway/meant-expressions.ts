import type { Report } from "../core/diagnostic.ts"
import { shown } from "../core/shown.ts"
import { type Span, textOf } from "../core/source.ts"
import type { Program } from "./program.ts"

/** A part of literal text that other template languages would read as an expression. */
export interface MeantExpression {
  readonly source: string
  readonly span: Span
}

const name = "[A-Za-z_][A-Za-z0-9_]*"
const dotted = `${name}(?:\\.${name})+`
// `$jwt.sub` and `{{ jwt.sub }}`. The following only with a dot, because `{id}` is a path parameter: `{jwt.sub}`, `#{jwt.sub}`,
// `$(jwt.sub)`, `%jwt.sub%`.
const forms = new RegExp(
  [
    `(?<!\\$)\\{\\{\\s*(?<braces>[^{}\\n]{1,200}?)\\s*\\}\\}`,
    `(?<!\\$)[#%@]?\\{(?<brace>${dotted})\\}`,
    `\\$\\((?<parens>${dotted})\\)`,
    `%(?<percent>${dotted})%`,
    `(?<![$\\w])\\$(?<dollar>${name}(?:\\.${name})*)`,
  ].join("|"),
  "g",
)

/**
 * Finds text in the literal at `span` that is written as an expression of another language and names a known variable, as decided by
 * `knows`. Searches the source text rather than its value, so that `$${` and `\u{24}` stay literal.
 */
export function meantExpressions(span: Span, knows: (source: string) => boolean): MeantExpression[] {
  const text = textOf(span)
  return [...text.matchAll(forms)].flatMap((match) => {
    const { braces, brace, parens, percent, dollar } = match.groups ?? {}
    const start = span.start + match.index
    const found = (source: string, length: number): MeantExpression[] => [
      { source, span: span.file.span(start, start + length) },
    ]
    if (dollar !== undefined) {
      const source = knownBeginning(dollar, knows)
      return source === undefined ? [] : found(source, source.length + 1)
    }
    const source = braces ?? brace ?? parens ?? percent ?? ""
    return knows(source) ? found(source, match[0].length) : []
  })
}

/** The longest known name at the beginning: in `$jwt.sub.example` the rest is text. */
function knownBeginning(written: string, knows: (source: string) => boolean): string | undefined {
  const parts = written.split(".").slice(0, 8)
  for (let length = parts.length; length > 0; length--) {
    const source = parts.slice(0, length).join(".")
    if (knows(source)) return source
  }
  return undefined
}

/** Warns about each of them. The named values count as used. */
export function addMeant(meant: readonly MeantExpression[], program: Program, report: Report): void {
  for (const { source, span } of meant) {
    program.useValuesIn(source)
    const written = shown(textOf(span))
    report.add("SP5023", span, `\`${written}\` is sent unchanged; did you mean \`\${${shown(source)}}\`?`, {
      help: `Write \`\${${shown(source)}}\`; or \`\${"${written}"}\` for these literal characters.`,
    })
  }
}
