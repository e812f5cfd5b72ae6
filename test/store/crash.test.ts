import { execFileSync } from "node:child_process"
import { setTimeout as sleep } from "node:timers/promises"
import { expect, test } from "vitest"
import { firstCommit, type TupleRow } from "../../runtime/check/ports.ts"
import type { Database } from "../../runtime/store/database.ts"
import { openPostgres } from "../../runtime/store/postgres.ts"
import { createStore } from "../../runtime/store/stores.ts"
import { createTupleSource } from "../../runtime/store/tuple-source.ts"
import { TupleWriter } from "../../runtime/store/tuple-writer.ts"
import { tupleIdentity } from "../../runtime/store/write-tuples.ts"
import { describePostgres } from "../postgres.ts"
import { startThrowAwayPostgres } from "../support/throw-away-postgres.ts"
import { unpackRows } from "../support/unpack-rows.ts"

const rowOf = (at: number): TupleRow => [`d:${at}`, "r", "u:1", "", "", ""]

/** The feed is gapless and has all that was acknowledged; retold from the start it gives the stored tuples. */
async function expectConsistent(
  database: Database,
  id: string,
  acknowledged: ReadonlyMap<number, readonly string[]>,
): Promise<void> {
  const source = createTupleSource(database)
  const changes = await source.changes(id, firstCommit, 10_000)
  const { revision } = await source.newest(id)
  expect([...new Set(changes.map((change) => change.revision))]).toEqual(
    Array.from({ length: revision }, (_, at) => at + 1),
  )
  const feed = new Set(changes.map((each) => `${each.revision} ${each.operation} ${tupleIdentity(each.row)}`))
  for (const [at, told] of acknowledged) for (const each of told) expect(feed).toContain(`${at} ${each}`)
  const retold = new Set<string>()
  for (const { operation, row } of changes) {
    if (operation === "write") retold.add(tupleIdentity(row))
    else retold.delete(tupleIdentity(row))
  }
  const stored = new Set<string>()
  await source.load(id, (rows) => {
    for (const row of unpackRows(rows)) stored.add(tupleIdentity(row))
  })
  expect(stored).toEqual(retold)
}

describePostgres("a server that crashes under writers", () => {
  test("what was acknowledged is there, the feed has no gap, and it retells the tuples", async () => {
    const server = await startThrowAwayPostgres({ migrated: true })
    // The throw-away server is in a hurry; here a commit has to be one.
    const database = openPostgres(`${server.url("postgres")}?options=-c%20synchronous_commit%3Don`)
    try {
      const { id } = await createStore(database, "crash")
      const acknowledged = new Map<number, string[]>()
      let failed = 0
      const work = async (worker: number) => {
        const writer = new TupleWriter(database, () => {})
        for (let step = 0; step < 60; step += 1) {
          const at = worker * 1000 + step
          const deletes = step % 3 === 2 ? [rowOf(at - 1)] : []
          const request = {
            writes: [rowOf(at)],
            deletes,
            onDuplicate: "ignore",
            onMissing: "ignore",
          } as const
          const outcome = await writer.write(id, request).catch(() => undefined)
          if (outcome === undefined || "conflict" in outcome) {
            failed += 1
            await sleep(50)
          } else {
            const told = acknowledged.get(outcome.at.revision) ?? []
            told.push(...outcome.changes.map(({ operation, row }) => `${operation} ${tupleIdentity(row)}`))
            acknowledged.set(outcome.at.revision, told)
          }
        }
      }
      const workers = Promise.all([1, 2, 3, 4].map(work))
      while (acknowledged.size < 5) await sleep(5)
      // One backend killed hard: the server ends all others and recovers.
      const backends = execFileSync("pgrep", ["-P", String(server.pid), "-f", "postgres: postgres postgres"])
      process.kill(Number(String(backends).split("\n")[0]), "SIGKILL")
      await workers
      expect(failed).toBeGreaterThan(0)

      await expectConsistent(database, id, acknowledged)
    } finally {
      await database.close()
      await server.stop()
    }
  })
})
