import { expect, test } from "vitest"
import type { TupleRow, TupleSnapshot } from "../../runtime/check/ports.ts"
import { rowOf } from "../../runtime/check/tuple.ts"
import type { Database } from "../../runtime/store/database.ts"
import { createStore } from "../../runtime/store/stores.ts"
import { readSnapshot } from "../../runtime/store/tuple-snapshot.ts"
import { TupleWriter } from "../../runtime/store/tuple-writer.ts"
import { MemorySnapshot } from "../check/memory-snapshot.ts"
import { Random } from "../naive/random.ts"
import { randomWorld } from "../naive/worlds.ts"
import { describeDatabase } from "./databases.ts"

async function filled(database: Database, rows: readonly TupleRow[]): Promise<string> {
  const { id } = await createStore(database, "snapshot")
  const terms = { deletes: [], onDuplicate: "error", onMissing: "error" } as const
  await new TupleWriter(database, () => undefined).write(id, { ...terms, writes: rows })
  return id
}

/** Every kind of question about rows, and all that a snapshot says to them. */
async function everything(snapshot: TupleSnapshot, rows: readonly TupleRow[], max: number) {
  const typeOf = (name: string) => name.slice(0, name.indexOf(":"))
  const types = [...new Set(rows.flatMap(([object, , subject]) => [typeOf(object), typeOf(subject)]))].sort()
  const relations = [...new Set(rows.flatMap((row) => [row[1], row[3]]))].sort()
  const objects = [...new Set(rows.flatMap(([object, , subject]) => [object, subject]))].sort()
  const found: Record<string, readonly unknown[]> = {}
  for (const [object, relation, subject, set, condition] of rows) {
    const subjectRelation = subject.endsWith(":*") ? "*" : set
    const shape = {
      objectType: typeOf(object),
      relation,
      subjectType: typeOf(subject),
      subjectRelation,
      condition,
    }
    found[JSON.stringify(shape)] = await snapshot.objectsWith(shape, max)
  }
  for (const type of types) {
    found[`objects of ${type}`] = await snapshot.objectsOf(type, relations.slice(0, 3), max)
    found[`sets of ${type}`] = await snapshot.objectsOfSets(type, relations, max)
  }
  for (const some of [objects.slice(0, 4), objects]) {
    found[`tuples of ${some.length}`] = await snapshot.tuplesOf(some, relations.slice(0, 3), max)
    found[`tuples naming ${some.length}`] = await snapshot.tuplesNaming(some, max)
    const sets = await snapshot.tuplesOfSets(some, max)
    found[`sets ${some.length}`] = sets.map((row) => `${row[2]}#${row[3]}`)
  }
  return found
}

const sorted = (found: Record<string, readonly unknown[]>) =>
  Object.fromEntries(
    Object.entries(found).map(([name, values]) => [
      name,
      values.map((value) => JSON.stringify(value)).sort(),
    ]),
  )
const lengths = (found: Record<string, readonly unknown[]>) =>
  Object.fromEntries(Object.entries(found).map(([name, { length }]) => [name, length]))

describeDatabase("parts of a store at one commit", (database) => {
  const rows = [
    ...randomWorld(new Random(7), 40).tuples.map(rowOf),
    // Types whose names begin equally.
    ["do:1", "a", "user:1", "", "", ""] as const,
    ["document:1", "a", "us:1", "", "", ""] as const,
  ]

  test("are what the tuples in memory say", async () => {
    const id = await filled(database(), rows)
    const found = await readSnapshot(database(), id, (snapshot) => everything(snapshot, rows, 10_000))
    const expected = await everything(new MemorySnapshot(rows), rows, 10_000)
    expect(sorted(found ?? {})).toEqual(sorted(expected))
    expect(Object.values(lengths(expected)).filter((length) => length > 0).length).toBeGreaterThan(10)
  })

  test("have no more entries than wanted", async () => {
    const id = await filled(database(), rows)
    const found = await readSnapshot(database(), id, (snapshot) => everything(snapshot, rows, 2))
    expect(lengths(found ?? {})).toEqual(lengths(await everything(new MemorySnapshot(rows), rows, 2)))
  })

  test("are of the commit at which the reading began, in any number of batches", async () => {
    const many = Array.from(
      { length: 2_500 },
      (_, at) => ["doc:1", "viewer", `user:${at}`, "", "", ""] as const,
    )
    const id = await filled(database(), many)
    await readSnapshot(database(), id, async (snapshot) => {
      expect(snapshot.at.revision).toBe(1)
      expect(await snapshot.tuplesOf(["doc:1"], ["viewer"], 5_000)).toHaveLength(2_500)
      expect(await snapshot.tuplesOf(["doc:1"], ["viewer"], 2_000)).toHaveLength(2_000)
    })
  })

  test("of no store", async () => {
    await expect(readSnapshot(database(), "no-such-store", async () => 1)).rejects.toThrow("no store")
  })
})
