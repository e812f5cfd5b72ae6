import { afterAll, beforeAll, expect, test, vi } from "vitest"
import { Engine } from "../../runtime/check/engine.ts"
import type { CheckAnswer } from "../../runtime/check/ports.ts"
import type { Database } from "../../runtime/store/database.ts"
import { migrate } from "../../runtime/store/migrate.ts"
import { openPostgres } from "../../runtime/store/postgres.ts"
import { createStore } from "../../runtime/store/stores.ts"
import { rowOfTuple } from "../../runtime/store/tuple-row.ts"
import { createTupleSource } from "../../runtime/store/tuple-source.ts"
import { TupleWriter } from "../../runtime/store/tuple-writer.ts"
import { modelOf } from "../check/model.ts"
import { createDatabase, describePostgres, type TestDatabase } from "../postgres.ts"

const model = modelOf(`
type user
type doc
  relations
    define viewer: [user]
`)

/** What one process has: a pool, an engine that would poll only after an hour, a writer. */
class Process {
  readonly database: Database
  readonly engine: Engine
  readonly #writer: TupleWriter

  constructor(url: string) {
    this.database = openPostgres(url)
    this.engine = new Engine(createTupleSource(this.database), { pollMs: 3_600_000 })
    this.#writer = new TupleWriter(this.database, (store, changes) => this.engine.applied(store, changes))
  }

  async write(store: string, object: string): Promise<void> {
    const writes = [rowOfTuple({ object, relation: "viewer", user: "user:ann" })]
    await this.#writer.write(store, { writes, deletes: [], onDuplicate: "error", onMissing: "error" })
  }

  async sees(store: string, object: string): Promise<boolean> {
    const answer: CheckAnswer = await this.engine.check(store, model, {
      user: "user:ann",
      relation: "viewer",
      object,
    })
    return answer.allowed
  }

  async close(): Promise<void> {
    this.engine.close()
    await this.database.close()
  }
}

describePostgres("notices of changes", () => {
  let created: TestDatabase
  let here: Process
  let there: Process
  let store: string

  beforeAll(async () => {
    created = await createDatabase()
    here = new Process(created.url)
    there = new Process(created.url)
    await migrate(here.database)
    store = (await createStore(here.database, "noticed")).id
  })
  afterAll(async () => {
    await Promise.all([here.close(), there.close()])
    await created.drop()
  })

  const soon = { timeout: 5_000, interval: 5 }

  test("bring another process's writes long before a poll would, many at once too", async () => {
    await there.engine.warm(store)
    let count = 0
    await vi.waitFor(async () => {
      // Until it listens, nothing is heard; then any notice brings all that was written before.
      await here.write(store, `doc:${count++}`)
      expect(await there.sees(store, "doc:0")).toBe(true)
    }, soon)
    await Promise.all(Array.from({ length: 50 }, (_, at) => here.write(store, `doc:many${at}`)))
    await vi.waitFor(async () => expect(await there.sees(store, "doc:many49")).toBe(true), soon)
  })

  test("go on after the listening connection was lost", async () => {
    await here.engine.warm(store)
    await there.write(store, "doc:before")
    await vi.waitFor(async () => expect(await here.sees(store, "doc:before")).toBe(true), soon)
    const others = "pid <> pg_backend_pid() and datname = current_database() and query like 'listen %'"
    await there.database.query({
      name: "",
      text: `select pg_terminate_backend(pid) from pg_stat_activity where ${others}`,
    })
    let count = 0
    await vi.waitFor(async () => {
      await there.write(store, `doc:after${count++}`)
      expect(await here.sees(store, "doc:after0")).toBe(true)
    }, soon)
  })
})
