import { type Span, textOf } from "../core/source.ts"
import type { Block, Document, Statement } from "../gateway/ast.ts"
import type { ModelDocument } from "../model/ast.ts"

/** A part of a file in its outline. */
export interface OutlineItem {
  readonly name: string
  readonly detail: string
  readonly kind: "declaration" | "route" | "block" | "type" | "relation" | "condition"
  readonly span: Span
  /** Where the name stands. */
  readonly nameSpan: Span
  readonly children: readonly OutlineItem[]
}

/** The statements of gateway.conf that have a block, or a name at the top level. */
export function outlineOfGateway(document: Document): OutlineItem[] {
  return document.statements.flatMap((statement) => itemsOf(statement, true))
}

function itemsOf(statement: Statement, isTop: boolean): OutlineItem[] {
  const { keyword, args, block, span } = statement
  const [first] = args
  if (block === undefined && !isTop) return []
  const children = (block?.statements ?? []).flatMap((each) => itemsOf(each, false))
  const isRoute = /^[A-Z]+$/.test(keyword.text)
  return [
    {
      name:
        first === undefined
          ? keyword.text
          : textOf(isRoute ? { ...keyword.span, end: first.span.end } : first.span).replaceAll(/\s+/g, " "),
      detail: first === undefined || isRoute ? "" : keyword.text,
      kind: isRoute ? "route" : isTop ? "declaration" : "block",
      ...{ span, nameSpan: first?.span ?? keyword.span, children },
    },
  ]
}

/** Types with their relations, and conditions. */
export function outlineOfModel({ types, conditions }: ModelDocument): OutlineItem[] {
  return [
    ...types.map(({ name, relations, extend }): OutlineItem => {
      const last = relations.at(-1)
      const end = last?.rewrite?.span.end ?? last?.name.span.end ?? name.span.end
      return {
        ...{ name: name.text, detail: extend ? "extend type" : "type", kind: "type" },
        ...{ span: { ...name.span, end }, nameSpan: name.span },
        children: relations.map((relation) => ({
          ...{ name: relation.name.text, kind: "relation", children: [] },
          detail: relation.rewrite === undefined ? "" : textOf(relation.rewrite.span),
          span: { ...relation.name.span, end: relation.rewrite?.span.end ?? relation.name.span.end },
          nameSpan: relation.name.span,
        })),
      }
    }),
    ...conditions.map(
      ({ name, expression }): OutlineItem => ({
        ...{ name: name.text, detail: "condition", kind: "condition", children: [] },
        span: { ...name.span, end: expression?.span.end ?? name.span.end },
        nameSpan: name.span,
      }),
    ),
  ]
}

/** The blocks of more than one line: from the line of `{` to that of `}`. */
export function foldsOfGateway(document: Document): Span[] {
  const found: Span[] = []
  const visit = (block: Block | undefined): void => {
    if (block === undefined) return
    found.push({ ...block.open, end: block.close.start })
    for (const each of block.statements) statement(each)
  }
  const statement = ({ block, otherwise }: Statement): void => {
    visit(block)
    visit(otherwise?.block)
    if (otherwise?.when !== undefined) statement(otherwise.when)
  }
  for (const each of document.statements) statement(each)
  return found.filter(isLong)
}

/** Types with their relations, and conditions. */
export function foldsOfModel(document: ModelDocument): Span[] {
  return outlineOfModel(document)
    .map(({ span }) => {
      const { file, end } = span
      // The protocol folds up to the line before the end.
      const next = file.text.indexOf("\n", end)
      return { ...span, end: next === -1 ? end : next + 1 }
    })
    .filter(({ file, start, end }) => isLong({ file, start, end: end - 1 }))
}

function isLong({ file, start, end }: Span): boolean {
  return file.position(start).line < file.position(end).line
}
