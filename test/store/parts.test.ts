import { expect, test } from "vitest"
import type { PageRows, TupleRow } from "../../runtime/check/ports.ts"
import type { Database } from "../../runtime/store/database.ts"
import { rowOfTuple } from "../../runtime/store/read-tuples.ts"
import { createStore } from "../../runtime/store/stores.ts"
import { createTupleSource } from "../../runtime/store/tuple-source.ts"
import { TupleWriter } from "../../runtime/store/tuple-writer.ts"
import { describeDatabase } from "./databases.ts"

const stored: [object: string, relation: string, user: string, condition?: string][] = [
  ["d:1", "r", "u:1"],
  ["d:1", "r", "u:2", "small"],
  ["d:1", "r", "u:*"],
  ["d:1", "r", "user:1"],
  ["d:1", "r", "g:1#m"],
  ["d:1", "q", "u:1"],
  ["dd:1", "r", "u:1"],
]

async function filled(database: Database): Promise<string> {
  const { id } = await createStore(database, "parts")
  const writes = stored.map(([object, relation, user, name]) =>
    rowOfTuple({ object, relation, user, ...(name === undefined ? {} : { condition: { name } }) }),
  )
  await new TupleWriter(database, () => undefined).write(id, {
    writes,
    deletes: [],
    onDuplicate: "error",
    onMissing: "error",
  })
  return id
}

const part = (subjectType: string, subjectRelation: string) =>
  ({ direction: "forward", object: "d:1", relation: "r", among: { subjectType, subjectRelation } }) as const
const back = {
  direction: "reverse",
  subject: "u:1",
  subjectRelation: "",
  among: { objectType: "d", relation: "r" },
} as const
const point = (subject: string, subjectRelation = "") =>
  ({ direction: "point", object: "d:1", relation: "r", subject, subjectRelation }) as const

function texts(rows: PageRows): string[] {
  const list = rows === undefined || rows === "too many" ? [] : rows
  return list.map((row) => row.filter((text) => text !== "").join(" ")).sort()
}

describeDatabase("lists too large for a page", (database) => {
  test("parts of lists and single tuples, in one statement", async () => {
    const id = await filled(database())
    const keys = [point("g:1", "m"), part("u", ""), part("u", "*"), back, part("g", "m"), point("u:9")]
    const { at, pages } = await createTupleSource(database()).pages(id, [...keys, point("u:2")])
    expect(at.revision).toBe(1)
    expect(pages.map(texts)).toEqual([
      ["d:1 r g:1 m"],
      // The wildcard's name is among them: whoever asked leaves it out.
      ["d:1 r u:*", "d:1 r u:1", "d:1 r u:2 small"],
      ["d:1 r u:*"],
      ["d:1 r u:1"],
      ["d:1 r g:1 m"],
      [],
      ["d:1 r u:2 small"],
    ])
  })

  test("a part of any length, as a store is loaded", async () => {
    const id = await filled(database())
    const source = createTupleSource(database())
    for (const [key, wanted] of [
      [part("u", "*"), ["d:1 r u:*"]],
      [back, ["d:1 r u:1"]],
      [part("g", "m"), ["d:1 r g:1 m"]],
    ] as const) {
      const rows: TupleRow[] = []
      expect(await source.list(id, key, (batch) => rows.push(...batch))).toMatchObject({ revision: 1 })
      expect(texts(rows)).toEqual(wanted)
    }
  })
})
