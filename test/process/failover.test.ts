import { execFile } from "node:child_process"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"
import { promisify } from "node:util"
import { afterEach, expect, test } from "vitest"
import type { Database } from "../../runtime/store/database.ts"
import { declaredStores } from "../../runtime/store/declared-stores.ts"
import { currentPlan, insertPlan } from "../../runtime/store/plans.ts"
import { openPostgres } from "../../runtime/store/postgres.ts"
import { rowOfTuple } from "../../runtime/store/read-tuples.ts"
import { changeSubscription } from "../../runtime/store/subscriptions.ts"
import { TupleWriter } from "../../runtime/store/tuple-writer.ts"
import { createMigratedDatabase, describePostgres } from "../postgres.ts"
import { postgresProgram } from "../support/postgres-binaries.ts"
import { startPostgresPair } from "../support/postgres-pair.ts"
import { tellAsked } from "../support/random-run.ts"
import { until } from "../support/until.ts"
import { author, control, freePorts, keyOf, type Ports, planOf, start } from "./project.ts"

const stops: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const stop of stops.splice(0).reverse()) await stop()
})

const more = `
api items { path "/items"; auth subscription; GET "/" { respond 200 { body text "items" } } }
api paid { path "/paid"; auth subscription; quota 3 calls per 1d by subscription; GET "/" { respond 200 } }
product gold { apis items }
secret paid_key = env(PAID_KEY)
subscription payer { api paid; key paid_key }`
const env = { ANN_KEY: keyOf("ann"), BOB_KEY: keyOf("bob"), PAID_KEY: keyOf("paid") }
const names = ["one", "two", "three"]
const user = (at: number) => ({ user: `user:u${at}`, relation: "viewer", object: "order:1" })

/** A process over a database that can lose commits, and another writer of that database which knows nothing of what was lost. */
class Scene {
  readonly ports: Ports
  readonly other: Database
  readonly keys: ReadonlyMap<string, string>
  readonly lines: readonly string[]
  /** A store made by the API, and its models. */
  ownStore = ""
  readonly models: string[] = []

  constructor(ports: Ports, other: Database, keys: ReadonlyMap<string, string>, lines: readonly string[]) {
    this.ports = ports
    this.other = other
    this.keys = keys
    this.lines = lines
  }

  post(path: string, body: object, store = "acme"): Promise<Response> {
    return fetch(`http://127.0.0.1:${this.ports.authz}/stores/${store}/${path}`, {
      method: "POST",
      body: JSON.stringify(body),
    })
  }

  async get(path: string, key = ""): Promise<string> {
    const headers = { "x-api-key": key }
    const response = await fetch(`http://127.0.0.1:${this.ports.gateway}${path}`, { headers })
    const text = await response.text()
    return response.status === 200 ? text || "200" : String(response.status)
  }

  /** Writes by this process. */
  async write(from: number, count: number): Promise<void> {
    for (let at = from; at < from + count; at++) {
      const { status } = await this.post("write", { writes: { tuple_keys: [user(at)] } })
      expect(status).toBe(200)
    }
  }

  /** A model of the store that belongs to the API, asked once so that it is held. */
  async writeModel(): Promise<void> {
    const types = [
      { type: "user" },
      {
        type: "order",
        relations: { viewer: { this: {} } },
        metadata: { relations: { viewer: { directly_related_user_types: [{ type: "user" }] } } },
      },
    ]
    const made = await this.post(
      "authorization-models",
      { schema_version: "1.1", type_definitions: types },
      this.ownStore,
    )
    const { authorization_model_id: id } = (await made.json()) as { authorization_model_id: string }
    this.models.push(id)
    expect(await this.asked(id)).toBe(200)
  }

  async asked(authorization_model_id: string): Promise<number> {
    return (await this.post("check", { tuple_key: user(0), authorization_model_id }, this.ownStore)).status
  }

  /** Writes by the other one. */
  async writeElsewhere(from: number, count: number): Promise<void> {
    const storeId = (await declaredStores(this.other)).get("acme")?.storeId ?? ""
    const writer = new TupleWriter(this.other, () => undefined)
    const options = { deletes: [], onDuplicate: "ignore", onMissing: "ignore" } as const
    for (let at = from; at < from + count; at++)
      await writer.write(storeId, { writes: [rowOfTuple(user(at))], ...options })
  }

  /** Where an answer differs from the database: users of one object, the plan served, and subscriptions. */
  async differences(): Promise<readonly string[]> {
    const rows = await this.other.query<[string]>({
      name: "test-viewers",
      text: "select subject from sallyport.tuples",
    })
    const answer = await this.post("list-users", {
      object: { type: "order", id: "1" },
      relation: "viewer",
      user_filters: [{ type: "user" }],
    })
    const { users = [] } = (await answer.json()) as { users?: { object: { id: string } }[] }
    const stored = rows.map(([subject]) => subject).sort()
    const told = users.map(({ object }) => `user:${object.id}`).sort()
    const tuples =
      stored.join() === told.join() ? [] : [`tuples: ${told.length} told, ${stored.length} stored`]
    const greeting = JSON.stringify((await currentPlan(this.other))?.plan).match(/greet-\w+/)?.[0]
    const served = await this.get("/hello")
    const plan = served === greeting ? [] : [`plan: ${served} served, ${greeting} stored`]
    const states = await this.other.query<[string, string]>({
      name: "test-subscriptions",
      text: "select name, state from sallyport.subscriptions",
    })
    const keys: string[] = []
    for (const [name, state] of states) {
      const seen = (await this.get("/items", this.keys.get(name))) === "items"
      if (seen !== (state === "active"))
        keys.push(`subscription ${name}: ${state}, ${seen ? "passes" : "refused"}`)
    }
    const ids = await this.other.query<[string]>({
      name: "test-models",
      text: "select id from sallyport.models",
    })
    const models: string[] = []
    for (const id of this.models) {
      const wanted = ids.some(([stored]) => stored === id) ? 200 : 400
      const status = await this.asked(id)
      if (status !== wanted) models.push(`model ${id}: ${status}, not ${wanted}`)
    }
    return [...tuples, ...plan, ...keys, ...models]
  }

  /** How long until nothing differs, in milliseconds; looks again a moment later. */
  async settled(): Promise<number> {
    const began = performance.now()
    for (let calm = 0; ; ) {
      const found = await this.differences().catch((error: unknown) => [String(error)])
      calm = found.length === 0 ? calm + 1 : 0
      if (calm === 3) return performance.now() - began
      if (performance.now() - began > 60_000) throw new Error(found.join("; "))
      await sleep(50)
    }
  }
}

async function scene(url: string): Promise<{ at: Scene; runtime: Awaited<ReturnType<typeof start>> }> {
  const ports = await freePorts()
  const runtime = await start(url, ports, { env })
  stops.push(() => runtime.close())
  await runtime.apply(planOf(ports, "greet-first", more), author)
  const keys = new Map<string, string>()
  for (const name of names) {
    const made = await control(ports, "POST", "/v1/subscriptions", {
      name,
      scope: { product: "gold" },
      owner: name,
    })
    keys.set(name, (made.body["keys"] as { primary: string }).primary)
  }
  const other = openPostgres(url)
  stops.push(() => other.close())
  const at = new Scene(ports, other, keys, runtime.lines)
  const made = await fetch(`http://127.0.0.1:${ports.authz}/stores`, {
    method: "POST",
    body: '{"name":"own"}',
  })
  at.ownStore = ((await made.json()) as { id: string }).id
  await at.writeModel()
  return { at, runtime }
}

/** Everything that has a history is changed: and none of it is on the standby. */
async function change(at: Scene, runtime: Awaited<ReturnType<typeof start>>, count: number): Promise<void> {
  await at.writeModel()
  await at.write(100, count)
  await runtime.apply(planOf(at.ports, "greet-lost", more), author)
  for (let turn = 0; turn < count; turn++) {
    const act = turn % 2 === 0 ? "suspend" : "activate"
    expect((await control(at.ports, "POST", `/v1/subscriptions/one/${act}`, {})).status).toBe(200)
  }
  expect([await at.get("/paid", keyOf("paid")), await at.get("/paid", keyOf("paid"))]).toEqual(["200", "200"])
}

/** The same numbers are taken by other commits, before the process can look. */
async function changeElsewhere(at: Scene, count: number): Promise<void> {
  await at.writeElsewhere(200, count)
  const base = await currentPlan(at.other)
  const plan = planOf(at.ports, "greet-other", more)
  await insertPlan(at.other, { plan, base: base ?? null, appliedBy: "other" })
  for (let turn = 0; turn < count; turn++)
    await changeSubscription(at.other, "two", ({ state, expiresAt }) => ({
      state: state === "active" ? "suspended" : "active",
      expiresAt,
    }))
}

/** Brings back what was saved, as an operator does, while processes are at work. */
async function restored(url: string, saved: string): Promise<void> {
  const restore = ["--clean", "--if-exists", "--single-transaction", "-d", url, saved]
  await promisify(execFile)(postgresProgram("pg_restore"), restore)
}

describePostgres("an older dump is restored beneath a running process", () => {
  test("nothing that was written since counts, though other commits have the numbers", async (context) => {
    const { url, drop } = await createMigratedDatabase()
    stops.push(drop)
    const { at, runtime } = await scene(url)
    await at.write(0, 5)
    const saved = join(mkdtempSync(join(tmpdir(), "sallyport-dump-")), "dump")
    await promisify(execFile)(postgresProgram("pg_dump"), ["-Fc", "-f", saved, url])
    await change(at, runtime, 3)
    await at.settled()
    await restored(url, saved)
    await changeElsewhere(at, 3)
    tellAsked(context, { "ms until nothing differed": Math.round(await at.settled()) })
    rmSync(dirname(saved), { recursive: true })
  })
})

describePostgres("a standby that lacks the last commits takes over", () => {
  test.for([
    { lost: 1, writing: false },
    { lost: 2, writing: true },
    { lost: 50, writing: false },
  ])(
    "$lost commits of each history lost, other commits have their numbers; writes go on: $writing",
    async ({ lost, writing }, context) => {
      const pair = await startPostgresPair()
      stops.push(() => pair.stop())
      const { at, runtime } = await scene(pair.url("postgres"))
      await at.write(0, 5)
      await pair.withhold()
      await change(at, runtime, lost)
      expect(await at.settled()).toBeGreaterThan(0)
      let going = writing
      const writes = (async () => {
        for (let number = 1_000; going; number++) {
          await at.post("write", { writes: { tuple_keys: [user(number)] } }).catch(() => undefined)
          await sleep(5)
        }
      })()
      await pair.failOver()
      await until(async () => (await currentPlan(at.other)) !== undefined)
      await changeElsewhere(at, lost)
      going = false
      await writes
      tellAsked(context, { "ms until nothing differed": Math.round(await at.settled()) })
      // Of the quota of three two are used, whatever the database has forgotten.
      await until(async () => (await at.get("/paid", keyOf("paid"))) === "200")
      expect(await at.get("/paid", keyOf("paid"))).toBe("403")
      const { body } = await control(at.ports, "GET", "/metrics")
      for (const history of ["tuples", "plans", "subscriptions", "quotas"])
        expect(String(body["text"])).toMatch(
          new RegExp(`sallyport_history_lost_total\\{history="${history}"\\} [1-9]`),
        )
      expect(at.lines.filter((line) => line.includes("the database lost commits")).length).toBeGreaterThan(2)
      const status = async () => JSON.stringify((await control(at.ports, "GET", "/v1/status")).body)
      await expect.poll(status).toContain("the database lost commits of tuples of store")
    },
  )
})
