import { Client } from "pg"
import { expect, test } from "vitest"
import { createDatabase, describePostgres } from "../postgres.ts"
import { startThrowAwayPostgres } from "../support/throw-away-postgres.ts"

describePostgres("the throw-away PostgreSQL", () => {
  test("every database asked for is another, and empty", async () => {
    const [first, second] = await Promise.all([createDatabase(), createDatabase()])
    expect(first.url).not.toBe(second.url)
    const client = new Client({ connectionString: first.url })
    await client.connect()
    const tables = await client.query("select 1 from pg_tables where schemaname = 'public'")
    expect(tables.rowCount).toBe(0)
    await client.end()
    await first.drop()
    await second.drop()
  })

  test("a server of one's own answers on both its addresses and is gone after stop", async () => {
    const server = await startThrowAwayPostgres()
    for (const url of [server.url("postgres"), server.socketUrl("postgres")]) {
      const client = new Client({ connectionString: url })
      await client.connect()
      expect((await client.query("select 1 as one")).rows).toEqual([{ one: 1 }])
      await client.end()
    }
    await server.stop()
    expect(() => process.kill(server.pid, 0)).toThrow("ESRCH")
  })
})
