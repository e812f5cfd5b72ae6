import { afterAll, beforeAll, expect, test } from "vitest"
import type { PageKey } from "../../runtime/check/ports.ts"
import type { Database } from "../../runtime/store/database.ts"
import { createStore } from "../../runtime/store/stores.ts"
import { createTupleSource } from "../../runtime/store/tuple-source.ts"
import { unpackRows } from "../support/unpack-rows.ts"
import { openTestDatabase } from "./databases.ts"

let database: Database
beforeAll(async () => {
  database = await openTestDatabase()
})
afterAll(() => database.close())

/** A store with tuples that were not written by the engine's API. */
async function filled(name: string, count: number): Promise<string> {
  const { id } = await createStore(database, name)
  await database.query(
    {
      name: "test-fill",
      text: `insert into sallyport.tuples (store_id, object, relation, subject, revision)
        select $1, 'd:' || at, 'r', 'u:1', 0 from generate_series(1, $2::integer) at`,
    },
    [id, count],
  )
  return id
}

/** Sizes of the batches of a load, with the part of the store that was read by then. */
async function load(id: string, count: number): Promise<readonly (readonly [number, number | undefined])[]> {
  const batches: [number, number | undefined][] = []
  const seen = new Set<string>()
  await createTupleSource(database).load(id, (packed, part) => {
    const rows = unpackRows(packed)
    for (const [object] of rows) seen.add(object)
    batches.push([rows.length, part])
  })
  expect(seen.size).toBe(count)
  return batches
}

// With a hundredth of the rows, a random sample practically never contains a tenth of them.
test("reads a small part of the table by its index, and a large one in the order of the file", async () => {
  const small = await filled("small", 1_100)
  const large = await filled("large", 110_000)
  expect(await load(small, 1_100)).toEqual([
    [1_000, undefined],
    [100, undefined],
  ])
  const batches = await load(large, 110_000)
  const parts = batches.map(([, part]) => part ?? 0)
  expect(parts).toEqual([...parts].sort((one, other) => one - other))
  expect(parts.at(-1)).toBe(1)
  // 16 blocks of 8 kB contain no more rows.
  expect(batches.filter(([rows]) => rows > 2_500)).toEqual([])
})

test("a store without tuples has no batches", async () => {
  expect(await load(await filled("empty", 0), 0)).toEqual([])
})

test("the server plans the reading of pages once, not for each number of them", async () => {
  const { id } = await createStore(database, "planned")
  const source = createTupleSource(database)
  for (let count = 1; count <= 12; count++) {
    const objects = Array.from({ length: count }, (_, at) => `d:${at}`)
    await source.pages(id, [
      ...objects.map((object): PageKey => ({ direction: "forward", object, relation: "r" })),
      { direction: "point", object: "d:1", relation: "r", subject: "u:1", subjectRelation: "" },
    ])
  }
  const text =
    "select generic_plans, custom_plans from pg_prepared_statements where name = 'source-pages-0-4'"
  const [plans] = await database.query<[generic: number, custom: number]>({ name: "", text })
  // The server tries five plans for given values first.
  expect(plans).toEqual([7, 5])
})
