import type { StepOf } from "../../../runtime/plan/steps.ts"
import type { Report } from "../../core/diagnostic.ts"
import { shown } from "../../core/shown.ts"
import type { ApiDocument, Content, Operation, Response } from "../../openapi/api-document.ts"
import { sampleOf } from "../../openapi/sample.ts"
import { headSpan, statementOf } from "../bind/bound.ts"
import type { DescribedOperation } from "../described.ts"
import type { RouteSource, Scope } from "../routes.ts"
import type { Lowered, StepTable } from "./step.ts"

/** `mock` of the nearest scope: an answer made of what the document says. Undefined where nobody asked for one, `broken` where there is none to give. */
export function lowerMock(
  source: RouteSource,
  chain: readonly (Scope | undefined)[],
  steps: StepTable,
  report: Report,
): Lowered | "broken" | undefined {
  const statement = chain.map((scope) => statementOf(scope?.block, "mock")).find((each) => each !== undefined)
  if (statement === undefined) return undefined
  const { described } = source
  const own = statementOf(source.scopes.operation.block, "mock") === statement
  if (described === undefined) {
    // An extra operation of a described API has a backend, or answers itself.
    if (!own && source.inDescribed) return undefined
    report.add("SP8012", headSpan(statement.statement), "no document describes what is to be answered here")
    return "broken"
  }
  const { args } = statement
  const media = args.value<string>("media")?.toLowerCase()
  const answer = mockAnswer(described, args.value<number>("status"), media)
  if (typeof answer !== "string") return steps.add(answer, headSpan(statement.statement))
  report.add("SP8012", own ? headSpan(statement.statement) : described.operation.span, answer)
  return "broken"
}

/** An answer of what a document says: its example, else a sample of its schema. A text says why there is none. `status`, `media` undefined: the likeliest. */
export function mockAnswer(
  { operation, document }: Pick<DescribedOperation, "operation" | "document">,
  status: number | undefined,
  media: string | undefined,
): StepOf<"respond"> | string {
  const response = responseOf(operation, status)
  if (response === undefined)
    return status === undefined
      ? "the operation has no answer to give"
      : `the operation has no answer ${status}`
  const content = contentOf(response, media)
  if (media !== undefined && content === undefined)
    return `the answer ${response.status} has no content of \`${shown(media)}\``
  const made = status ?? statusOf(response)
  const bare = { kind: "respond" as const, status: made, headers: [], media: null }
  if (content === undefined || made === 204 || made === 304) return bare
  return {
    ...bare,
    media: content.media.replace(/^\*.*|\/\*.*/, "application/json"),
    body: { text: bodyOf(content, document) },
  }
}

/** The answer of a status: itself, its class, the default; without one the first success. */
function responseOf({ responses }: Operation, status: number | undefined): Response | undefined {
  const find = (wanted: string) => responses.find((each) => each.status === wanted)
  if (status !== undefined)
    return find(String(status)) ?? find(`${Math.trunc(status / 100)}xx`) ?? find("default")
  const successes = responses.filter((each) => each.status.startsWith("2"))
  return [...successes].sort((a, b) => (a.status < b.status ? -1 : 1))[0] ?? find("default") ?? responses[0]
}

function statusOf({ status }: Response): number {
  return /^\d+$/.test(status) ? Number(status) : status === "default" ? 200 : Number(status[0]) * 100
}

function contentOf({ contents }: Response, media: string | undefined): Content | undefined {
  if (media !== undefined)
    return contents.find((each) => each.media === media || each.media.split(";", 1)[0] === media)
  return contents.find((each) => /\/(?:.*\+)?json/.test(each.media)) ?? contents[0]
}

function bodyOf({ media, schema, example }: Content, { schemas }: ApiDocument): string {
  const value =
    example === undefined ? (schema === undefined ? null : sampleOf(schemas, schema)) : example.value
  return typeof value === "string" && !media.includes("json") ? value : JSON.stringify(value)
}
