import type { StepOf } from "../../plan/steps.ts"
import { measureQuery } from "../../validation/graphql-query.ts"
import { isJson, mediaTypeOf } from "../../validation/media-type.ts"
import { decodeText, pairsOf } from "../../validation/pairs.ts"
import type { Exchange } from "../exchange.ts"
import type { ProblemDetail } from "../messages/answer.ts"
import { messageOf } from "../messages/message.ts"
import type { Policy } from "../policy.ts"
import { charsetProblem, jsonOf } from "./read-body.ts"
import { Violations } from "./violations.ts"

/** A query and its place, or why the request has none there. */
type Found = Pick<ProblemDetail, "in" | "pointer"> &
  ({ readonly query: string } | { readonly problem: string })

const request = messageOf("request")

/** Judges the GraphQL queries of a request by their text, before they reach the server. */
export const validateGraphql: Policy<"validate-graphql"> = (plan, provision) => {
  provision.need(request.needs)
  const log = provision.traceLog()
  return (exchange) => {
    const violations = new Violations(plan.kind, log)
    // Servers read the URL, too, and some prefer it to the body: whichever they take was judged.
    const found = [...queriesOfUrl(exchange), ...queriesOfBody(exchange)]
    if (found.length === 0) found.push({ in: "body", pointer: "", problem: "has no GraphQL query" })
    for (const each of found)
      for (const message of "problem" in each ? [each.problem] : faultsOf(each.query, plan))
        violations.add(
          plan.action,
          { in: each.in, pointer: each.pointer, message },
          "IncorrectMessage",
          "query",
        )
    return violations.settle(exchange, "request", plan.errors)
  }
}

/** What a query violates; each completes "the query …". */
function faultsOf(
  query: string,
  { depthMax, fieldsMax, introspection }: StepOf<"validate-graphql">,
): string[] {
  const size = measureQuery(query)
  if ("problem" in size) return [size.problem]
  const { depth, fields, introspects } = size
  return [
    ...(depthMax !== undefined && depth > depthMax
      ? [`is ${depth} levels deep; the limit is ${depthMax}`]
      : []),
    ...(fieldsMax !== undefined && fields > fieldsMax
      ? [`selects ${fields} fields; the limit is ${fieldsMax}`]
      : []),
    ...(introspection === "deny" && introspects ? ["reads the schema, which is not allowed"] : []),
  ]
}

function queriesOfUrl({ query }: Exchange): Found[] {
  const given = pairsOf(query.text).filter(({ name }) => name === "query")
  return given.map(({ raw }) => ({ in: "query", pointer: "query", query: decodeText(raw) }))
}

function queriesOfBody(exchange: Exchange): Found[] {
  const body = request.body(exchange)
  if (!body.present) return []
  const written = request.headers(exchange).get("content-type") ?? ""
  const type = mediaTypeOf(written)
  const problem = charsetProblem("json", body.content, written)?.problem
  const at = (pointer: string) => ({ in: "body", pointer }) as const
  if (problem !== undefined) return [{ ...at(""), problem }]
  if (type?.subtype === "graphql") return [{ ...at(""), query: body.text() }]
  if (type === undefined || !isJson(`${type.type}/${type.subtype}`))
    return [{ ...at(""), problem: "is neither JSON nor application/graphql" }]
  const read = jsonOf(body)
  if ("problem" in read) return [{ ...at(""), problem: read.problem }]
  const { value } = read
  if (!Array.isArray(value)) return [inObject(value, "")]
  return value.length === 0
    ? [{ ...at(""), problem: "is an empty batch" }]
    : value.map((each, index) => inObject(each, `/${index}`))
}

/** The query of an object of GraphQL over HTTP. A server may know the query of a hash, so a hash alone cannot be judged. */
function inObject(value: unknown, pointer: string): Found {
  const query = typeof value === "object" && value !== null ? (value as { query?: unknown }).query : undefined
  if (typeof query === "string") return { in: "body", pointer: `${pointer}/query`, query }
  return { in: "body", pointer, problem: "has no text in `query`" }
}
