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
import { JournalHead } from "../../runtime/process/journal-head.ts"
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
  const journal = () => new RollbackJournal(path(), "a token")
  const rewrite = (edit: (text: string) => string, of = "") =>
    writeFileSync(`${path()}${of}`, edit(readFileSync(`${path()}${of}`, "utf8")))
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
    const head = readFileSync(`${path()}.head`, "utf8")
    rmSync(path())
    rmSync(`${path()}.head`)
    await journal().append({ event: "x" })
    const [first, headOfFirst] = [path(), `${path()}.head`].map((file) => readFileSync(file, "utf8"))
    for (const length of [1, (first ?? "").length - 1]) {
      writeFileSync(path(), (first ?? "").slice(0, length))
      rmSync(`${path()}.head`, { force: true })
      expect(await contents()).toEqual([])
    }
    // The head is that of the whole rows, because it is written last.
    for (const length of [(first ?? "").length, (first ?? "").length + 1]) {
      writeFileSync(path(), `${first}${whole.slice(second)}`.slice(0, length))
      writeFileSync(`${path()}.head`, headOfFirst ?? "")
      expect(await contents()).toEqual(["x"])
      await journal().append({ event: "c" })
      expect(await contents()).toEqual(["x", "c"])
    }
    // A row that the head does not have yet.
    writeFileSync(`${path()}.head`, headOfFirst ?? "")
    expect(await contents()).toEqual(["x", "c"])
    expect(head).not.toBe(headOfFirst)
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
    expect(readdirSync(join(folder, "new"))).toEqual([
      expect.stringMatching(/^own\.journal\.altered-/),
      expect.stringMatching(/^own\.journal\.head\.altered-/),
    ])
  })

  test.each<[string, () => void, RegExp]>([
    [
      "a cut tail",
      () => rewrite((text) => `${text.split("\n").slice(0, 2).join("\n")}\n`),
      /was cut: it has 2 of 3/,
    ],
    [
      "a cut tail in the middle of a row",
      () => rewrite((text) => text.slice(0, -5)),
      /was cut: it has 2 of 3/,
    ],
    ["no journal any more", () => rmSync(path()), /the journal with 3 rows was removed/],
    ["an empty journal", () => writeFileSync(path(), ""), /was cut: it has 0 of 3/],
    ["no head any more", () => rmSync(`${path()}.head`), /the head of the journal was removed/],
    [
      "an altered head",
      () => rewrite((text) => text.replace('"rows":3', '"rows":2'), ".head"),
      /its head was altered/,
    ],
    ["a head that is none", () => writeFileSync(`${path()}.head`, "{}"), /its head was altered/],
  ])("%s is found by the head, and nothing is appended", async (_, alter, reason) => {
    for (const event of ["a", "b", "c"]) await journal().append({ event })
    alter()
    expect((await journal().read())?.damage).toMatch(reason)
    await expect(journal().append({ event: "d" })).rejects.toThrow(reason)
    const taken: unknown[] = []
    await journal().settle(async ({ damage }) => void taken.push(damage))
    expect(taken).toEqual([expect.stringMatching(reason)])
    await journal().append({ event: "e" })
    expect(await contents()).toEqual(["e"])
  })

  test("of another key is not used", async () => {
    await journal().append({ event: "a" })
    const other = new RollbackJournal(path(), "another token")
    expect((await other.read())?.damage).toMatch(/first row was altered|altered after row 0/)
  })

  test("that was taken is removed by the next process when this one was killed", async () => {
    await journal().append({ event: "a" })
    const [rows, head] = [readFileSync(path(), "utf8"), readFileSync(`${path()}.head`, "utf8")]
    let taken = ""
    await journal().settle(async () => undefined)
    await journal().append({ event: "b" })
    expect(await contents()).toEqual(["b"])
    expect(head).not.toBe(readFileSync(`${path()}.head`, "utf8"))
    // Killed after the head said so: both files are there.
    writeFileSync(path(), rows)
    const { journal: id } = JSON.parse(head) as { journal: string }
    await new JournalHead(`${path()}.head`, "a token").write({
      journal: id,
      rows: 0,
      hash: id,
      isTaken: true,
    })
    await journal().settle(async ({ rows: found }) => {
      taken = JSON.stringify(found)
    })
    expect(taken).toBe("")
    expect(readdirSync(join(folder, "new"))).toEqual([])
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
