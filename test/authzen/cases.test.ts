import { existsSync, readdirSync, readFileSync } from "node:fs"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { parse } from "yaml"
import type { Database } from "../../runtime/store/database.ts"
import { type Called, type Served, serve } from "../authz/harness.ts"
import { openTestDatabase } from "../store/databases.ts"
import { makeStore } from "./make-store.ts"

const cases = new URL("../cases/authzen/", import.meta.url)
const shared = new URL("../../../shared/conformance/authzen/", import.meta.url)

interface Row {
  readonly name: string
  readonly post: string
  readonly headers?: Record<string, string>
  readonly body?: object
  readonly raw?: string
  readonly status?: number
  readonly answer?: object
  readonly says?: string
}

async function post(
  served: Served,
  path: string,
  row: Pick<Row, "body" | "raw" | "headers">,
): Promise<Called> {
  const response = await fetch(served.base + path, {
    method: "POST",
    headers: { "content-type": "application/json", ...row.headers },
    body: row.raw ?? JSON.stringify(row.body),
  })
  const text = await response.text()
  return { status: response.status, headers: response.headers, text, json: JSON.parse(text) }
}

/** `<any>` is anything that is there. */
function matched(answer: unknown, pattern: unknown): unknown {
  if (pattern === "<any>") return answer === undefined ? undefined : pattern
  if (Array.isArray(answer) && Array.isArray(pattern))
    return answer.map((item, at) => matched(item, pattern[at]))
  if (typeof answer !== "object" || answer === null || typeof pattern !== "object" || pattern === null)
    return answer
  return Object.fromEntries(
    Object.entries(answer).map(([key, value]) => [
      key,
      matched(value, (pattern as Record<string, unknown>)[key]),
    ]),
  )
}

/** Lists without pages have no order. */
function sorted(answer: unknown): unknown {
  const { results } = answer as { results?: { id?: string; name?: string }[] }
  if (results === undefined) return answer
  const key = (item: { id?: string; name?: string }) => item.id ?? item.name ?? ""
  return { ...(answer as object), results: [...results].sort((a, b) => (key(a) < key(b) ? -1 : 1)) }
}

describe("AuthZEN", () => {
  let database: Database
  let opened: Awaited<ReturnType<typeof serve>>
  const served = (): Served => opened
  beforeAll(async () => {
    database = await openTestDatabase()
    opened = await serve(database)
  })
  afterAll(async () => {
    await opened.listeners.close()
    await database.close()
  })

  describe("cases", () => {
    let store = ""
    beforeAll(async () => {
      store = await makeStore(served(), "records.fga.yaml")
    })
    for (const file of readdirSync(cases).filter((name) => /^[a-z]+\.yaml$/.test(name))) {
      const rows: Row[] = parse(readFileSync(new URL(file, cases), "utf8"))
      test.each(rows.map((row) => [`${file} ${row.name}`, row] as const))("%s", async (_, row) => {
        const given = await post(served(), `/stores/${store}/access/v1/${row.post}`, {
          ...row,
          headers: { ...row.headers, "x-request-id": "an id of the client's" },
        })
        expect(`${given.status} ${given.status === (row.status ?? 200) ? "" : given.text}`.trim()).toBe(
          String(row.status ?? 200),
        )
        expect(given.headers.get("content-type")).toBe("application/json")
        expect(given.headers.get("x-request-id")).toBe("an id of the client's")
        if (row.answer !== undefined)
          expect(sorted(matched(given.json, row.answer))).toEqual(sorted(row.answer))
        if (row.says !== undefined) expect(given.json.message).toContain(row.says)
      })
    }

    test("every search by pages is the search without, and ends with an empty token", async () => {
      const searches = [
        [
          "search/subject",
          { subject: { type: "user" }, action: { name: "read" }, resource: { type: "record", id: "public" } },
        ],
        [
          "search/resource",
          { subject: { type: "user", id: "alice" }, action: { name: "read" }, resource: { type: "record" } },
        ],
        [
          "search/action",
          { subject: { type: "user", id: "alice" }, resource: { type: "record", id: "record-1" } },
        ],
      ] as const
      for (const [path, body] of searches) {
        const ask = (page: object) =>
          post(served(), `/stores/${store}/access/v1/${path}`, { body: { ...body, page } })
        const whole = sorted((await ask({})).json) as { results: unknown[]; page: unknown }
        expect(whole.page).toEqual({ next_token: "", count: whole.results.length })
        const found: unknown[] = []
        let token = ""
        for (let turns = 0; turns < 20; turns += 1) {
          const { json } = await ask(token === "" ? { limit: 1 } : { limit: 1, token })
          expect(json.results.length).toBeLessThanOrEqual(1)
          found.push(...json.results)
          token = json.page.next_token
          if (token === "") break
        }
        expect(token).toBe("")
        expect(sorted({ results: found })).toMatchObject({ results: whole.results })
      }
    })

    test("a token is good for its own search only", async () => {
      const path = `/stores/${store}/access/v1/search/resource`
      const body = {
        subject: { type: "user", id: "alice" },
        action: { name: "read" },
        resource: { type: "record" },
      }
      const first = await post(served(), path, { body: { ...body, page: { limit: 1 } } })
      const page = { token: first.json.page.next_token }
      expect(page.token).not.toBe("")
      const other = { ...body, subject: { type: "user", id: "bob" }, page }
      expect(await post(served(), path, { body: other })).toMatchObject({ status: 400 })
      expect(await post(served(), path, { body: { ...body, page } })).toMatchObject({ status: 200 })
    })

    test("whatever a search gives is permitted when it is evaluated", async () => {
      const base = `/stores/${store}/access/v1`
      const action = { name: "read" }
      const resource = { type: "record", id: "public" }
      const found = await post(served(), `${base}/search/subject`, {
        body: { subject: { type: "user" }, action, resource },
      })
      const body = {
        action,
        resource,
        evaluations: found.json.results.map((subject: object) => ({ subject })),
      }
      const decided = await post(served(), `${base}/evaluations`, { body })
      expect(decided.json.evaluations.map(({ decision }: { decision: boolean }) => decision)).toEqual([
        true,
        true,
      ])
    })

    test("with `explain` an answer says why", async () => {
      const body = {
        subject: { type: "user", id: "mallory" },
        action: { name: "read" },
        resource: { type: "record", id: "public" },
        options: { explain: true },
      }
      const { json } = await post(served(), `/stores/${store}/access/v1/evaluation`, { body })
      expect(json).toMatchObject({ decision: false, context: { explanation: { allowed: false } } })
      expect(json.context.reason).toContain("user:mallory blocked record:public")
    })

    test("without an id of the client's there is a new one", async () => {
      const body = {
        subject: { type: "user", id: "alice" },
        action: { name: "read" },
        resource: { type: "record", id: "record-1" },
      }
      const { headers } = await post(served(), `/stores/${store}/access/v1/evaluation`, { body })
      expect(headers.get("x-request-id")).toMatch(/^[0-9a-f]{32}$/)
      expect(headers.get("openfga-store-id")).toBe(store)
    })

    test("more evaluations than a batch may have", async () => {
      const evaluations = Array.from({ length: 51 }, () => ({}))
      const answer = await post(served(), `/stores/${store}/access/v1/evaluations`, { body: { evaluations } })
      expect([answer.status, answer.json.code]).toEqual([400, "exceeded_entity_limit"])
    })

    test("the model of a header, a model that is not there, a store that is not there", async () => {
      const body = {
        subject: { type: "user", id: "alice" },
        action: { name: "read" },
        resource: { type: "record", id: "record-1" },
      }
      const ask = (id: string, model: string) =>
        post(served(), `/stores/${id}/access/v1/evaluation`, {
          body,
          headers: { "openfga-authorization-model-id": model },
        })
      const { headers } = await post(served(), `/stores/${store}/access/v1/evaluation`, { body })
      const model = headers.get("openfga-authorization-model-id") ?? ""
      expect(await ask(store, model)).toMatchObject({ status: 200, json: { decision: true } })
      expect(await ask(store, "01ARZ3NDEKTSV4RRFFQ69G5FAV")).toMatchObject({ status: 400 })
      expect(await ask(store, "x")).toMatchObject({ status: 400 })
      expect(await ask("01ARZ3NDEKTSV4RRFFQ69G5FAV", "")).toMatchObject({ status: 404 })
    })
  })

  describe("the interop's decisions", () => {
    let store = ""
    beforeAll(async () => {
      store = await makeStore(served(), "todo.fga.yaml")
    })
    for (const file of existsSync(shared) ? readdirSync(shared) : ["decisions"]) {
      test(file, async (context) => {
        if (!existsSync(shared)) context.skip("needs ../shared/conformance/authzen")
        const { evaluation = [], evaluations = [] } = JSON.parse(readFileSync(new URL(file, shared), "utf8"))
        const base = `/stores/${store}/access/v1`
        for (const { request, expected } of evaluation) {
          const { json } = await post(served(), `${base}/evaluation`, { body: request })
          expect([request, json]).toEqual([request, { decision: expected }])
        }
        for (const { request, expected } of evaluations) {
          const { json } = await post(served(), `${base}/evaluations`, { body: request })
          expect([request, json]).toEqual([request, { evaluations: expected }])
        }
        expect(evaluation.length + evaluations.length).toBeGreaterThanOrEqual(40)
      })
    }
  })
})
