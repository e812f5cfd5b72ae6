import { expect, test } from "vitest"
import { type PageBatch, type PageKey, SourceUnavailable, type TupleRow } from "../../runtime/check/ports.ts"
import { PageReads } from "../../runtime/check/stores/page-reads.ts"

const keyOf = (object: string): PageKey => ({ direction: "forward", object, relation: "viewer" })
const keysOf = (...names: readonly string[]) => names.map((name) => keyOf(`doc:${name}`))

/** A source whose statements end when the test says so. A page has one row, of its object. */
class HeldPages {
  readonly statements: {
    readonly keys: readonly PageKey[]
    readonly revisionMin: number
    readonly end: (error?: Error) => void
  }[] = []
  readonly reads = new PageReads(
    (keys, revisionMin) =>
      new Promise((resolve, reject) => {
        const revision = this.statements.length + 1
        const pages = keys.map((key) => [rowOf(key)])
        const end = (error?: Error) =>
          error === undefined ? resolve({ at: { revision, stamp: "s" }, pages }) : reject(error)
        this.statements.push({ keys, revisionMin, end })
      }),
  )

  get sizes(): number[] {
    return this.statements.map(({ keys }) => keys.length)
  }
}

function rowOf(key: PageKey): TupleRow {
  return [key.direction === "reverse" ? "" : key.object, "viewer", "user:ann", "", "", ""]
}

function objectsOf({ pages }: PageBatch): unknown[] {
  return pages.map((page) => (Array.isArray(page) ? page[0]?.[0] : page))
}

test("questions gather while two statements are under way, and each gets its own pages", async () => {
  const source = new HeldPages()
  const asked = [["1"], ["2"], ["3", "4"], ["5"], ["1", "6"]].map((names, at) =>
    source.reads.read(keysOf(...names), [7, 7, 8, 9, 8][at] ?? 0),
  )
  expect(source.sizes).toEqual([1, 1])
  source.statements[1]?.end()
  await asked[1]
  await expect.poll(() => source.sizes).toEqual([1, 1, 5])
  // The newest revision that one of them needs.
  expect(source.statements.map(({ revisionMin }) => revisionMin)).toEqual([7, 7, 9])
  source.statements[0]?.end()
  source.statements[2]?.end()
  const batches = await Promise.all(asked)
  expect(batches.map(objectsOf)).toEqual([
    ["doc:1"],
    ["doc:2"],
    ["doc:3", "doc:4"],
    ["doc:5"],
    ["doc:1", "doc:6"],
  ])
  expect(batches.map(({ at }) => at.revision)).toEqual([1, 2, 3, 3, 3])
})

test("a statement that fails fails its questions only, and the next ones are read", async () => {
  const source = new HeldPages()
  const asked = ["1", "2", "3", "4"].map((name) => source.reads.read(keysOf(name), 0).catch(String))
  source.statements[0]?.end(new SourceUnavailable("away"))
  expect(await asked[0]).toContain("away")
  await expect.poll(() => source.sizes).toEqual([1, 1, 2])
  source.statements[2]?.end(new SourceUnavailable("still away"))
  source.statements[1]?.end()
  expect(await asked[1]).toMatchObject({ at: { revision: 2 } })
  expect([await asked[2], await asked[3]].join()).toMatch(/still away.*still away/)
  const later = source.reads.read(keysOf("5"), 0)
  source.statements[3]?.end()
  expect(objectsOf(await later)).toEqual(["doc:5"])
})

test("a statement takes 256 pages of several questions, or all of a single one", async () => {
  const source = new HeldPages()
  const many = (count: number) => keysOf(...Array.from({ length: count }, (_, at) => String(at)))
  const asked = [1, 1, 100, 100, 100, 1_000].map((count) => source.reads.read(many(count), 0))
  for (let statement = 0; statement < 5; statement++) {
    await expect.poll(() => source.sizes.length).toBeGreaterThan(statement)
    source.statements[statement]?.end()
  }
  expect((await Promise.all(asked)).map(({ pages }) => pages.length)).toEqual([1, 1, 100, 100, 100, 1_000])
  expect(source.sizes).toEqual([1, 1, 200, 100, 1_000])
})
