import { afterAll, beforeAll, expect, test } from "vitest"
import type { Database } from "../../runtime/store/database.ts"
import { migrate, schemaState } from "../../runtime/store/migrate.ts"
import { openPostgres } from "../../runtime/store/postgres.ts"
import { checkedSchema } from "../../runtime/store/schema-name.ts"
import { createStore, listStores } from "../../runtime/store/stores.ts"
import { createDatabase, describePostgres, type TestDatabase } from "../postgres.ts"

describePostgres("two installations in one database", () => {
  let created: TestDatabase
  let one: Database
  let other: Database
  beforeAll(async () => {
    created = await createDatabase()
    one = openPostgres(created.url, { schema: "Gateway-prod" })
    // A search path that leads elsewhere is of no effect.
    other = openPostgres(`${created.url}?options=-c%20search_path%3D%22Gateway-prod%22`)
    await migrate(one)
  })
  afterAll(async () => {
    await Promise.all([one.close(), other.close()])
    await created.drop()
  })

  test("each has its own schema and data", async () => {
    expect(await schemaState(other)).toMatchObject({ state: "empty" })
    await migrate(other)
    expect(await schemaState(one)).toEqual({ state: "ok" })
    await createStore(one, "first")
    expect((await listStores(one, { after: "", limit: 10 })).map(({ name }) => name)).toEqual(["first"])
    expect(await listStores(other, { after: "", limit: 10 })).toEqual([])
    const tables = await one.query<[string]>({
      name: "",
      text: "select distinct schemaname from pg_tables where schemaname !~ '^(pg_|information_)' order by 1",
    })
    expect(tables).toEqual([["Gateway-prod"], ["sallyport"]])
  })

  test("a role that may not create schemas uses one that was made for it", async () => {
    const role = `limited_${Date.now()}`
    await one.query({
      name: "",
      text: `create role ${role} login; create schema given authorization ${role}`,
    })
    const limited = openPostgres(created.url.replace("postgres@", `${role}@`), { schema: "given" })
    try {
      expect((await migrate(limited)).length).toBeGreaterThan(0)
      expect(await schemaState(limited)).toEqual({ state: "ok" })
    } finally {
      await limited.close()
      await one.query({ name: "", text: `drop schema given cascade; drop role ${role}` })
    }
  })
})

test.each(["", "a b", 'x"y', "pg_own", "information_schema", "1st", "x".repeat(64)])(
  "%j is no name of a schema",
  (name) => {
    expect(() => checkedSchema(name)).toThrow("cannot be used")
  },
)
