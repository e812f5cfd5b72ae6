import type { Span } from "../core/source.ts"
import type { Argument, Statement } from "../gateway/ast.ts"
import { nextArguments } from "../gateway/bind/match.ts"
import { cuttable } from "../gateway/bind/names.ts"
import type { Slot } from "../gateway/schema/row.ts"
import { slotKinds } from "../gateway/schema/slots.ts"
import type { CompletionProposal } from "./completion-item.ts"
import { documentAround, pathProposals, skipProposals } from "./described-operations.ts"
import { type ExpressionTerms, pathParametersAt } from "./expression-help.ts"
import type { GatewayPlace } from "./gateway-place.ts"
import type { ModelRelations } from "./model-relations.ts"

/** What completion of gateway.conf needs to know of a project. `relations` are only collected where they are asked for. */
export interface ArgumentTerms extends ExpressionTerms {
  readonly relations: ModelRelations
}

const methods = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]

/** What may follow the arguments before the cursor. `inQuotes`: the cursor is in a text, in which names cannot be written. */
export function argumentProposals(
  place: GatewayPlace,
  partial: Span,
  terms: ArgumentTerms,
  inQuotes: boolean,
): CompletionProposal[] {
  const { statement, row } = place
  if (statement === undefined || row === undefined) return []
  const before = statement.args.filter(({ span }) => span.end <= partial.start)
  const { words, slots } = nextArguments(row, before)
  const texts = slots.flatMap((slot) => textProposals(slot, before, place, terms))
  if (inQuotes) return texts
  // Where a declared name can stand, a bare word is one, and never a named value.
  const isName = slots.some(({ kind }) => kind === "reference")
  const named = slots.filter(({ kind }) => !(isName && takesValues(kind)))
  return [
    ...named.flatMap((slot) => slotProposals(slot, before, place, partial, terms)),
    ...texts.map((each): CompletionProposal => ({ ...each, insert: `"${each.label}"` })),
    ...words.map((label): CompletionProposal => ({ label, kind: "word" })),
  ]
}

function takesValues(kind: Slot["kind"]): boolean {
  return ["text", "url", "address", "load-text"].includes(kind)
}

/** Texts in quotes that the project knows. */
function textProposals(
  slot: Slot,
  before: readonly Argument[],
  place: GatewayPlace,
  terms: ArgumentTerms,
): CompletionProposal[] {
  const { words, insight } = terms
  const values = (labels: Iterable<string>) =>
    [...labels].map((label): CompletionProposal => ({ label, kind: "value" }))
  if (slot.kind === "header-name") return values(words.headers)
  if (slot.kind === "query-name") return values(words.queries)
  if (slot.slot === "claim" && slot.kind === "constant") return values(words.claims.keys())
  if (isOfQuestion(slot, place)) return values(subjects(slot, before, place, terms))
  const document =
    slot.kind === "path" || slot.slot === "operation" ? documentAround(place, insight) : undefined
  if (document === undefined) return []
  return slot.kind === "path"
    ? pathProposals(document, place.statement?.keyword.text ?? "")
    : skipProposals(document)
}

/** Whether a slot is the object or the user of a relation. */
function isOfQuestion({ slot }: Slot, { row }: GatewayPlace): boolean {
  if (slot !== "object" && slot !== "user") return false
  return row?.keyword === "RELATION" || /^(?:require|grant|revoke|tuple)$/.test(row?.keyword ?? "")
}

/** Objects that can have the relation, and users that it can be asked for. */
function subjects(
  { slot }: Slot,
  before: readonly Argument[],
  place: GatewayPlace,
  { relations, program, words }: ArgumentTerms,
): readonly string[] {
  const relation = relationOf(before, place)
  if (slot === "object") {
    const having = relation === undefined ? [] : relations.having(relation)
    const types = having.length > 0 ? having : relations.types
    const parameters = pathParametersAt(place)
    return types.flatMap((type) => [...parameters.map((name) => `${type}:\${path.${name}}`), `${type}:`])
  }
  const object = typeIn(before.findLast(({ kind }) => kind === "text"))
  const known = object === undefined || relation === undefined ? [] : [...relations.usersOf(object, relation)]
  const types = known.length > 0 ? known : relations.types
  const hasTokens = program.all("issuer").length > 0 || words.claims.size > 0
  return types.flatMap((type) => [...(hasTokens ? [`${type}:\${jwt.sub}`] : []), `${type}:`])
}

/** The relation that a statement names before its object. */
function relationOf(before: readonly Argument[], { row, statement }: GatewayPlace): string | undefined {
  if (row?.keyword === "RELATION") return statement?.keyword.text
  return before.flatMap((each) => (each.kind === "word" && each.text !== "of" ? [each.text] : []))[0]
}

/** The type in `"order:${path.id}"`. */
function typeIn(argument: Argument | undefined): string | undefined {
  const first = argument?.kind === "text" ? argument.parts[0] : undefined
  return first?.kind === "literal" ? /^([^:#\s]+):/.exec(first.value)?.[1] : undefined
}

function slotProposals(
  slot: Slot,
  before: readonly Argument[],
  place: GatewayPlace,
  partial: Span,
  terms: ArgumentTerms,
): CompletionProposal[] {
  const { program, words } = terms
  if (slot.kind === "scope") return scopeProposals(place, terms)
  if (slot.kind === "reference")
    return (slot.to ?? []).flatMap((kind) =>
      program.all(kind).map(({ name }): CompletionProposal => ({ label: name, kind: "name", detail: kind })),
    )
  if (slot.choices !== undefined) return slot.choices.map((label) => ({ label, kind: "word" }))
  if (slot.kind === "method") return methods.map((label) => ({ label, kind: "word" }))
  if (slot.kind === "relation") return relationProposals(place, partial, terms)
  if (slot.kind === "claim") return [...words.claims.keys()].map((label) => ({ label, kind: "field" }))
  if (slot.kind === "duration-or-none") return [{ label: "none", kind: "word" }]
  if (slot.kind === "equals") return [{ label: "=", kind: "word" }]
  if (slot.kind === "outside" || slot.kind === "file") return outsideProposals(slot, before)
  if (slot.slot === "version" && slot.to === undefined) return otherVersions(place)
  if (slot.kind === "limit-key")
    return [
      ...limitWords.map((label): CompletionProposal => ({ label, kind: "word" })),
      ...[...words.claims.keys()].map(
        (name): CompletionProposal => ({ label: `jwt.${name}`, kind: "field" }),
      ),
    ]
  if (!takesValues(slot.kind) || isOfQuestion(slot, place)) return []
  return valueProposals(place, before, terms)
}

/** `subscription` and `ip`. */
const limitWords = slotKinds["limit-key"].label.split("|").filter((word) => /^[a-z]+$/.test(word))

/** Relations that a statement can name: those of its object, where that is written already. */
export function relationProposals(
  { statement }: GatewayPlace,
  partial: Span,
  { relations }: ArgumentTerms,
): CompletionProposal[] {
  const after = (statement?.args ?? []).filter(({ span }) => span.start >= partial.end)
  const type = typeIn(after.find(({ kind }) => kind === "text"))
  const types = type === undefined || relations.of(type).length === 0 ? relations.types : [type]
  return types.flatMap((each) =>
    relations
      .of(each)
      .map((label): CompletionProposal => ({ label, kind: "relation", detail: `${each}#${label}` })),
  )
}

/** What `without` can remove here: policies, and keywords of statements, of the blocks around it. */
function scopeProposals({ outer }: GatewayPlace, { program }: ArgumentTerms): CompletionProposal[] {
  const around = [
    ...outer.slice(0, -1),
    ...(program.gateway === undefined ? [] : [program.gateway.statement]),
  ]
  const found = around.flatMap(({ block }) => block?.statements ?? [])
  const used = new Set<string>()
  const use = (statements: readonly Statement[]): void => {
    for (const { keyword, args } of statements)
      for (const each of keyword.text === "use" ? args : []) {
        if (each.kind !== "word" || used.has(each.text)) continue
        used.add(each.text)
        const inner = program.find("policy", each.text)?.bound.statement.block?.statements ?? []
        found.push(...inner)
        use(inner)
      }
  }
  use([...found])
  const keywords = new Set(found.map(({ keyword }) => keyword.text).filter((each) => cuttable.includes(each)))
  return [
    ...[...used].map((label): CompletionProposal => ({ label, kind: "name", detail: "policy" })),
    ...[...keywords].map((label): CompletionProposal => ({ label, kind: "keyword" })),
  ]
}

/** `env(NAME)`, by the name of the declaration, and `file("PATH")`. */
function outsideProposals({ kind }: Slot, before: readonly Argument[]): CompletionProposal[] {
  const [name] = before
  const variable = name?.kind === "word" ? name.text.toUpperCase().replaceAll("-", "_") : "NAME"
  const env: CompletionProposal = { label: "env", kind: "function", insert: `env(${variable})` }
  const file: CompletionProposal = { label: "file", kind: "function", insert: 'file("PATH")' }
  return kind === "file" ? [file] : [env, file]
}

/** The versions of the API around a place, without the one that it is in. */
function otherVersions({ outer }: GatewayPlace): CompletionProposal[] {
  const own = outer.at(-1)
  const api = outer.find(({ keyword }) => keyword.text === "api")
  return (api?.block?.statements ?? []).flatMap((each): CompletionProposal[] => {
    const [name] = each.args
    if (each.keyword.text !== "version" || each === own || name?.kind !== "word") return []
    return [{ label: name.text, kind: "name", detail: "version" }]
  })
}

/** Named values without the one that is being declared; secrets only where callers cannot see them. */
function valueProposals(
  { outer, statement }: GatewayPlace,
  before: readonly Argument[],
  { program }: ArgumentTerms,
): CompletionProposal[] {
  const around = [...outer, ...(statement === undefined ? [] : [statement])]
  const takesNone = around.some(({ keyword }) =>
    /^(?:value|outbound|on-error|respond|redirect)$/.test(keyword.text),
  )
  const own = before.find(({ kind }) => kind === "word")
  const kinds = before.length > 0 && !takesNone ? (["value", "secret"] as const) : (["value"] as const)
  return kinds.flatMap((kind) =>
    program.all(kind).flatMap(({ name, span }): CompletionProposal[] => {
      const isOwn = own !== undefined && span.file === own.span.file && span.start === own.span.start
      return isOwn ? [] : [{ label: name, kind: "value", detail: `named ${kind}` }]
    }),
  )
}
