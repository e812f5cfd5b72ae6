import type { Statement, TextArgument } from "../gateway/ast.ts"
import type { Described } from "../gateway/described.ts"
import type { Insight } from "../gateway/insight.ts"
import type { ApiDocument, Operation } from "../openapi/api-document.ts"
import type { CompletionProposal } from "./completion-item.ts"
import type { GatewayPlace } from "./gateway-place.ts"

/** The OpenAPI document of the API or version around a place. */
export function documentAround({ outer }: GatewayPlace, { documents }: Insight): ApiDocument | undefined {
  const around = (statement: Statement, { statement: { statement: named } }: Described): boolean =>
    statement.block?.statements.some(
      ({ span }) => span.file === named.span.file && span.start === named.span.start,
    ) === true
  for (const statement of outer.toReversed())
    for (const described of documents.values()) if (around(statement, described)) return described.document
  return undefined
}

/** Operations of the document that the block does not have yet, to be written as statements: proposed by their ids. */
export function operationProposals(document: ApiDocument, { outer }: GatewayPlace): CompletionProposal[] {
  const written = new Set(
    (outer.at(-1)?.block?.statements ?? []).map(({ keyword, args: [first] }) => {
      return `${keyword.text} ${first?.kind === "text" ? constantOf(first) : ""}`
    }),
  )
  return document.operations.flatMap((operation): CompletionProposal[] => {
    const { id, method, path } = operation
    if (path === undefined || written.has(`${method} ${path}`)) return []
    const head = `${method} "${path}"`
    const insert = `${head} {\n}`
    return [{ label: id ?? head, kind: "operation", detail: head, ...docsOf(operation), insert }]
  })
}

/** The paths of a method's operations. */
export function pathProposals(document: ApiDocument, method: string): CompletionProposal[] {
  return document.operations.flatMap((operation): CompletionProposal[] => {
    if (operation.path === undefined || operation.method !== method) return []
    return [{ label: operation.path, kind: "operation", detail: operation.id ?? "", ...docsOf(operation) }]
  })
}

/** `METHOD /path` of all operations, as `skip` names them. */
export function skipProposals(document: ApiDocument): CompletionProposal[] {
  return document.operations.map((operation) => ({
    ...{ label: `${operation.method} ${operation.template}`, kind: "operation" },
    ...{ detail: operation.id ?? "", ...docsOf(operation) },
  }))
}

function docsOf({ summary, description }: Operation): { readonly docs?: string } {
  const docs = [summary, description].filter((text) => text !== undefined).join("\n\n")
  return docs === "" ? {} : { docs }
}

/** The text in quotes, if it has no expressions. */
function constantOf({ parts }: TextArgument): string {
  return parts.map((part) => (part.kind === "literal" ? part.value : "")).join("")
}
