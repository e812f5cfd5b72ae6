import type { Span } from "../core/source.ts"
import type { Document, Statement } from "../gateway/ast.ts"
import type { Insight } from "../gateway/insight.ts"
import { languageReference, type StatementReference } from "../gateway/language-reference.ts"
import { type ExpressionTerms, expressionAt, hoverExpression } from "./expression-help.ts"
import { placeInGateway } from "./gateway-place.ts"
import { fenced, type Hover } from "./markdown.ts"
import type { ProjectNames } from "./names.ts"
import { operationsIn, placeText, shortText } from "./routes-at.ts"

let references: ReadonlyMap<string, StatementReference> | undefined

/** What the manual says about a statement of a block; undefined for keywords of the user's choice. */
export function statementMarkdown(block: string, keyword: string): string | undefined {
  references ??= new Map(
    languageReference().flatMap(({ name, statements }) =>
      statements.map((statement) => [`${name} ${statement.keyword}`, statement] as const),
    ),
  )
  const found = references.get(`${block} ${keyword}`)
  if (found === undefined) return undefined
  const facts = [
    found.byDefault === undefined ? undefined : `Default: ${found.byDefault}`,
    found.bounds.length === 0 ? undefined : `Arguments: ${found.bounds.join("; ")}`,
  ].filter((fact) => fact !== undefined)
  return [fenced(found.syntax.join("\n")), found.docs, ...facts, `Example:\n${fenced(found.example)}`].join(
    "\n\n",
  )
}

/** What hover needs to know of a project. `names` are only collected where they are asked for. */
export interface HoverTerms extends ExpressionTerms {
  readonly names: ProjectNames
}

/** What a statement means, the declaration of a name, or the type of a name in an expression of gateway.conf. */
export function hoverGateway(document: Document, offset: number, terms: HoverTerms): Hover | undefined {
  const named = hoverName(document.file.path, offset, terms.names)
  if (named !== undefined) return named
  const place = placeInGateway(document, offset)
  const expression = expressionAt(place, offset)
  if (expression !== undefined) return hoverExpression(expression, offset, place, terms)
  const { block, statement } = place
  if (statement === undefined) return undefined
  const { span, text } = statement.keyword
  if (offset < span.start || offset > span.end) return undefined
  const markdown = statementMarkdown(block, text)
  if (markdown === undefined) return undefined
  return { span, markdown: [effectMarkdown(statement, terms.insight), markdown].join("") }
}

/** What applies to an operation, with where it comes from; for other statements, in how many routes they have an effect. */
function effectMarkdown(statement: Statement, insight: Insight): string {
  const { path } = statement.span.file
  const operation = operationsIn(path, insight).find(({ head }) => head.start === statement.span.start)
  if (operation === undefined) {
    const all = [...insight.routes.values()]
    const count = all.filter(({ applying }) =>
      applying.some(({ bound }) => bound.statement === statement),
    ).length
    return count === 0 ? "" : `Has an effect on ${count} of ${all.length} routes.\n\n`
  }
  const { routes, applying, timeouts } = operation
  const lines = applying.map(({ statement: each, scope, own }) => {
    return `- \`${shortText(each)}\` (${own ? "here" : scope}, ${placeText(each.span)})`
  })
  if (!applying.some(({ statement: each }) => each.keyword.text === "timeout"))
    lines.push(`- \`timeout ${timeouts.join(" or ")}\` (of the gateway, or the default)`)
  return `${routes.map((route) => `\`${route}\``).join(", ")}\n\n${lines.join("\n")}\n\n---\n\n`
}

/** The declaration of the name at an offset, with the comment above it. */
export function hoverName(path: string, offset: number, names: ProjectNames): Hover | undefined {
  const found = names.at(path, offset)
  const [first] = found
  if (first === undefined || first.declares) return undefined
  const shown = found.flatMap(({ name }) =>
    names
      .of(name)
      .filter(({ declares }) => declares)
      .map(
        ({ span }) =>
          `${fenced(declarationText(span))}\n\n${span.file.path}:${span.file.position(span.start).line}`,
      ),
  )
  return shown.length === 0 ? undefined : { span: first.span, markdown: shown.join("\n\n---\n\n") }
}

/** The line of a declaration, with the lines of comment directly above it. */
function declarationText(span: Span): string {
  const { file } = span
  const { line } = file.position(span.start)
  let first = line
  while (first > 1 && /^\s*#/.test(file.line(first - 1))) first--
  const lines = Array.from({ length: line - first + 1 }, (_, at) => file.line(first + at).trim())
  return lines.join("\n").replace(/\s*\{\s*$/, "")
}
