import { contextNames } from "../../runtime/expression/request-context.ts"
import type { SourceFile, Span } from "../core/source.ts"
import type { Document } from "../gateway/ast.ts"
import { nextArguments } from "../gateway/bind/match.ts"
import type { Program } from "../gateway/program.ts"
import { blocks } from "../gateway/schema/blocks.ts"
import type { Slot } from "../gateway/schema/row.ts"
import { type GatewayPlace, placeInGateway } from "./gateway-place.ts"
import { statementMarkdown } from "./hover.ts"
import type { ProjectNames } from "./names.ts"

/** A proposal for the text at `replaces`. */
export interface Completion {
  readonly label: string
  readonly kind: "keyword" | "word" | "name" | "value" | "type" | "relation"
  /** A few words beside the label. */
  readonly detail?: string
  /** Markdown. */
  readonly docs?: string
  readonly replaces: Span
}

type Proposal = Omit<Completion, "replaces">

/** What completion needs to know of a project. `names` are only collected where they are asked for. */
export interface CompletionTerms {
  readonly program: Program
  readonly names: ProjectNames
}

const methods = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]

/** What can be written at an offset of gateway.conf: keywords of the block, words and names of the statement, variables of an expression. */
export function completeGateway(document: Document, offset: number, terms: CompletionTerms): Completion[] {
  const { file, comments } = document
  if (comments.some(({ span }) => span.start < offset && offset <= span.end)) return []
  const place = placeInGateway(document, offset)
  const expression = expressionAt(place, offset)
  const partial = partialWord(file, offset, expression === undefined ? /[\w.:/*@%+-]*$/ : /[A-Za-z_]\w*$/)
  const proposals =
    expression !== undefined
      ? inExpression(file, partial, terms.program)
      : isAtKeyword(place, partial)
        ? keywordsOf(place)
        : argumentsOf(place, partial, terms)
  return unique(proposals).map((each) => ({ ...each, replaces: partial }))
}

/** What can be written at an offset of a model in OpenFGA's language. */
export function completeModel(file: SourceFile, offset: number, names: ProjectNames): Completion[] {
  const partial = partialWord(file, offset, /[\w-]*$/)
  const lineStart = file.text.lastIndexOf("\n", partial.start - 1) + 1
  const before = file.text.slice(lineStart, partial.start)
  return unique(modelProposals(before, file.text.slice(0, lineStart), names)).map((each) => ({
    ...each,
    replaces: partial,
  }))
}

function modelProposals(line: string, above: string, names: ProjectNames): Proposal[] {
  if (line.includes("#") && /(?:^|\s)#/.test(line)) return []
  const own = [...above.matchAll(/^\s*(?:extend\s+)?type\s+(\S+)/gm)].at(-1)?.[1] ?? ""
  const named = (prefix: string, kind: Proposal["kind"]) =>
    names.startingWith(prefix).map((name) => ({ label: name.slice(prefix.length), kind }))
  const ofType = (type: string): Proposal[] => named(`relation ${type}#`, "relation")
  const words = (...all: string[]): Proposal[] => all.map((label) => ({ label, kind: "keyword" }))
  if (/^\s*$/.test(line))
    return words("define", "relations", "type", "condition", "extend", "model", "schema")
  if (!/\bdefine\b.*:/.test(line)) return []
  const list = /\[([^\]]*)$/.exec(line)?.[1]
  const set = /([\w-]+)#$/.exec(line)?.[1]
  if (list !== undefined && set !== undefined) return ofType(set)
  if (/\bwith\s+$/.test(line)) return named("condition ", "name")
  if (list !== undefined) return named("type ", "type")
  if (/\bfrom\s+$/.test(line)) return ofType(own)
  if (/(?::|\bor|\band|\bnot|\()\s*$/.test(line)) return [...ofType(own), ...relationsOfAll(names)]
  return words("or", "and", "but not", "from", "with")
}

/** Relations of any type: those that can be read by `X from Y`. */
function relationsOfAll(names: ProjectNames): Proposal[] {
  return names
    .startingWith("relation ")
    .map((name) => ({ label: name.slice(name.indexOf("#") + 1), kind: "relation", detail: "… from …" }))
}

/** The text before the offset that the proposals replace. */
function partialWord(file: SourceFile, offset: number, pattern: RegExp): Span {
  const lineStart = file.text.lastIndexOf("\n", offset - 1) + 1
  const found = pattern.exec(file.text.slice(lineStart, offset))
  return file.span(offset - (found?.[0].length ?? 0), offset)
}

/** The source of the expression that has the offset. */
function expressionAt({ argument }: GatewayPlace, offset: number): Span | undefined {
  const parts = argument?.kind === "text" ? argument.parts : argument === undefined ? [] : [argument]
  const found = parts.find(
    (part) => part.kind === "cel" && part.span.start <= offset && offset <= part.span.end,
  )
  return found?.span
}

function isAtKeyword({ statement }: GatewayPlace, partial: Span): boolean {
  return statement === undefined || partial.start <= statement.keyword.span.start
}

function keywordsOf({ block }: GatewayPlace): Proposal[] {
  return blocks[block].rows.map((row) => ({
    label: row.keyword,
    kind: "keyword",
    detail: blocks[block].title,
    docs: statementMarkdown(block, row.keyword) ?? row.docs,
  }))
}

function argumentsOf({ statement, row }: GatewayPlace, partial: Span, terms: CompletionTerms): Proposal[] {
  if (statement === undefined || row === undefined) return []
  const before = statement.args.filter(({ span }) => span.end < partial.start || span.end <= partial.start)
  const { words, slots } = nextArguments(row, before)
  return [
    ...words.map((label): Proposal => ({ label, kind: "word" })),
    ...slots.flatMap((slot) => slotProposals(slot, before, terms)),
  ]
}

function slotProposals(
  slot: Slot,
  before: readonly { readonly kind: string }[],
  terms: CompletionTerms,
): Proposal[] {
  const { program } = terms
  if (slot.kind === "reference" || slot.kind === "scope")
    return (slot.to ?? ["policy" as const]).flatMap((kind) =>
      program.all(kind).map(({ name }): Proposal => ({ label: name, kind: "name", detail: kind })),
    )
  if (slot.choices !== undefined) return slot.choices.map((label) => ({ label, kind: "word" }))
  if (slot.kind === "method") return methods.map((label) => ({ label, kind: "word" }))
  if (slot.kind === "relation")
    return terms.names
      .startingWith("relation ")
      .map((name) => ({ label: name.slice(name.indexOf("#") + 1), kind: "relation", detail: name.slice(9) }))
  if (slot.kind === "text" || slot.kind === "url" || slot.kind === "address")
    return valuesOf(program, before.length > 0 ? ["value", "secret"] : ["value"])
  return []
}

function inExpression(file: SourceFile, partial: Span, program: Program): Proposal[] {
  // After a dot, members of a map follow, which are not known.
  if (file.text[partial.start - 1] === ".") return []
  return [
    ...contextNames.map((label): Proposal => ({ label, kind: "value", detail: "of the request" })),
    ...valuesOf(program, ["value"]),
  ]
}

function valuesOf(program: Program, kinds: readonly ("value" | "secret")[]): Proposal[] {
  return kinds.flatMap((kind) =>
    program.all(kind).map(({ name }): Proposal => ({ label: name, kind: "value", detail: `named ${kind}` })),
  )
}

function unique(proposals: readonly Proposal[]): Proposal[] {
  const found = new Map<string, Proposal>()
  for (const each of proposals) if (!found.has(each.label)) found.set(each.label, each)
  return [...found.values()]
}
