import { expect, test } from "vitest"
import { AuthzApi } from "../../runtime/authz/api.ts"
import { startAuthz } from "../../runtime/authz/server.ts"
import { Engine } from "../../runtime/check/engine.ts"
import { digestOf } from "../../runtime/plan/canonical.ts"
import type { PlanBody } from "../../runtime/plan/plan.ts"
import { migrate } from "../../runtime/store/migrate.ts"
import { declareStores } from "../../runtime/store/plans.ts"
import { openPostgres } from "../../runtime/store/postgres.ts"
import { createTupleSource } from "../../runtime/store/tuple-source.ts"
import { createDatabase, createMigratedDatabase, describePostgres } from "../postgres.ts"
import { promptlyMs } from "../support/busy.ts"
import { startThrowAwayPostgres } from "../support/throw-away-postgres.ts"
import { until } from "../support/until.ts"
import { type Called, documentModel, modelPlanOf, type Served, serve } from "./harness.ts"

const ann = { user: "user:ann", relation: "owner", object: "document:1" }

const check = (served: Served, store: string, tuple_key = ann): Promise<Called> =>
  served.call("POST", `/stores/${store}/check`, { tuple_key })

describePostgres("processes on one database", () => {
  test("see each other's writes, models and deletions", async () => {
    const created = await createMigratedDatabase()
    const databases = [openPostgres(created.url), openPostgres(created.url)] as const
    const [one, two] = [await serve(databases[0]), await serve(databases[1])]
    try {
      const { id } = (await one.call("POST", "/stores", { name: "shared" })).json
      await one.call("POST", `/stores/${id}/authorization-models`, documentModel)
      expect((await check(two, id)).json).toMatchObject({ allowed: false })
      await one.call("POST", `/stores/${id}/write`, { writes: { tuple_keys: [ann] } })
      expect((await check(one, id)).json).toMatchObject({ allowed: true })
      // Asked for the newest, it asks the database first.
      const newest = { tuple_key: ann, consistency: "HIGHER_CONSISTENCY" }
      expect((await two.call("POST", `/stores/${id}/check`, newest)).json).toMatchObject({ allowed: true })
      await two.call("POST", `/stores/${id}/write`, { deletes: { tuple_keys: [ann] } })
      await until(async () => (await check(one, id)).json.allowed === false)

      const small = { schema_version: "1.1", type_definitions: [{ type: "user" }] }
      await one.call("POST", `/stores/${id}/authorization-models`, small)
      expect((await check(one, id)).json).toMatchObject({ message: "type 'document' not found" })
      await until(async () => (await check(two, id)).status === 400)
      await one.call("DELETE", `/stores/${id}`)
      expect((await check(one, id)).status).toBe(404)
      await until(async () => (await check(two, id)).status === 404)
    } finally {
      await Promise.all([one, two].map(({ listeners }) => listeners.close()))
      await Promise.all(databases.map((database) => database.close()))
      await created.drop()
    }
  })

  test("a new plan's model counts from its activation on", async () => {
    const created = await createMigratedDatabase()
    const database = openPostgres(created.url)
    const engine = new Engine(createTupleSource(database))
    const api = new AuthzApi({ database, engine })
    const { addresses, close } = await startAuthz({ api, listen: [{ host: "127.0.0.1", port: 0 }] })
    const declare = async (type: string) => {
      const plan = modelPlanOf({ schema_version: "1.1", type_definitions: [{ type: "user" }, { type }] })
      const models = { [digestOf(plan.model)]: plan }
      const stores = { acme: { model: digestOf(plan.model) } }
      await declareStores(database, { authz: { stores }, models } as unknown as PlanBody)
      api.planChanged()
    }
    const message = async () => {
      const response = await fetch(`http://127.0.0.1:${addresses[0]?.port}/stores/acme/check`, {
        method: "POST",
        body: JSON.stringify({ tuple_key: { user: "user:a", relation: "r", object: "b:1" } }),
      })
      return ((await response.json()) as { message: string }).message
    }
    try {
      await declare("a")
      expect(await message()).toBe("type 'b' not found")
      await declare("b")
      expect(await message()).toBe("relation 'b#r' not found")
    } finally {
      await close()
      engine.close()
      await database.close()
      await created.drop()
    }
  })

  test("without its database for longer than max-staleness: no answer from memory", async () => {
    const server = await startThrowAwayPostgres({ migrated: true })
    const database = openPostgres(server.url("postgres"))
    const served = await serve(database, 1_500)
    try {
      expect((await check(served, "acme")).status).toBe(200)
      await server.stop()
      await until(async () => (await check(served, "acme")).status === 503)
      expect((await check(served, "acme")).json).toMatchObject({ code: "unavailable" })
    } finally {
      await served.listeners.close()
      await database.close()
      await server.stop()
    }
  })

  test("on a database nobody has migrated: not serving, 503, and from the migration on it serves", async () => {
    const created = await createDatabase()
    const database = openPostgres(created.url)
    const engine = new Engine(createTupleSource(database))
    const api = new AuthzApi({ database, engine })
    const listeners = await startAuthz({ api, listen: [{ host: "127.0.0.1", port: 0 }] })
    const base = `http://127.0.0.1:${listeners.addresses[0]?.port}`
    try {
      expect((await fetch(`${base}/healthz`)).status).toBe(503)
      const answer = await fetch(`${base}/stores`)
      expect([answer.status, await answer.json()]).toEqual([
        503,
        { code: "unavailable", message: "The schema of the database does not match this version" },
      ])
      await migrate(database)
      expect((await fetch(`${base}/healthz`)).status).toBe(200)
      expect((await fetch(`${base}/stores`)).status).toBe(200)
    } finally {
      await listeners.close()
      engine.close()
      await database.close()
      await created.drop()
    }
  })

  test("without its database: 503 promptly, checks in memory go on, and it recovers", async () => {
    let server = await startThrowAwayPostgres({ migrated: true })
    const database = openPostgres(server.url("postgres"))
    const served = await serve(database)
    const write = (user: string) =>
      served.call("POST", "/stores/acme/write", { writes: { tuple_keys: [{ ...ann, user }] } })
    try {
      expect((await write("user:ann")).status).toBe(200)
      expect((await check(served, "acme")).json).toMatchObject({ allowed: true })
      const { port } = server
      await server.stop()

      const startedMs = performance.now()
      const answers = await Promise.all([
        write("user:bob"),
        served.call("POST", "/stores/acme/read", {}),
        served.call("GET", "/stores"),
        served.call("POST", "/stores", { name: "another" }),
        served.call("GET", "/stores/acme/authorization-models"),
        served.call("POST", "/stores/01ARZ3NDEKTSV4RRFFQ69G5FAV/check", { tuple_key: ann }),
      ])
      // The promise is one second; the rest is for a busy machine.
      expect(performance.now() - startedMs).toBeLessThan(promptlyMs(3_000))
      for (const { status, json, headers } of answers) {
        expect(status).toBe(503)
        expect(json).toEqual({
          code: "unavailable",
          message: "The database is unavailable; try again shortly",
        })
        expect(headers.get("retry-after")).toBe("1")
      }
      expect(await served.call("GET", "/healthz")).toMatchObject({
        status: 503,
        json: { status: "NOT_SERVING" },
      })
      expect((await check(served, "acme")).json).toMatchObject({ allowed: true })

      server = await startThrowAwayPostgres({ port })
      // The new server is empty.
      await until(() =>
        migrate(database).then(
          () => true,
          () => false,
        ),
      )
      await until(async () => (await served.call("GET", "/healthz")).status === 200)
      expect((await served.call("POST", "/stores", { name: "another" })).status).toBe(201)
    } finally {
      await served.listeners.close()
      await database.close()
      await server.stop()
    }
  })
})
