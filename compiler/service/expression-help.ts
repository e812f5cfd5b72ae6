import { declareEnvironment, type Environment } from "../../runtime/expression/environment.ts"
import {
  type ExpressionName,
  expressionNameAt,
  expressionNamesAt,
} from "../../runtime/expression/names-at.ts"
import { contextDocs, type RequestPlace, requestContext } from "../../runtime/expression/request-context.ts"
import type { Span } from "../core/source.ts"
import type { WrittenExpression } from "../gateway/ast.ts"
import type { Insight } from "../gateway/insight.ts"
import type { Program } from "../gateway/program.ts"
import type { CompletionProposal } from "./completion-item.ts"
import type { GatewayPlace } from "./gateway-place.ts"
import { fenced, type Hover } from "./markdown.ts"
import type { ProjectWords } from "./project-words.ts"

/** What help for expressions needs to know of a project. */
export interface ExpressionTerms {
  readonly program: Program
  readonly insight: Insight
  readonly words: ProjectWords
}

/** A statement of an outer block runs in each route below it; more kinds of places than this add no new names in practice. */
const contextsMax = 30

/** The expression of an argument that has the offset. */
export function expressionAt({ argument }: GatewayPlace, offset: number): WrittenExpression | undefined {
  const parts = argument?.kind === "text" ? argument.parts : argument === undefined ? [] : [argument]
  for (const part of parts)
    if (part.kind === "cel" && part.span.start <= offset && offset <= part.span.end) return part
  return undefined
}

/** What can be written at an offset of an expression, and the text that it replaces. */
export function completeExpression(
  node: WrittenExpression,
  offset: number,
  place: GatewayPlace,
  terms: ExpressionTerms,
): { readonly replaces: Span; readonly proposals: readonly CompletionProposal[] } {
  const at = offset - node.span.start
  const { file } = node.span
  const argument = textArgumentAt(node.source.slice(0, at), terms)
  if (argument !== undefined) {
    const { written, known } = argument
    const proposals = known.map((label): CompletionProposal => ({ label, kind: "value" }))
    return { replaces: file.span(offset - written.length, offset), proposals }
  }
  if (!isOfRequests(node, place, terms.insight)) {
    const written = /\w*$/.exec(node.source.slice(0, at))?.[0] ?? ""
    const values = terms.program.all("value")
    const proposals = values.map(({ name }): CompletionProposal => ({ label: name, kind: "value" }))
    return { replaces: file.span(offset - written.length, offset), proposals }
  }
  const each = contextsOf(node, place, terms).map((context) =>
    expressionNamesAt(node.source, at, environmentOf(context)),
  )
  // A route without the variable (`jwt` after `auth none`) has a finding: there the type of the value is unknown.
  const typed = each.filter(({ receiver }) => receiver !== "dyn")
  const all = typed.length > 0 ? typed : each
  const names = all.flatMap((found) => found.names)
  const proposals = names.map((name) => proposalOf(name))
  const [first] = all
  if (first?.receiver === "jwt")
    for (const [label, type] of terms.words.claims) proposals.push({ label, kind: "field", detail: type })
  if (first?.receiver === "query")
    proposals.push(
      ...terms.words.queries.filter(isName).map((label): CompletionProposal => ({ label, kind: "field" })),
    )
  return { replaces: file.span(node.span.start + (first?.start ?? at), offset), proposals }
}

/** Whether an expression is evaluated for a request. Others, e.g. in the URL of an issuer, are read when the plan is loaded: they have named values only. */
function isOfRequests(node: WrittenExpression, { outer }: GatewayPlace, { contexts }: Insight): boolean {
  return (
    contexts.has(node) || outer.some(({ keyword }) => /^(?:gateway|product|policy|api)$/.test(keyword.text))
  )
}

/** The type and meaning of the name at an offset of an expression. */
export function hoverExpression(
  node: WrittenExpression,
  offset: number,
  place: GatewayPlace,
  terms: ExpressionTerms,
): Hover | undefined {
  const all = contextsOf(node, place, terms).flatMap((context) => {
    return expressionNameAt(node.source, offset - node.span.start, environmentOf(context)) ?? []
  })
  const found = all.find(({ forms }) => forms[0] !== "dyn") ?? all[0]
  if (found === undefined) return undefined
  const { file, start } = node.span
  const docs = docsOf(found) ?? ""
  const markdown = [fenced(formOf(found)), docs].filter((part) => part !== "").join("\n\n")
  return { span: file.span(start + found.start, start + found.end), markdown }
}

const environments = new WeakMap<RequestPlace, Environment>()

function environmentOf(context: RequestPlace): Environment {
  let found = environments.get(context)
  if (found === undefined) {
    found = declareEnvironment(requestContext(context))
    environments.set(context, found)
  }
  return found
}

/** The places where an expression runs, as the compiler checked it. A statement with a mistake was not checked: its place is read from the text. */
function contextsOf(node: WrittenExpression, place: GatewayPlace, terms: ExpressionTerms): RequestPlace[] {
  const known = terms.insight.contexts.get(node)
  if (known === undefined) return [contextOf(place, terms.program)]
  const different = new Map<string, RequestPlace>()
  for (const context of known) {
    different.set(JSON.stringify(context), context)
    if (different.size >= contextsMax) break
  }
  return [...different.values()]
}

/** What expressions can name at a place, as far as its blocks tell. */
function contextOf(place: GatewayPlace, program: Program): RequestPlace {
  const { outer } = place
  const section = outer
    .map(({ keyword }) => keyword.text)
    .find((word) => /^(?:outbound|on-error)$/.test(word))
  return {
    section: (section ?? "inbound") as RequestPlace["section"],
    pathParameters: pathParametersAt(place),
    ...{ claims: "any", subscription: true, variables: "any" },
    values: program.all("value").map(({ name }) => name),
    secrets: [],
  }
}

/** The parameters of the paths around a place. */
export function pathParametersAt({ outer }: GatewayPlace): string[] {
  const paths = outer.flatMap(({ keyword, args: [first] }) =>
    /^[A-Z]+$/.test(keyword.text) && first?.kind === "text" ? first.parts : [],
  )
  const literals = paths.flatMap((part) => (part.kind === "literal" ? [part.value] : []))
  return literals.flatMap((path) => [...path.matchAll(/\{(\w+)\*?\}/g)].map(([, name = ""]) => name))
}

/** The text that is being written as the name of a header, a query parameter or a cookie, with the names that are known. */
function textArgumentAt(
  before: string,
  terms: ExpressionTerms,
): { readonly written: string; readonly known: readonly string[] } | undefined {
  const found = /\.(headers?|query|queries)\(\s*["']([^"'\\\n]*)$/.exec(before)
  const [, method, written] = found ?? []
  if (method === undefined || written === undefined) return undefined
  return { written, known: method.startsWith("header") ? terms.words.headers : terms.words.queries }
}

export function proposalOf(name: ExpressionName): CompletionProposal {
  const docs = docsOf(name)
  return {
    ...{ label: name.name, kind: name.kind === "variable" ? "value" : name.kind },
    detail: name.forms[0] ?? "",
    ...(docs === undefined ? {} : { docs }),
  }
}

function formOf({ name, kind, of, forms }: ExpressionName): string {
  if (kind === "method" || kind === "function") return forms.join("\n")
  return `${of === undefined ? "" : `${of}.`}${name}: ${forms[0] ?? "dyn"}`
}

function docsOf({ name, kind, of }: ExpressionName): string | undefined {
  if (kind === "function") return undefined
  if (of === "path") return "A parameter of the route's path, decoded."
  if (of === "jwt") return "A claim of the caller's token."
  if (of === "var") return "A variable that an earlier statement sets."
  return of === undefined ? (kind === "variable" ? contextDocs(name) : undefined) : contextDocs(of, name)
}

function isName(text: string): boolean {
  return /^[A-Za-z_]\w*$/.test(text)
}
