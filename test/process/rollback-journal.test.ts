import {
  appendFileSync,
  chmodSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterEach, beforeEach, describe, expect, test } from "vitest"
import { KeptPlans } from "../../runtime/process/kept-plans.ts"
import { RollbackJournal } from "../../runtime/process/rollback-journal.ts"
import { planOf } from "./project.ts"

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "sallyport-journal-"))
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

describe("the journal of changes without the database", () => {
  const path = () => join(folder, "new", "own.journal")
  const journal = () => new RollbackJournal(path())
  const contents = async () => (await journal().read())?.rows.map(({ content }) => content["event"])

  test("is a chain of rows for its owner alone, which processes continue", async () => {
    expect(await journal().read()).toBeUndefined()
    const first = await journal().append({ event: "a" })
    expect(await journal().append({ event: "b", text: "über\nzwei" })).toEqual({ ...first, seq: 2 })
    const read = await journal().read()
    expect(read).toMatchObject({ id: first.journal, damage: undefined, bytes: statSync(path()).size })
    expect(read?.rows.map(({ seq, content }) => [seq, content["event"]])).toEqual([
      [1, "a"],
      [2, "b"],
    ])
    expect([statSync(path()).mode & 0o777, statSync(join(path(), "..")).mode & 0o777]).toEqual([0o600, 0o700])
  })

  test("loses a row that was not wholly written, and no other", async () => {
    await journal().append({ event: "a" })
    await journal().append({ event: "b" })
    const whole = readFileSync(path(), "utf8")
    const second = whole.indexOf("\n") + 1
    for (const length of [0, 1, second - 1, second, second + 1, whole.length - 1]) {
      writeFileSync(path(), whole.slice(0, length))
      expect(await contents()).toEqual(length < second ? [] : ["a"])
      await journal().append({ event: "c" })
      expect(await contents()).toEqual(length < second ? ["c"] : ["a", "c"])
    }
  })

  test.each<[string, (text: string) => string, RegExp]>([
    ["an altered row", (text) => text.replace('\\"b\\"', '\\"x\\"'), /altered after row 1/],
    ["a removed row", (text) => text.split("\n").toSpliced(1, 1).join("\n"), /altered after row 1/],
    ["a removed first row", (text) => text.split("\n").slice(1).join("\n"), /altered after row 0/],
    ["an added row", (text) => `${text}{}\n`, /altered after row 3/],
    [
      "rows in another order",
      (text) => text.split("\n").toSorted().toReversed().join("\n").trimStart().concat("\n"),
      /altered after row/,
    ],
    ["no rows at all", () => "nothing\n", /first row was altered/],
  ])("%s is found, and nothing is appended", async (_, alter, reason) => {
    for (const event of ["a", "b", "c"]) await journal().append({ event })
    writeFileSync(path(), alter(readFileSync(path(), "utf8")))
    expect((await journal().read())?.damage).toMatch(reason)
    await expect(journal().append({ event: "d" })).rejects.toThrow(reason)
    await journal().settle(async () => undefined)
    expect(readdirSync(join(folder, "new"))).toEqual([expect.stringMatching(/^own\.journal\.altered-/)])
  })

  test("is not used when other users may write it", async () => {
    await journal().append({ event: "a" })
    chmodSync(path(), 0o622)
    expect((await journal().read())?.damage).toContain("other users may write it")
    // The same id each time, so that the audit log has it once.
    expect(await journal().read()).toEqual(await journal().read())
  })

  test("stays when it could not be taken", async () => {
    await journal().append({ event: "a" })
    await expect(journal().settle(() => Promise.reject(new Error("away")))).rejects.toThrow("away")
    expect(await contents()).toEqual(["a"])
    expect(await journal().settle(async () => undefined)).toBeUndefined()
    expect(readdirSync(join(folder, "new"))).toEqual([])
  })
})

describe("the plans on disk", () => {
  const ports = { gateway: 1, authz: 2, control: 3 }
  const plans = () => new KeptPlans(join(folder, "plans"))
  const files = () => readdirSync(join(folder, "plans"))
  const keep = async (serial: number, stamp = "s", greeting = `greet-${serial}`) => {
    const plan = planOf(ports, greeting)
    const at = new Date().toISOString()
    await plans().write(
      { serial, stamp, digest: plan.digest, at, who: "ann", commit: null, message: null },
      plan,
    )
    for (const name of files())
      if (name.startsWith(`${serial}.`)) utimesSync(join(folder, "plans", name), serial, serial)
  }

  test("are the last ten, for their owner alone, and are found by serial and stamp", async () => {
    for (let serial = 1; serial <= 12; serial += 1) await keep(serial)
    expect((await plans().list()).map(({ serial }) => serial)).toEqual([12, 11, 10, 9, 8, 7, 6, 5, 4, 3])
    expect(statSync(join(folder, "plans", files()[0] ?? "")).mode & 0o777).toBe(0o600)
    expect(await plans().find(5)).toMatchObject({ record: { serial: 5, who: "ann" }, plan: { format: 1 } })
    expect(await plans().find(5, "other")).toBeUndefined()
    expect(await plans().find(2)).toBeUndefined()
    await keep(5, "t", "again")
    expect(files()).toHaveLength(10)
  })

  test("are removed by their size, and the newest one is kept", async () => {
    await keep(1)
    for (const serial of [2, 3]) {
      const path = join(folder, "plans", `${serial}.large.plan`)
      writeFileSync(path, Buffer.alloc(40 * 1024 * 1024))
      utimesSync(path, serial, serial)
    }
    await keep(4)
    expect(
      files()
        .map((name) => Number.parseInt(name, 10))
        .sort(),
    ).toEqual([3, 4])
  })

  test("a damaged one is not used", async () => {
    await keep(1)
    appendFileSync(join(folder, "plans", files()[0] ?? ""), "x")
    expect(await plans().find(1)).toMatch(/plan 1, kept on disk, cannot be used .*its digest does not match/)
  })
})
