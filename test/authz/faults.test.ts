import { setTimeout as sleep } from "node:timers/promises"
import { afterAll, beforeAll, expect, test } from "vitest"
import { AuthzApi } from "../../runtime/authz/api.ts"
import { authzLimits } from "../../runtime/authz/ports.ts"
import { startAuthz } from "../../runtime/authz/server.ts"
import { Engine } from "../../runtime/check/engine.ts"
import { SourceUnavailable } from "../../runtime/check/ports.ts"
import type { Database, PreparedStatement, Queryable, Transaction } from "../../runtime/store/database.ts"
import { findAssertions, listModels } from "../../runtime/store/models.ts"
import { openPostgres } from "../../runtime/store/postgres.ts"
import { feedStart, readChanges } from "../../runtime/store/read-changes.ts"
import { readTuples } from "../../runtime/store/read-tuples.ts"
import { findStore } from "../../runtime/store/stores.ts"
import { createTupleSource } from "../../runtime/store/tuple-source.ts"
import { createMigratedDatabase, describePostgres, type TestDatabase } from "../postgres.ts"
import { isLong } from "../support/random-run.ts"
import { type Called, call, documentModel } from "./harness.ts"

/** A statement is refused before it runs, its answer is lost after it ran, or nothing comes back for a while. */
type Mode = "before" | "after" | "mute"
const modes: readonly Mode[] = ["before", "after", "mute"]
const muteMs = 1_500
/** However busy the machine is: only a mute database makes a request run out of time. */
const patientMs = 60_000

/** A real database, one of whose statements fails. The statements of a batch and of a transaction count one by one; a commit is one too. */
class FaultyDatabase implements Database {
  readonly kind = "postgres"
  readonly #database: Database
  /** The statement that fails, counted from 0; none when below. */
  readonly #failing: number
  readonly #mode: Mode
  count = 0

  constructor(database: Database, failing = -1, mode: Mode = "before") {
    this.#database = database
    this.#failing = failing
    this.#mode = mode
  }

  get schema() {
    return this.#database.schema
  }

  get state() {
    return this.#database.state
  }

  get missing() {
    return this.#database.missing
  }

  async #run<Result>(work: () => Promise<Result>): Promise<Result> {
    if (this.count++ !== this.#failing) return work()
    const gone = new SourceUnavailable("as the test wants it")
    if (this.#mode === "before") throw gone
    if (this.#mode === "mute") await sleep(muteMs)
    else await work()
    throw gone
  }

  query: Queryable["query"] = (statement, parameters) =>
    this.#run(() => this.#database.query(statement, parameters))

  async batch(statements: readonly (readonly [PreparedStatement, readonly unknown[]])[]) {
    return this.transaction((transaction) =>
      Promise.all(statements.map(([statement, parameters]) => transaction.query(statement, parameters))),
    )
  }

  transaction: Database["transaction"] = (work, options) =>
    this.#run(() =>
      this.#database.transaction((inner) => {
        const query: Transaction["query"] = (statement, parameters) =>
          this.#run(() => inner.query(statement, parameters))
        return work({
          query,
          script: (text) => inner.script(text),
          commitWith: (statements) => this.#run(() => inner.commitWith(statements)),
        })
      }, options),
    )

  async close(): Promise<void> {}
}

const ann = { user: "user:ann", relation: "viewer", object: "document:1" }
const bob = { ...ann, user: "user:bob" }
const check = { tuple_key: ann }
const users = { object: { type: "document", id: "1" }, relation: "viewer", user_filters: [{ type: "user" }] }
const another = { schema_version: "1.1", type_definitions: [{ type: "user" }] }

/** `[name, method, path, body, changes]` */
const routes: readonly (readonly [string, string, string, unknown, boolean])[] = [
  ["list of stores", "GET", "/stores?name={name}", undefined, false],
  ["store", "GET", "/stores/{store}", undefined, false],
  ["rename", "PATCH", "/stores/{store}", { name: "another name" }, true],
  ["delete", "DELETE", "/stores/{store}", undefined, true],
  ["list of models", "GET", "/stores/{store}/authorization-models", undefined, false],
  ["model", "GET", "/stores/{store}/authorization-models/{model}", undefined, false],
  ["new model", "POST", "/stores/{store}/authorization-models", another, true],
  [
    "write",
    "POST",
    "/stores/{store}/write",
    { writes: { tuple_keys: [bob] }, deletes: { tuple_keys: [ann] } },
    true,
  ],
  ["read", "POST", "/stores/{store}/read", {}, false],
  ["changes", "GET", "/stores/{store}/changes", undefined, false],
  ["changes since", "GET", "/stores/{store}/changes?start_time=2020-01-01T00:00:00Z", undefined, false],
  ["assertions", "GET", "/stores/{store}/assertions/{model}", undefined, false],
  ["new assertions", "PUT", "/stores/{store}/assertions/{model}", { assertions: [{ tuple_key: bob }] }, true],
  ["run assertions", "POST", "/stores/{store}/assertions/{model}/run", {}, false],
  ["check", "POST", "/stores/{store}/check", check, false],
  ["denied check", "POST", "/stores/{store}/check", { tuple_key: bob }, false],
  ["check, newest", "POST", "/stores/{store}/check", { ...check, consistency: "HIGHER_CONSISTENCY" }, false],
  ["explain", "POST", "/stores/{store}/explain", check, false],
  ["batch", "POST", "/stores/{store}/batch-check", { checks: [{ ...check, correlation_id: "1" }] }, false],
  ["expand", "POST", "/stores/{store}/expand", check, false],
  ["list of objects", "POST", "/stores/{store}/list-objects", { ...ann, type: "document" }, false],
  ["list of users", "POST", "/stores/{store}/list-users", users, false],
  ["list of relations", "POST", "/stores/{store}/list-relations", ann, false],
  [
    "matrix",
    "POST",
    "/stores/{store}/matrix",
    { users: [ann.user], relations: ["viewer"], objects: [ann.object] },
    false,
  ],
]

interface Made {
  readonly store: string
  readonly model: string
  readonly name: string
}

describePostgres("a database that fails once", () => {
  let created: TestDatabase
  let database: Database
  let sound: Opened
  beforeAll(async () => {
    created = await createMigratedDatabase()
    database = openPostgres(created.url)
    sound = await open(database, patientMs)
  })
  afterAll(async () => {
    await sound.close()
    await database.close()
    await created.drop()
  })

  /** A store with a model, its assertions and one tuple. */
  async function newStore(): Promise<Made> {
    const name = `faults ${Math.random()}`.slice(0, 20)
    const { id: store } = (await sound.call("POST", "/stores", { name })).json
    const { json } = await sound.call("POST", `/stores/${store}/authorization-models`, documentModel)
    const model = json.authorization_model_id
    const assertions = [{ tuple_key: ann, expectation: true }]
    await sound.call("PUT", `/stores/${store}/assertions/${model}`, { assertions })
    const { status } = await sound.call("POST", `/stores/${store}/write`, { writes: { tuple_keys: [ann] } })
    expect(status).toBe(200)
    return { store, model, name }
  }

  /** All there is of a store, without what differs between stores that are alike. */
  async function contents(made: Made): Promise<string> {
    const found = await findStore(database, made.store)
    const models = await listModels(database, made.store, { before: "", limit: 10 })
    const assertions = await findAssertions(database, made.store, made.model)
    const tuples = await readTuples(database, made.store, {}, { pageSize: 100, token: "" })
    const changes = await readChanges(
      database,
      made.store,
      { horizonMs: 0 },
      { after: feedStart, pageSize: 100 },
    )
    return same(JSON.stringify([found, models, assertions, tuples, changes]), made)
  }

  test.concurrent.each(routes)(
    "%s: an answer or an error, the whole change or none",
    async (name, method, path, body, changes) => {
      const ask = (serving: Opened, { store, model, name }: Made) => {
        const named = path.replace("{name}", encodeURIComponent(name))
        return serving.call(method, named.replace("{store}", store).replace("{model}", model), body)
      }
      // Without a fault: how many statements, the right answer, and what it leaves.
      const faulty = new FaultyDatabase(database)
      const first = await newStore()
      const before = await contents(first)
      const serving = await open(faulty, patientMs)
      const right = await ask(serving, first)
      const statements = faulty.count
      const after = await contents(first)
      await serving.close()
      expect(right.status).toBeLessThan(300)
      expect(statements).toBeGreaterThan(0)
      if (!changes) expect(after).toBe(before)

      async function failOnce(mode: Mode, failing: number): Promise<void> {
        const where = `${mode} ${failing} of ${statements}`
        const made = await newStore()
        const own = new FaultyDatabase(database, failing, mode)
        const asked = await open(own, mode === "mute" ? 1_000 : patientMs)
        const answer = await ask(asked, made)
        asked.deadlines.requestMs = patientMs
        if (answer.status < 300) expect(same(answer.text, made), where).toBe(same(right.text, first))
        else {
          expect([503, 504], where).toContain(answer.status)
          expect(["unavailable", "deadline_exceeded"], where).toContain(answer.json.code)
        }
        // What was broken off may still be on its way back.
        await sleep(mode === "mute" ? muteMs : 50)
        const left = await contents(made)
        expect([before, after], where).toContain(left)
        // It recovers by itself: what was not done is done now, by the same process.
        let again = await ask(asked, made)
        for (let tries = 0; again.status >= 500 && tries < 40; tries += 1) {
          await sleep(50)
          again = await ask(asked, made)
        }
        await asked.close()
        expect(again.status, `${where}, then ${again.text}`).toBeLessThan(500)
        if (left === before) expect(same(again.text, made), where).toBe(same(right.text, first))
      }
      // In `npm test` each statement fails in one way, and each way comes to a third of the statements of all routes.
      const number = routes.findIndex(([other]) => other === name)
      const all = Array.from({ length: statements }, (_, failing) => failing).flatMap((failing) =>
        modes
          .filter((_, at) => isLong || at === (number + failing) % modes.length)
          .map((mode) => [mode, failing] as const),
      )
      await Promise.all(all.map(([mode, failing]) => failOnce(mode, failing)))
    },
  )
})

interface Opened {
  call(method: string, path: string, body?: unknown): Promise<Called>
  close(): Promise<void>
  readonly deadlines: { requestMs: number }
}

/** A process of its own on the database: nothing is in its memory yet. */
async function open(database: Database, requestMs: number): Promise<Opened> {
  const deadlines = { requestMs }
  const engine = new Engine(createTupleSource(database), { pollMs: 0, deadlineMs: patientMs })
  const api = new AuthzApi({ database, engine, limits: () => ({ ...authzLimits, ...deadlines }) })
  const { addresses, close } = await startAuthz({ api, listen: [{ host: "127.0.0.1", port: 0 }] })
  const base = `http://127.0.0.1:${addresses[0]?.port}`
  return {
    deadlines,
    call: (method, path, body) => call(base, method, path, body),
    close: async () => {
      await close()
      engine.close()
    },
  }
}

function same(text: string, { store, model, name }: Made): string {
  return text
    .replaceAll(store, "STORE")
    .replaceAll(model, "MODEL")
    .replaceAll(name, "NAME")
    .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, "TIME")
    .replaceAll(/[0-9A-HJKMNP-TV-Z]{26}/g, "ID")
    .replaceAll(/"(continuation_token)":"[^"]+"/g, '"$1":"TOKEN"')
}
