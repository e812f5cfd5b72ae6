import type { SourceFile, Span } from "../core/source.ts"
import type { Document } from "../gateway/ast.ts"
import { nextArguments } from "../gateway/bind/match.ts"
import type { Program } from "../gateway/program.ts"
import { blocks } from "../gateway/schema/blocks.ts"
import type { Slot } from "../gateway/schema/row.ts"
import { slotKinds } from "../gateway/schema/slots.ts"
import type { Completion, CompletionProposal } from "./completion-item.ts"
import { documentAround, operationProposals, pathProposals, skipProposals } from "./described-operations.ts"
import { completeExpression, type ExpressionTerms, expressionAt } from "./expression-help.ts"
import { type GatewayPlace, placeInGateway } from "./gateway-place.ts"
import { statementMarkdown } from "./hover.ts"
import type { ProjectNames } from "./names.ts"

/** What completion needs to know of a project. `names` are only collected where they are asked for. */
export interface CompletionTerms extends ExpressionTerms {
  readonly names: ProjectNames
}

const methods = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]

/** What can be written at an offset of gateway.conf: keywords of the block, words and names of the statement, names of an expression. */
export function completeGateway(document: Document, offset: number, terms: CompletionTerms): Completion[] {
  const { file, comments } = document
  if (comments.some(({ span }) => span.start < offset && offset <= span.end)) return []
  const place = placeInGateway(document, offset)
  const expression = expressionAt(place, offset)
  if (expression !== undefined) {
    const { replaces, proposals } = completeExpression(expression, offset, place, terms)
    return replacing(replaces, proposals)
  }
  const quoted = quotedAt(place, offset)
  if (quoted !== undefined) return replacing(quoted, argumentsOf(place, quoted, terms, true))
  const partial = partialWord(file, offset, /[\w.:/*@%+-]*$/)
  return replacing(
    partial,
    isAtKeyword(place, partial) ? keywordsOf(place, terms) : argumentsOf(place, partial, terms, false),
  )
}

function replacing(replaces: Span, proposals: readonly CompletionProposal[]): Completion[] {
  return unique(proposals).map((each) => ({ ...each, replaces }))
}

/** What is written of a text in quotes before the offset. */
function quotedAt({ argument }: GatewayPlace, offset: number): Span | undefined {
  if (argument?.kind !== "text" || argument.form !== "quoted") return undefined
  const { file, start } = argument.span
  return start < offset && !file.text.slice(start, offset).includes("${")
    ? file.span(start + 1, offset)
    : undefined
}

/** What can be written at an offset of a model in OpenFGA's language. */
export function completeModel(file: SourceFile, offset: number, names: ProjectNames): Completion[] {
  const partial = partialWord(file, offset, /[\w-]*$/)
  const lineStart = file.text.lastIndexOf("\n", partial.start - 1) + 1
  const before = file.text.slice(lineStart, partial.start)
  return replacing(partial, modelProposals(before, file.text.slice(0, lineStart), names))
}

function modelProposals(line: string, above: string, names: ProjectNames): CompletionProposal[] {
  if (line.includes("#") && /(?:^|\s)#/.test(line)) return []
  const own = [...above.matchAll(/^\s*(?:extend\s+)?type\s+(\S+)/gm)].at(-1)?.[1] ?? ""
  const named = (prefix: string, kind: CompletionProposal["kind"]) =>
    names.startingWith(prefix).map((name) => ({ label: name.slice(prefix.length), kind }))
  const ofType = (type: string): CompletionProposal[] => named(`relation ${type}#`, "relation")
  const words = (...all: string[]): CompletionProposal[] => all.map((label) => ({ label, kind: "keyword" }))
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
function relationsOfAll(names: ProjectNames): CompletionProposal[] {
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

function isAtKeyword({ statement }: GatewayPlace, partial: Span): boolean {
  return statement === undefined || partial.start <= statement.keyword.span.start
}

function keywordsOf(place: GatewayPlace, { insight }: CompletionTerms): CompletionProposal[] {
  const { block } = place
  const keywords = blocks[block].rows.map(
    (row): CompletionProposal => ({
      ...{ label: row.keyword, kind: "keyword", detail: blocks[block].title },
      docs: statementMarkdown(block, row.keyword) ?? row.docs,
    }),
  )
  const document = block === "api" || block === "version" ? documentAround(place, insight) : undefined
  return document === undefined ? keywords : [...keywords, ...operationProposals(document, place)]
}

/** What may follow the arguments before the cursor. `inQuotes`: the cursor is in a text, in which names cannot be written. */
function argumentsOf(
  place: GatewayPlace,
  partial: Span,
  terms: CompletionTerms,
  inQuotes: boolean,
): CompletionProposal[] {
  const { statement, row } = place
  if (statement === undefined || row === undefined) return []
  const before = statement.args.filter(({ span }) => span.end <= partial.start)
  const { words, slots } = nextArguments(row, before)
  const texts = slots.flatMap((slot) => textProposals(slot, place, terms))
  if (inQuotes) return texts
  return [
    ...words.map((label): CompletionProposal => ({ label, kind: "word" })),
    ...slots.flatMap((slot) => slotProposals(slot, before, terms)),
    ...texts.map((each): CompletionProposal => ({ ...each, insert: `"${each.label}"` })),
  ]
}

/** Texts in quotes that the project knows. */
function textProposals(
  slot: Slot,
  place: GatewayPlace,
  { words, insight }: CompletionTerms,
): CompletionProposal[] {
  const values = (labels: Iterable<string>) =>
    [...labels].map((label): CompletionProposal => ({ label, kind: "value" }))
  if (slot.kind === "header-name") return values(words.headers)
  if (slot.kind === "query-name") return values(words.queries)
  if (slot.slot === "claim" && slot.kind === "constant") return values(words.claims.keys())
  const document =
    slot.kind === "path" || slot.slot === "operation" ? documentAround(place, insight) : undefined
  if (document === undefined) return []
  return slot.kind === "path"
    ? pathProposals(document, place.statement?.keyword.text ?? "")
    : skipProposals(document)
}

function slotProposals(
  slot: Slot,
  before: readonly { readonly kind: string }[],
  terms: CompletionTerms,
): CompletionProposal[] {
  const { program, words } = terms
  if (slot.kind === "reference" || slot.kind === "scope")
    return (slot.to ?? ["policy" as const]).flatMap((kind) =>
      program.all(kind).map(({ name }): CompletionProposal => ({ label: name, kind: "name", detail: kind })),
    )
  if (slot.choices !== undefined) return slot.choices.map((label) => ({ label, kind: "word" }))
  if (slot.kind === "method") return methods.map((label) => ({ label, kind: "word" }))
  if (slot.kind === "relation")
    return terms.names
      .startingWith("relation ")
      .map((name) => ({ label: name.slice(name.indexOf("#") + 1), kind: "relation", detail: name.slice(9) }))
  if (slot.kind === "claim") return [...words.claims.keys()].map((label) => ({ label, kind: "field" }))
  if (slot.kind === "limit-key")
    return [
      ...limitWords.map((label): CompletionProposal => ({ label, kind: "word" })),
      ...[...words.claims.keys()].map(
        (name): CompletionProposal => ({ label: `jwt.${name}`, kind: "field" }),
      ),
    ]
  if (slot.kind === "text" || slot.kind === "url" || slot.kind === "address")
    return valuesOf(program, before.length > 0 ? ["value", "secret"] : ["value"])
  return []
}

/** `subscription` and `ip`. */
const limitWords = slotKinds["limit-key"].label.split("|").filter((word) => /^[a-z]+$/.test(word))

function valuesOf(program: Program, kinds: readonly ("value" | "secret")[]): CompletionProposal[] {
  return kinds.flatMap((kind) =>
    program
      .all(kind)
      .map(({ name }): CompletionProposal => ({ label: name, kind: "value", detail: `named ${kind}` })),
  )
}

function unique(proposals: readonly CompletionProposal[]): CompletionProposal[] {
  const found = new Map<string, CompletionProposal>()
  for (const each of proposals) if (!found.has(each.label)) found.set(each.label, each)
  return [...found.values()]
}
