import { expect, test } from "vitest"
import { PublishedDocument } from "../../runtime/portal/document.ts"
import { documentChanges } from "../../runtime/portal/document-changes.ts"

const order = (more: object = {}, required: readonly string[] = []) => ({
  type: "object",
  required,
  properties: { id: { type: "integer" }, ...more },
})

/** A document with one operation that sends and gets orders, which may refer to themselves. */
function documentWith(operation: object, schema: object = order(), paths: object = {}): PublishedDocument {
  const content = { "application/json": { schema: { $ref: "#/components/schemas/Order" } } }
  const post = {
    parameters: [{ name: "dry", in: "query", schema: { type: "boolean" } }],
    requestBody: { content },
    responses: { 200: { description: "ok", content } },
    ...operation,
  }
  return new PublishedDocument(
    JSON.stringify({
      openapi: "3.1.0",
      paths: { "/": { post }, ...paths },
      components: { schemas: { Order: schema } },
    }),
  )
}

function changes(before: PublishedDocument, after: PublishedDocument): string[] {
  return documentChanges(before, after).map(({ kind, text }) => `${kind}: ${text}`)
}

const base = documentWith({})

test("equal documents have no changes", () => {
  expect(changes(base, documentWith({}))).toEqual([])
})

test("operations come and go, and become deprecated", () => {
  const more = documentWith({ deprecated: true }, order(), { "/new": { get: { responses: {} } } })
  expect(changes(base, more)).toEqual(["deprecated: POST / is deprecated", "added: GET /new is new"])
  expect(changes(more, base)).toContain("breaking: GET /new was removed")
})

test("what a request needs more is breaking, what it may have more is not", () => {
  const needed = documentWith({ parameters: [{ name: "dry", in: "query", required: true }] })
  expect(changes(base, needed)).toEqual([
    "breaking: POST / needs the query parameter `dry`, which was optional",
  ])
  const header = { name: "X-Shop", in: "header" }
  const optional = documentWith({ parameters: [{ name: "dry", in: "query" }, header] })
  expect(changes(base, optional)).toEqual(["added: POST / has the new header parameter `X-Shop`"])
  expect(changes(base, documentWith({ security: [{ key: [] }] }))).toEqual([
    "breaking: POST / needs other credentials",
  ])
})

test("members of requests and responses are compared in their direction, through references", () => {
  const after = documentWith(
    {},
    order({ note: { type: "string" }, parent: { $ref: "#/components/schemas/Order" } }, ["note"]),
  )
  expect(changes(base, after)).toEqual([
    "breaking: POST / has the new member `note` of the request",
    "added: POST / has the new member `parent` of the request",
    "added: POST / has the new member `note` of the response",
    "added: POST / has the new member `parent` of the response",
  ])
  expect(changes(after, base)).toEqual([
    "changed: POST / no longer has `note` of the request",
    "changed: POST / no longer has `parent` of the request",
    "breaking: POST / no longer has `note` of the response",
    "breaking: POST / no longer has `parent` of the response",
  ])
  const typed = documentWith({}, { ...order(), properties: { id: { type: "string" } } })
  expect(changes(base, typed)).toEqual([
    "breaking: POST / has another type for `id` of the request",
    "breaking: POST / has another type for `id` of the response",
  ])
})

test("a response that is gone is breaking, and other words are a change", () => {
  expect(changes(base, documentWith({ responses: { 204: { description: "gone" } } }))).toEqual([
    "breaking: POST / no longer responds with 200",
    "changed: POST / may respond with 204",
  ])
  expect(changes(base, documentWith({ summary: "Order" }))).toEqual([
    "changed: POST / is described differently",
  ])
})

test("limits are told with their numbers", () => {
  const limited = (...calls: number[]) =>
    documentWith({ "x-rate-limits": calls.map((each) => ({ calls: each, periodSeconds: 60, by: "ip" })) })
  expect(changes(limited(100), limited(120))).toEqual([
    "changed: POST / allows 120 calls in 60 s (before: 100 calls in 60 s)",
  ])
  expect(changes(base, limited(5, 9))).toEqual([
    "changed: POST / allows 5 calls in 60 s and 9 calls in 60 s (before: any number)",
  ])
  expect(changes(limited(5), base)).toEqual([
    "changed: POST / allows any number of calls (before: 5 calls in 60 s)",
  ])
})

test("a hostile document ends the comparison early", () => {
  const deep = (levels: number): object =>
    levels === 0
      ? { type: "string" }
      : { type: "object", properties: { a: deep(levels - 1), b: deep(levels - 1) } }
  expect(changes(documentWith({}, deep(12)), documentWith({ summary: "x" }, deep(12)))).toEqual([
    "changed: POST / is described differently",
  ])
})
