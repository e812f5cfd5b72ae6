import { describe, expect, test } from "vitest"
import { firstCommit, type TupleChange, type TupleRow } from "../../runtime/check/ports.ts"
import type { Database } from "../../runtime/store/database.ts"
import { readTuples, rowOfTuple, type TupleFilter } from "../../runtime/store/read-tuples.ts"
import { createStore, deleteStore, findStore, listStores } from "../../runtime/store/stores.ts"
import { createTupleSource } from "../../runtime/store/tuple-source.ts"
import { TupleWriter } from "../../runtime/store/tuple-writer.ts"
import type { WriteRequest, WriteResult } from "../../runtime/store/write-tuples.ts"
import { unpackRows } from "../support/unpack-rows.ts"
import { describeDatabases } from "./databases.ts"

const row = (object: string, relation: string, user: string, condition?: string): TupleRow =>
  rowOfTuple({ object, relation, user, ...(condition ? { condition: { name: condition } } : {}) })

const request = (parts: Partial<WriteRequest>): WriteRequest => ({
  writes: [],
  deletes: [],
  onDuplicate: "error",
  onMissing: "error",
  ...parts,
})

const writer = (database: Database, applied: (changes: readonly TupleChange[]) => void = () => {}) =>
  new TupleWriter(database, (_, changes) => applied(changes))

async function all(database: Database, storeId: string): Promise<string[]> {
  const rows: TupleRow[] = []
  await createTupleSource(database).load(storeId, (batch) => {
    rows.push(...unpackRows(batch))
  })
  return rows.map((each) => each.filter((part) => part !== "").join(" ")).sort()
}

describeDatabases("store contract", (database) => {
  test("values come back as what they are", async () => {
    const [found] = await database().query(
      {
        name: "values",
        text: "select 9007199254740991::bigint, $1::text, $2::boolean, null, now(), $3::integer[]",
      },
      ["a\"\\{},é\u{1f600}'", true, [1, 2]],
    )
    expect(found?.slice(0, 4)).toEqual([9007199254740991, "a\"\\{},é\u{1f600}'", true, null])
    expect(found?.[4]).toBeInstanceOf(Date)
    expect(found?.[5]).toEqual([1, 2])
  })

  test("a violated constraint is a SqlError with its code, and the connection serves on", async () => {
    const bad = {
      name: "bad",
      text: "insert into sallyport.plans (serial, digest, plan) values (null, '', '')",
    }
    await expect(database().query(bad)).rejects.toMatchObject({ name: "SqlError", code: "23502" })
    await expect(database().query({ name: "one", text: "select 1" })).resolves.toEqual([[1]])
  })

  test("a transaction that rejects leaves nothing, and a batch is one", async () => {
    const insert = {
      name: "insert-process",
      text: "insert into sallyport.processes (id, role) values ($1, '')",
    }
    const count = {
      name: "count-processes",
      text: "select count(*) from sallyport.processes where id like 'tx%'",
    }
    await expect(
      database().transaction(async (transaction) => {
        await transaction.query(insert, ["tx1"])
        throw new Error("no")
      }),
    ).rejects.toThrow("no")
    await expect(
      database().batch([
        [insert, ["tx2"]],
        [insert, ["tx2"]],
      ]),
    ).rejects.toMatchObject({ code: "23505" })
    expect(await database().query(count)).toEqual([[0]])
    await database().batch([
      [insert, ["tx2"]],
      [insert, ["tx3"]],
    ])
    expect(await database().query(count)).toEqual([[2]])
  })

  test("stores: made, found by id, listed in pages, deleted once", async () => {
    const made = []
    for (let at = 0; at < 5; at += 1) made.push(await createStore(database(), "five"))
    expect(await findStore(database(), made[0]?.id ?? "")).toEqual(made[0])
    expect(await findStore(database(), "five")).toBeUndefined()
    const first = await listStores(database(), { after: "", limit: 3, name: "five" })
    const rest = await listStores(database(), { after: first[2]?.id ?? "", limit: 3, name: "five" })
    expect([...first, ...rest]).toEqual(made)
    expect(await deleteStore(database(), made[0]?.id ?? "")).toBe("deleted")
    expect(await deleteStore(database(), made[0]?.id ?? "")).toBe("absent")
    expect(await findStore(database(), made[0]?.id ?? "")).toBeUndefined()
  })

  test("a write raises the revision by one, and the feed tells it", async () => {
    const { id } = await createStore(database(), "feed")
    const source = createTupleSource(database())
    const heard: TupleChange[] = []
    const tuples = writer(database(), (changes) => heard.push(...changes))
    expect(await source.newest(id)).toEqual(firstCommit)
    const a = row("doc:1", "viewer", "user:a")
    const b = row("doc:1", "viewer", "team:x#member", "c")
    expect(await tuples.write(id, request({ writes: [a, b] }))).toMatchObject({ at: { revision: 1 } })
    expect(
      await tuples.write(id, request({ deletes: [a], writes: [row("doc:2", "owner", "user:*")] })),
    ).toMatchObject({ at: { revision: 2 } })
    const changes = await source.changes(id, firstCommit, 100)
    expect(changes).toEqual(heard)
    expect(changes.map(({ revision, operation }) => `${revision} ${operation}`)).toEqual([
      "1 write",
      "1 write",
      "2 delete",
      "2 write",
    ])
    expect(changes[1]?.row).toEqual(["doc:1", "viewer", "team:x", "member", "c", ""])
    const [one, two] = [changes[0], changes[2]] as [TupleChange, TupleChange]
    expect([one.previous, two.previous]).toEqual(["", one.stamp])
    expect(one.stamp).not.toBe(two.stamp)
    expect(await source.newest(id)).toEqual({ revision: 2, stamp: two.stamp })
    expect(await source.changes(id, one, 1)).toEqual(changes.slice(2))
    expect(await source.changes(id, two, 100)).toEqual([])
    expect(await source.stampOf(id, 1)).toBe(one.stamp)
    expect(await source.stampOf(id, 3)).toBeUndefined()
    for (const lost of [
      { revision: 1, stamp: two.stamp },
      { revision: 3, stamp: one.stamp },
    ])
      await expect(source.changes(id, lost, 100)).rejects.toMatchObject({ name: "HistoryLost" })
    expect(await all(database(), id)).toEqual(["doc:1 viewer team:x member c", "doc:2 owner user:*"])
  })

  test("an unknown store: no write, no revision", async () => {
    const tuples = writer(database())
    expect(
      await tuples.write("01ARZ3NDEKTSV4RRFFQ69G5FAV", request({ writes: [row("d:1", "r", "u:1")] })),
    ).toBeUndefined()
    await expect(createTupleSource(database()).newest("01ARZ3NDEKTSV4RRFFQ69G5FAV")).rejects.toMatchObject({
      name: "SourceUnavailable",
    })
  })

  describe("a request that does not fit changes nothing", () => {
    const stored = row("doc:1", "viewer", "user:a")
    const conditioned = row("doc:1", "viewer", "user:c", "c")
    const fresh = row("doc:9", "viewer", "user:a")
    const cases: [string, Partial<WriteRequest>, object][] = [
      ["duplicate", { writes: [fresh, stored] }, { conflict: "exists", row: stored }],
      ["missing", { writes: [fresh], deletes: [row("doc:1", "viewer", "user:z")] }, { conflict: "missing" }],
      [
        "ignored, other condition",
        { writes: [fresh, row("doc:1", "viewer", "user:a", "c")], onDuplicate: "ignore" },
        { conflict: "other-condition" },
      ],
      [
        "ignored duplicate",
        { writes: [stored, conditioned], onDuplicate: "ignore" },
        { at: { revision: 1 }, changes: [] },
      ],
      [
        "ignored missing",
        { deletes: [row("doc:1", "viewer", "user:z")], onMissing: "ignore" },
        { at: { revision: 1 }, changes: [] },
      ],
    ]
    test.each(cases)("%s", async (_, parts, outcome) => {
      const { id } = await createStore(database(), "conflict")
      const tuples = writer(database())
      await tuples.write(id, request({ writes: [stored, conditioned] }))
      expect(await tuples.write(id, request(parts))).toMatchObject(outcome)
      expect(await all(database(), id)).toHaveLength(2)
      expect((await createTupleSource(database()).newest(id)).revision).toBe(1)
    })
  })

  test("requests of one group succeed and fail each for itself", async () => {
    const { id } = await createStore(database(), "group")
    const groups: number[] = []
    const tuples = writer(database(), (changes) => groups.push(changes.length))
    const outcomes = await Promise.all([
      tuples.write(id, request({ writes: [row("d:0", "r", "u:0")] })),
      tuples.write(id, request({ writes: [row("d:1", "r", "u:1"), row("d:2", "r", "u:2")] })),
      tuples.write(id, request({ writes: [row("d:3", "r", "u:3")], deletes: [row("d:9", "r", "u:9")] })),
      tuples.write(id, request({ writes: [row("d:4", "r", "u:4")] })),
      // Shares a key with the one before: the next group.
      tuples.write(id, request({ writes: [row("d:4", "r", "u:4")] })),
      tuples.write(id, request({ deletes: [row("d:4", "r", "u:4")] })),
    ])
    expect(
      outcomes.map((outcome) => outcome && ("conflict" in outcome ? outcome.conflict : outcome.at.revision)),
    ).toEqual([1, 2, "missing", 2, "exists", 3])
    expect(groups).toEqual([1, 3, 1])
    expect(await all(database(), id)).toEqual(["d:0 r u:0", "d:1 r u:1", "d:2 r u:2"])
  })

  test("deleted and written again, in one group and after an idle write", async () => {
    const { id } = await createStore(database(), "again")
    const tuples = writer(database())
    const a = row("d:1", "r", "u:1")
    const b = row("d:2", "r", "u:1")
    await tuples.write(id, request({ writes: [a, b] }))
    await Promise.all([
      tuples.write(id, request({ deletes: [a] })),
      tuples.write(id, request({ deletes: [row("d:9", "r", "u:1")], onMissing: "ignore" })),
      tuples.write(id, request({ writes: [a], onDuplicate: "ignore" })),
      tuples.write(id, request({ deletes: [b], writes: [row("d:3", "r", "u:1")] })),
    ])
    expect(await all(database(), id)).toEqual(["d:1 r u:1", "d:3 r u:1"])
    // Deletes nothing: what the last revision deleted stays as it is.
    await tuples.write(id, request({ writes: [b] }))
    await tuples.write(id, request({ deletes: [row("d:9", "r", "u:1")], onMissing: "ignore" }))
    expect(await all(database(), id)).toEqual(["d:1 r u:1", "d:2 r u:1", "d:3 r u:1"])
  })

  test("revisions are gapless and each is whole under concurrent writers of several processes", async () => {
    const { id } = await createStore(database(), "concurrent")
    const source = createTupleSource(database())
    // Two writers don't know of each other, like two processes.
    const writers = [writer(database()), writer(database())]
    let conflicts = 0
    const results: WriteResult[] = []
    await Promise.all(
      Array.from({ length: 60 }, async (_, at) => {
        const own = row(`d:${at}`, "r", "u:1")
        const shared = row(`d:shared${at % 10}`, "r", "u:1")
        const outcome = await writers[at % 2]?.write(id, request({ writes: [own, shared] }))
        if (outcome && "conflict" in outcome) conflicts += 1
        else if (outcome) results.push(outcome)
      }),
    )
    expect(conflicts).toBe(50)
    const changes = await source.changes(id, firstCommit, 10_000)
    const { revision } = await source.newest(id)
    expect([...new Set(changes.map((change) => change.revision))]).toEqual(
      Array.from({ length: revision }, (_, at) => at + 1),
    )
    expect(changes).toHaveLength(20)
    expect(results).toHaveLength(10)
    expect(await all(database(), id)).toHaveLength(20)
  })

  test("load: all batches at one revision while others write", async () => {
    const { id } = await createStore(database(), "load")
    const tuples = writer(database())
    for (let at = 0; at < 5; at += 1)
      await tuples.write(
        id,
        request({ writes: Array.from({ length: 700 }, (_, n) => row(`d:${at}-${n}`, "r", "u:1")) }),
      )
    // A store that makes up much of the table is read in the order of its file, 16 blocks at a time.
    const ranges = await database().query<[string]>(
      {
        name: "test-ranges",
        text: "select distinct split_part(trim('(' from ctid::text), ',', 1)::integer / 16 from sallyport.tuples where store_id = $1",
      },
      [id],
    )
    expect(ranges.length).toBeGreaterThan(1)
    const seen = new Set<string>()
    let batches = 0
    let during: Promise<unknown> | undefined
    const at = await createTupleSource(database()).load(id, (rows) => {
      batches += 1
      during ??= tuples.write(
        id,
        request({ writes: [row("d:late", "r", "u:1")], deletes: [row("d:4-699", "r", "u:1")] }),
      )
      for (const each of unpackRows(rows)) seen.add(each[0])
    })
    await during
    expect(at.revision).toBe(5)
    expect(seen.size).toBe(3500)
    expect(seen.has("d:late")).toBe(false)
    expect(batches).toBe(ranges.length)
  })

  test("pages: forward and reverse, absence is a page, with their revision", async () => {
    const { id } = await createStore(database(), "pages")
    const tuples = writer(database())
    await tuples.write(
      id,
      request({
        writes: [
          row("d:1", "r", "u:1"),
          row("d:1", "r", "g:1#m"),
          row("d:2", "r", "g:1#m"),
          row("d:1", "q", "u:1"),
        ],
      }),
    )
    const { at, pages } = await createTupleSource(database()).pages(id, [
      { direction: "forward", object: "d:1", relation: "r" },
      { direction: "reverse", subject: "g:1", subjectRelation: "m" },
      { direction: "forward", object: "d:3", relation: "r" },
      { direction: "reverse", subject: "u:1", subjectRelation: "" },
    ])
    expect(at.revision).toBe(1)
    const found = pages.map((page) => (page === undefined || page === "too many" ? [] : page))
    expect(found.map((page) => page.map(([object, relation]) => `${object} ${relation}`).sort())).toEqual([
      ["d:1 r", "d:1 r"],
      ["d:1 r", "d:2 r"],
      [],
      ["d:1 q", "d:1 r"],
    ])
  })

  test("tells with which condition deleted tuples stood at a past revision", async () => {
    const { id } = await createStore(database(), "past")
    const write = writer(database())
    const write1 = (parts: Partial<WriteRequest>) => write.write(id, request(parts))
    await write1({ writes: [row("d:1", "r", "u:1", "small"), row("d:2", "r", "u:1")] })
    await write1({ deletes: [row("d:1", "r", "u:1"), row("d:2", "r", "u:1")] })
    await write1({ writes: [row("d:1", "r", "u:1"), row("d:2", "r", "u:1", "small")] })
    await write1({ deletes: [row("d:1", "r", "u:1"), row("d:2", "r", "u:1")] })
    const source = createTupleSource(database())
    const keys = [row("d:2", "r", "u:1"), row("d:1", "r", "u:1")]
    const conditions = async (revision: number) =>
      (await source.stood(id, revision, keys)).map(([object, , , , condition]) => `${object} ${condition}`)
    expect(await conditions(1)).toEqual(["d:2 ", "d:1 small"])
    expect(await conditions(3)).toEqual(["d:2 small", "d:1 "])
  })

  describe("reading by filter", () => {
    const cases: [TupleFilter, number][] = [
      [{}, 6],
      [{ object: "doc:1" }, 3],
      [{ object: "doc:", user: "user:a" }, 2],
      [{ object: "doc:", relation: "owner", user: "user:a" }, 1],
      [{ object: "doc:1", relation: "viewer" }, 2],
      [{ object: "doc:1", relation: "viewer", user: "team:x#member" }, 1],
      [{ object: "docs:1" }, 1],
      [{ object: "nothing:1" }, 0],
    ]
    test.each(cases)("%j", async (filter, count) => {
      const { id } = await createStore(database(), "read")
      await writer(database()).write(
        id,
        request({
          writes: [
            row("doc:1", "viewer", "user:a"),
            row("doc:1", "viewer", "team:x#member"),
            row("doc:1", "owner", "user:b"),
            row("doc:2", "owner", "user:a", "c"),
            row("docs:1", "viewer", "user:a"),
            row("doc2:1", "viewer", "user:a"),
          ],
        }),
      )
      const read: string[] = []
      let token = ""
      do {
        const page = await readTuples(database(), id, filter, { pageSize: 2, token })
        read.push(...(page?.tuples ?? []).map(({ key }) => `${key.object} ${key.relation} ${key.user}`))
        token = page?.token ?? ""
      } while (token !== "")
      expect(read).toHaveLength(count)
      expect(new Set(read).size).toBe(count)
    })
    test.each(["x", "e30", "eyJhIjoxfQ", "%%%", "WyJ0dXBsZXMtMSJd"])("token %s is refused", async (token) => {
      expect(await readTuples(database(), "s", {}, { pageSize: 2, token })).toBeUndefined()
    })
  })
})
