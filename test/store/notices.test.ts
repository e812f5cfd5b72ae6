import { afterAll, beforeAll, expect, test } from "vitest"
import { Engine } from "../../runtime/check/engine.ts"
import type { CheckAnswer } from "../../runtime/check/ports.ts"
import type { Database } from "../../runtime/store/database.ts"
import { migrate } from "../../runtime/store/migrate.ts"
import { openPostgres } from "../../runtime/store/postgres.ts"
import { rowOfTuple } from "../../runtime/store/read-tuples.ts"
import { createStore } from "../../runtime/store/stores.ts"
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

  /**
   * Writes until a process sees it. Until that process listens nothing is heard, and nothing says when it does; then any notice brings all that was written before.
   */
  async function writeUntilSeen(from: Process, to: Process, name: string): Promise<void> {
    let count = 0
    const seen = async () => {
      await from.write(store, `doc:${name}${count++}`)
      return to.sees(store, `doc:${name}0`)
    }
    await expect.poll(seen, { interval: 5 }).toBe(true)
  }

  test("bring another process's writes long before a poll would, many at once too", async () => {
    await there.engine.warm(store)
    await writeUntilSeen(here, there, "before")
    await Promise.all(Array.from({ length: 50 }, (_, at) => here.write(store, `doc:many${at}`)))
    await expect.poll(() => there.sees(store, "doc:many49"), { interval: 5 }).toBe(true)
  })

  test("go on after the listening connection was lost", async () => {
    await here.engine.warm(store)
    await writeUntilSeen(there, here, "listening")
    const others = "pid <> pg_backend_pid() and datname = current_database() and query like 'listen %'"
    await there.database.query({
      name: "",
      text: `select pg_terminate_backend(pid) from pg_stat_activity where ${others}`,
    })
    await writeUntilSeen(there, here, "after")
  })
})
