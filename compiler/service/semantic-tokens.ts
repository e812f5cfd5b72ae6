import { type ExpressionToken, expressionTokens } from "../../runtime/expression/names-at.ts"
import type { SourceFile, Span } from "../core/source.ts"
import type { Argument, Block, Document, Statement, WrittenExpression } from "../gateway/ast.ts"
import { matchArguments } from "../gateway/bind/match.ts"
import type { BlockName } from "../gateway/schema/block-name.ts"
import type { Slot } from "../gateway/schema/row.ts"
import type { ModelDocument, Rewrite } from "../model/ast.ts"
import { blockNameOf, rowOf } from "./gateway-place.ts"

/** The kinds of tokens, by the names of the Language Server Protocol. */
export const tokenKinds = [
  ...(["comment", "keyword", "string", "number", "variable", "property", "function"] as const),
  ...(["type", "enumMember", "namespace"] as const),
] as const

/** A kind of token. */
export type SemanticTokenKind = (typeof tokenKinds)[number]

/** A part of a text with its meaning. It is on one line. */
export interface SemanticToken {
  readonly kind: SemanticTokenKind
  /** The name is declared here. */
  readonly declares: boolean
  readonly span: Span
}

/** The tokens of a file of gateway.conf, in the order of the text. */
export function tokensOfGateway({ file, statements, comments }: Document): SemanticToken[] {
  const found = new Tokens(file)
  for (const { span } of comments) found.add("comment", span)
  const visit = (block: BlockName | undefined, each: Statement): void => {
    found.statement(block, each)
    const name = block === undefined ? undefined : blockNameOf(block, each)
    const inside = (inner: Block | undefined) => {
      for (const statement of inner?.statements ?? []) visit(name, statement)
    }
    inside(each.block)
    if (each.otherwise === undefined) return
    found.add("keyword", each.otherwise.keyword)
    inside(each.otherwise.block)
    if (each.otherwise.when !== undefined) visit(block, each.otherwise.when)
  }
  for (const each of statements) visit("file", each)
  return found.inOrder()
}

/** The names of a model: types, relations and conditions. Its keywords have no meaning beyond their colours. */
export function tokensOfModel(file: SourceFile, { types, conditions }: ModelDocument): SemanticToken[] {
  const found = new Tokens(file)
  for (const { name } of conditions) found.add("function", name.span, true)
  for (const { name, relations, extend } of types) {
    found.add("type", name.span, !extend)
    for (const relation of relations) {
      found.add("property", relation.name.span, true)
      if (relation.rewrite !== undefined) found.rewrite(relation.rewrite)
    }
  }
  return found.inOrder()
}

class Tokens {
  readonly #file: SourceFile
  readonly #found: SemanticToken[] = []

  constructor(file: SourceFile) {
    this.#file = file
  }

  /** A token of several lines becomes one for each line, because editors accept no others. */
  add(kind: SemanticTokenKind, { start, end }: Pick<Span, "start" | "end">, declares = false): void {
    let from = start
    for (const line of this.#file.text.slice(start, end).split("\n")) {
      const span = this.#file.span(from, from + line.trimEnd().length)
      if (span.end > span.start) this.#found.push({ kind, declares, span })
      from += line.length + 1
    }
  }

  inOrder(): SemanticToken[] {
    return this.#found.sort((a, b) => a.span.start - b.span.start)
  }

  statement(block: BlockName | undefined, { keyword, args }: Statement): void {
    const row = block === undefined ? undefined : rowOf(block, keyword.text)
    this.add(row?.keyword === "RELATION" ? "property" : "keyword", keyword.span)
    const slots = new Map<Argument, Slot>(
      row === undefined ? [] : matchArguments(row, args).slots.map(([slot, argument]) => [argument, slot]),
    )
    for (const argument of args) this.#argument(argument, slots.get(argument))
  }

  #argument(argument: Argument, slot: Slot | undefined): void {
    if (argument.kind === "word") {
      const declares = slot?.kind === "name" || slot?.kind === "value-name"
      this.add(kindOfWord(argument.text, slot), argument.span, declares)
    } else if (argument.kind === "call") {
      this.add("function", argument.name.span)
      for (const each of argument.args) this.#argument(each, undefined)
    } else if (argument.kind === "cel") this.#expression(argument)
    else if (argument.kind === "text")
      for (const part of argument.parts) {
        if (part.kind === "cel") this.#expression(part)
        else this.add("string", part.span)
      }
  }

  #expression({ source, span }: WrittenExpression): void {
    for (const { kind, start, end } of expressionTokens(source, true))
      this.add(expressionKinds[kind], { start: span.start + start, end: span.start + end })
  }

  rewrite(rewrite: Rewrite): void {
    if (rewrite.kind === "computed") this.add("property", rewrite.relation.span)
    else if (rewrite.kind === "from") {
      this.add("property", rewrite.relation.span)
      this.add("property", rewrite.tupleset.span)
    } else if (rewrite.kind === "direct")
      for (const { type, relation, condition } of rewrite.restrictions) {
        this.add("type", type.span)
        if (relation !== undefined) this.add("property", relation.span)
        if (condition !== undefined) this.add("function", condition.span)
      }
    else
      for (const part of rewrite.kind === "exclusion" ? [rewrite.base, rewrite.subtract] : rewrite.operands)
        this.rewrite(part)
  }
}

const expressionKinds: Readonly<Record<ExpressionToken["kind"], SemanticTokenKind>> = {
  ...{ variable: "variable", field: "property", function: "function" },
  ...{ text: "string", number: "number" },
}

/** A word of the language is a member of a list of words; a name is what its slot says. */
function kindOfWord(text: string, slot: Slot | undefined): SemanticTokenKind {
  if (slot === undefined) return "enumMember"
  if (slot.kind === "name" || slot.kind === "reference" || slot.kind === "scope") return "namespace"
  if (slot.kind === "relation" || slot.kind === "claim") return "property"
  if (/^[\d.]+(?:[a-zA-Z]+|%)?$/.test(text)) return "number"
  if (slot.kind === "choice" || slot.choices !== undefined || slot.kind === "method") return "enumMember"
  return slot.kind === "status" || slot.kind === "date" ? "number" : "variable"
}
