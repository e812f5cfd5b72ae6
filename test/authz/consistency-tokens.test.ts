import { afterAll, beforeAll, expect, test } from "vitest"
import { AuthzApi } from "../../runtime/authz/api.ts"
import { startAuthz } from "../../runtime/authz/server.ts"
import { Engine } from "../../runtime/check/engine.ts"
import { digestOf } from "../../runtime/plan/canonical.ts"
import type { Database } from "../../runtime/store/database.ts"
import { openPostgres } from "../../runtime/store/postgres.ts"
import { type PruneCursor, prune } from "../../runtime/store/prune.ts"
import { createTupleSource } from "../../runtime/store/tuple-source.ts"
import { createMigratedDatabase, describePostgres } from "../postgres.ts"
import { reduced } from "../support/random-run.ts"
import { call, documentModel, modelPlanOf, type Served, serve } from "./harness.ts"

const header = "sallyport-consistency-token"
const key = { user: "user:ann", relation: "owner", object: "document:1" }
const subject = { type: "user", id: "ann" }
const resource = { type: "document", id: "1" }
const action = { name: "owner" }
const authzen = "access/v1"

/** A question of every kind, and what its answer has in it once the write is seen. */
const questions: readonly (readonly [path: string, body: object, seen: string])[] = [
  ["check", { tuple_key: key }, '"allowed":true'],
  ["explain", { tuple_key: key }, '"allowed":true'],
  ["batch-check", { checks: [{ tuple_key: key, correlation_id: "1" }] }, '"allowed":true'],
  ["expand", { tuple_key: { relation: "owner", object: "document:1" } }, "user:ann"],
  ["list-objects", { type: "document", relation: "owner", user: "user:ann" }, "document:1"],
  ["streamed-list-objects", { type: "document", relation: "owner", user: "user:ann" }, "document:1"],
  ["list-users", { object: resource, relation: "owner", user_filters: [{ type: "user" }] }, '"ann"'],
  ["list-relations", { user: "user:ann", object: "document:1" }, "owner"],
  ["matrix", { users: ["user:ann"], relations: ["owner"], objects: ["document:1"] }, "true"],
  ["read", { tuple_key: key }, "user:ann"],
  [`${authzen}/evaluation`, { subject, action, resource }, '"decision":true'],
  [`${authzen}/evaluations`, { subject, action, evaluations: [{ resource }] }, '"decision":true'],
  [`${authzen}/search/subject`, { subject: { type: "user" }, action, resource }, '"ann"'],
  [`${authzen}/search/resource`, { subject, action, resource: { type: "document" } }, '"1"'],
  [`${authzen}/search/action`, { subject, resource }, "owner"],
]

describePostgres("the consistency token of a write", () => {
  let created: Awaited<ReturnType<typeof createMigratedDatabase>>
  const databases: Database[] = []
  let writing: Awaited<ReturnType<typeof serve>>
  let closeReading: () => Promise<void>
  let asking: Pick<Served, "call">

  beforeAll(async () => {
    created = await createMigratedDatabase()
    databases.push(openPostgres(created.url), openPostgres(created.url))
    const [one, two] = databases as [Database, Database]
    writing = await serve(one)
    // Another process that hears of nothing by itself: it neither polls nor listens.
    const engine = new Engine({ ...createTupleSource(two), listen: () => () => undefined }, { pollMs: 0 })
    const plan = modelPlanOf(documentModel)
    const planModel = (digest: string) => (digest === digestOf(plan.model) ? plan : undefined)
    const api = new AuthzApi({ database: two, engine, planModel })
    const { addresses, close } = await startAuthz({ api, listen: [{ host: "127.0.0.1", port: 0 }] })
    const base = `http://127.0.0.1:${addresses[0]?.port}`
    asking = { call: (...request) => call(base, ...request) }
    closeReading = async () => {
      await close()
      engine.close()
    }
  })

  afterAll(async () => {
    await writing.listeners.close()
    await closeReading()
    for (const database of databases) await database.close()
    await created.drop()
  })

  /** A store of its own, warm at the asking process and without a tuple; and the token of what is written then. */
  async function written(tuple = key): Promise<{ readonly id: string; readonly token: string }> {
    const { id } = (await writing.call("POST", "/stores", { name: "tokens" })).json
    await writing.call("POST", `/stores/${id}/authorization-models`, documentModel)
    const cold = await asking.call("POST", `/stores/${id}/check`, { tuple_key: tuple })
    expect(cold.json).toMatchObject({ allowed: false })
    const answer = await writing.call("POST", `/stores/${id}/write`, { writes: { tuple_keys: [tuple] } })
    return { id, token: answer.headers.get(header) ?? "" }
  }

  test.each(questions)(
    "is taken by %s: in the header, in the body, and only if it is one",
    async (path, body, seen) => {
      const { id, token } = await written()
      const ask = (more: object, headers: Record<string, string> = {}) => {
        const own = path.startsWith(authzen) ? { options: more } : more
        return asking.call(
          "POST",
          `/stores/${id}/${path}`,
          { ...body, ...own },
          { "content-type": "application/json", ...headers },
        )
      }
      // Reading is of the database and needs no token to see it; the others know nothing of the write yet.
      if (path !== "read") expect((await ask({})).text).not.toContain(seen)
      expect((await ask({}, { [header]: token })).text).toContain(seen)
      const again = await written()
      const inBody = path.startsWith(authzen)
        ? { options: { consistency_token: again.token } }
        : { consistency_token: again.token }
      const other = await asking.call(
        "POST",
        `/stores/${again.id}/${path}`,
        { ...body, ...inBody },
        { "content-type": "application/json" },
      )
      expect(other.text).toContain(seen)
      for (const wrong of [
        "x",
        Buffer.from("r1.1").toString("base64url"),
        `${token}AA`,
        `${token}=`,
        `"${token}"`,
      ]) {
        const refused = await ask({}, { [header]: wrong })
        expect([refused.status, refused.text]).toEqual([400, expect.stringContaining("consistency token")])
      }
      for (const more of [{ consistency_token: 7 }, { consistencyToken: token }])
        expect((await ask(more)).status).toBe(400)
      expect((await ask({ consistency_token: again.token }, { [header]: token })).text).toContain(
        "two different tokens",
      )
      // Of the same revision, and of another history.
      const lost = await ask({}, { [header]: again.token })
      expect(lost.status).toBe(409)
      expect(lost.text).toContain("history does not have the commit")
    },
  )

  test("is taken by the feed of changes", async () => {
    const { id, token } = await written()
    const other = await written()
    const ask = (of: string) => asking.call("GET", `/stores/${id}/changes`, undefined, { [header]: of })
    expect((await ask(token)).json.changes).toHaveLength(1)
    expect((await ask("x")).status).toBe(400)
    const byQuery = (of: string) => asking.call("GET", `/stores/${id}/changes?consistency_token=${of}`)
    expect((await byQuery(token)).json.changes).toHaveLength(1)
    expect([(await byQuery("x")).status, (await byQuery(other.token)).status]).toEqual([400, 409])
    expect([(await ask(other.token)).status, (await ask(other.token)).json.code]).toEqual([
      409,
      "history_lost",
    ])
  })

  test("holds when the commit was pruned from the feed, and newer ones include it", async () => {
    const { id, token } = await written()
    const [database] = databases as [Database]
    for (const object of ["document:2", "document:3"])
      await writing.call("POST", `/stores/${id}/write`, { writes: { tuple_keys: [{ ...key, object }] } })
    const text = `update sallyport.changes set changed_at = changed_at - interval '2 days' where store_id = '${id}'`
    await database.query({ name: "", text })
    let cursor: PruneCursor | undefined
    let gone = 0
    do {
      const { pruned, next } = await prune(database, { changesSeconds: 86_400 }, cursor)
      gone += pruned.changes
      cursor = next
    } while (cursor !== undefined)
    expect(gone).toBe(2)
    const headers = { [header]: token }
    const check = await asking.call("POST", `/stores/${id}/check`, { tuple_key: key }, headers)
    expect([check.status, check.json]).toMatchObject([200, { allowed: true }])
    const read = await asking.call("POST", `/stores/${id}/read`, { tuple_key: key }, headers)
    expect([read.status, read.json.tuples]).toEqual([200, [expect.anything()]])
    // A revision that the store has not reached is of another history.
    const ahead = Buffer.from("c1.999999.AAAAAAAAAAAA").toString("base64url")
    for (const path of ["check", "read"]) {
      const lost = await asking.call("POST", `/stores/${id}/${path}`, { tuple_key: key }, { [header]: ahead })
      expect(lost.json.code).toBe("history_lost")
    }
  })

  const checksPerLane = reduced(30, 100)

  test(`none of ${10 * checksPerLane} checks on another process misses the write before it`, async () => {
    const { id } = await written()
    let missed = 0
    // Ten at a time, each of its own tuples: what another has written may bring the process up to date before.
    const lane = async (number: number) => {
      for (let at = 0; at < checksPerLane; at++) {
        const tuple = { ...key, object: `document:${number}-${at}` }
        const { headers } = await writing.call("POST", `/stores/${id}/write`, {
          writes: { tuple_keys: [tuple] },
        })
        const token = headers.get(header) ?? ""
        const { json } = await asking.call(
          "POST",
          `/stores/${id}/check`,
          { tuple_key: tuple },
          { [header]: token },
        )
        if (json.allowed !== true) missed++
      }
    }
    await Promise.all(Array.from({ length: 10 }, (_, number) => lane(number)))
    expect(missed).toBe(0)
  })
})
