import { spawn } from "node:child_process"
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterEach, beforeEach, describe, expect, test } from "vitest"
import { takeOwnership } from "../../runtime/store/owner-lock.ts"
import { openPglite } from "../../runtime/store/pglite.ts"
import { embeddedFolder } from "./databases.ts"

let folder: string
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "sallyport-pglite-"))
})
afterEach(async () => {
  await rm(folder, { recursive: true, force: true })
})

const script = (text: string) => ({ name: "", text })

describe("the embedded database", () => {
  test("keeps its data over a restart, a broken statement and the death of its thread", async () => {
    let told = 0
    const first = await openPglite(folder, { onInitialize: () => (told += 1) })
    await first.query(script("create table t (x integer)"))
    await first.query({ name: "insert", text: "insert into t values ($1)" }, [7])
    await first.close()
    expect(told).toBe(1)

    const database = await openPglite(folder, { onInitialize: () => (told += 1), statementMs: 1_500 })
    try {
      expect(told).toBe(1)
      // Never ends by itself: the thread is ended.
      const endless = script(
        "with recursive r(x) as (select 1 union all select x from r) select count(*) from r",
      )
      const queued = database.query(script("select 2"))
      await expect(Promise.all([database.query(endless), queued])).rejects.toMatchObject({
        name: "SourceUnavailable",
      })
      expect(await database.query({ name: "read", text: "select x from t" })).toEqual([[7]])
      await expect(database.query(script("select 1/0"))).rejects.toMatchObject({ code: "22012" })
      expect(await database.query({ name: "read", text: "select x from t" })).toEqual([[7]])
    } finally {
      await database.close()
    }
  })

  test("what a start that was interrupted left is replaced", async () => {
    await mkdir(join(folder, "database.new", "base"), { recursive: true })
    await writeFile(join(folder, "database.new", "PG_VERSION"), "")
    const database = await openPglite(folder)
    expect(await database.query({ name: "read", text: "select 1" })).toEqual([[1]])
    await database.close()
    expect(await readdir(folder)).toEqual(["database"])
  })

  test("a second opener is refused with a sentence, and the folder is free after closing", async () => {
    await rm(folder, { recursive: true })
    folder = await embeddedFolder()
    const database = await openPglite(folder)
    await expect(openPglite(folder)).rejects.toThrow(`${folder} is in use by process ${process.pid}`)
    await database.close()
    await (await takeOwnership(folder)).release()
  })

  test("a folder that can't be used is a fault with the reason, and is not left locked", async () => {
    await writeFile(join(folder, "database"), "a file")
    await expect(openPglite(folder)).rejects.toThrow(/cannot be started/)
    await (await takeOwnership(folder)).release()
  })
})

describe("the owner's lock", () => {
  const lockFile = () => join(folder, "owner.json")
  const owner = (pid: number, started: string) => writeFile(lockFile(), JSON.stringify({ pid, started }))

  test("of a living process holds", async () => {
    const child = spawn("sleep", ["30"])
    try {
      await owner(child.pid ?? 0, "")
      await expect(takeOwnership(folder)).rejects.toMatchObject({ name: "FolderInUse", pid: child.pid })
    } finally {
      child.kill()
    }
  })

  test.each([
    ["a dead process", 4_194_301, "x"],
    ["a number given to another process since", process.ppid, "long ago"],
    ["nobody", 0, ""],
  ])("of %s is taken over", async (_, pid, started) => {
    await owner(pid, started)
    const lock = await takeOwnership(folder)
    expect(JSON.parse(await readFile(lockFile(), "utf8"))).toMatchObject({ pid: process.pid })
    await lock.release()
  })

  test("rubbish is taken over, by one of many", async () => {
    await writeFile(lockFile(), "{")
    const outcomes = await Promise.allSettled(Array.from({ length: 10 }, () => takeOwnership(folder)))
    expect(outcomes.filter(({ status }) => status === "fulfilled")).toHaveLength(1)
  })
})
