import { spawn } from "node:child_process"
import { mkdtemp, readdir, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { build } from "esbuild"
import { afterEach, beforeEach, expect, it } from "vitest"
import type { Database } from "../../runtime/store/database.ts"
import { newId } from "../../runtime/store/ids.ts"
import { openPostgres } from "../../runtime/store/postgres.ts"
import { addUsage, readUsage, tidyUsage, type UsageField } from "../../runtime/store/usage.ts"
import { UsageRecorder, type UsageRecorderSettings } from "../../runtime/usage/recorder.ts"
import { quantile } from "../../runtime/usage/sketch.ts"
import { type MeteredCall, UsageTally } from "../../runtime/usage/tally.ts"
import { createMigratedDatabase, describePostgres } from "../postgres.ts"
import { describeDatabase } from "../store/databases.ts"
import { breakable } from "./breakable.ts"
import { callOf } from "./calls.ts"

let folder: string
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "sallyport-usage-"))
})
afterEach(() => rm(folder, { recursive: true, force: true }))

function recorderOf(database: Database, more: Partial<UsageRecorderSettings> = {}): UsageRecorder {
  return new UsageRecorder({ database, spoolFolder: join(folder, "spool"), everyMs: 3_600_000, ...more })
}

async function groups(database: Database, by: readonly UsageField[], api: string) {
  return readUsage(database, { by, since: null, until: null, api, groupsMax: 1000 })
}

async function calls(database: Database, api: string): Promise<number> {
  return (await groups(database, [], api)).reduce((sum, group) => sum + group.calls, 0)
}

describeDatabase("usage", (database) => {
  it("is summed by what is asked, with bytes, latencies and what is billed at which price", async () => {
    const recorder = recorderOf(database())
    for (let index = 1; index <= 100; index += 1)
      recorder.add(
        callOf({
          api: "sums",
          durationMs: index,
          status: index % 10 === 0 ? 503 : 200,
          billed: index % 10 !== 0,
        }),
      )
    recorder.add(
      callOf({ api: "sums", subscription: "bob", price: "", endedAtMs: Date.parse("2026-03-05T00:00:00Z") }),
    )
    await recorder.flush()
    const [ann, bob] = await groups(database(), ["subscription"], "sums")
    expect(ann).toMatchObject({ key: ["ann"], calls: 100, bytesIn: 1_000, bytesOut: 10_000 })
    expect([...(ann?.billed ?? [])]).toEqual([["0.002 EUR", 90]])
    expect(quantile(ann?.latency ?? [], 0.5)).toBeGreaterThan(45)
    expect(quantile(ann?.latency ?? [], 0.5)).toBeLessThan(55)
    expect(bob).toMatchObject({ key: ["bob"], calls: 1 })
    const byDay = await groups(database(), ["day", "status"], "sums")
    expect(byDay.map(({ key, calls: n }) => [...key, n])).toEqual([
      ["2026-03-04", "2", 90],
      ["2026-03-04", "5", 10],
      ["2026-03-05", "2", 1],
    ])
    const since = new Date("2026-03-05T00:30:00Z")
    const later = await readUsage(database(), { by: [], since, until: null, api: "sums", groupsMax: 10 })
    expect(later.map((group) => group.calls)).toEqual([1])
    const until = await readUsage(database(), {
      by: [],
      since: null,
      until: since,
      product: "nobody",
      groupsMax: 10,
    })
    expect(until).toEqual([])
  })

  it("is told by user where there is no subscription: a thousand of them in an hour, the rest together", async () => {
    const recorder = recorderOf(database(), { usersMax: 3 })
    const long = "x".repeat(2_000)
    const add = (user: string, more: Partial<MeteredCall> = {}) =>
      recorder.add(callOf({ api: "users", subscription: "", price: "", user, ...more }))
    for (const user of ["jane", "jane", "@odd\u0000", long, "too many", "still more", "jane", ""]) add(user)
    add("jane", { subscription: "ann" })
    add("too many", { endedAtMs: Date.parse("2026-03-04T06:00:00Z") })
    await recorder.flush()
    const told = await groups(database(), ["subscription", "user"], "users")
    expect(told.map(({ key, calls: n }) => [...key, n])).toEqual([
      ["", "jane", 3],
      ["", "(others)", 2],
      ["", "", 1],
      ["", expect.stringMatching(/^digest:[\w-]{43}$/), 1],
      ["", expect.stringMatching(/^digest:[\w-]{43}$/), 1],
      ["", "too many", 1],
      ["ann", "", 1],
    ])
    const one = { by: [], since: null, until: null, api: "users", groupsMax: 9 }
    expect((await readUsage(database(), { ...one, user: "jane" })).map(({ calls: n }) => n)).toEqual([3])
    expect(await readUsage(database(), { ...one, user: "nobody" })).toEqual([])
  })

  it("counts a batch once, however often and by whomever it is sent", async () => {
    const tally = new UsageTally(10)
    for (let index = 0; index < 5; index += 1) tally.add(callOf({ api: "once" }))
    const rows = tally.drain()
    const id = newId()
    expect(await Promise.all([1, 2, 3].map(() => addUsage(database(), id, rows)))).toEqual(
      expect.arrayContaining([true, false, false]),
    )
    expect(await calls(database(), "once")).toBe(5)
  })

  it("is kept on disk while the database is away, and counted exactly once when it is back, by whoever comes", async () => {
    const faulty = breakable(database())
    const told: (string | undefined)[] = []
    const first = recorderOf(faulty, { onChange: (error) => told.push(error) })
    faulty.swallow = 1
    first.add(callOf({ api: "spool" }))
    await first.flush()
    faulty.away = true
    for (let index = 0; index < 7; index += 1) first.add(callOf({ api: "spool" }))
    await first.close()
    expect(first.error).toBe("usage is stored on disk: nobody there")
    expect(await readdir(join(folder, "spool"))).toHaveLength(2)
    await writeFile(join(folder, "spool", `${newId()}.json`), "{half")
    const [one, two] = [recorderOf(database()), recorderOf(database())]
    await Promise.all([one.flush(), two.flush()])
    expect(await calls(database(), "spool")).toBe(8)
    expect((await readdir(join(folder, "spool"))).map((name) => name.replace(/^[^.]+/, ""))).toEqual([
      ".json.bad",
    ])
    expect(told[0]).toBe("usage is stored on disk: the answer was lost")
    expect(one.error).toBeUndefined()
  })

  it("stays in memory where the disk is full, and says what it could not count where memory is too", async () => {
    const faulty = breakable(database())
    const recorder = recorderOf(faulty, { spoolBytesMax: 10, rowsMax: 2 })
    faulty.away = true
    for (const api of ["full", "full2"]) {
      recorder.add(callOf({ api }))
      await recorder.flush()
    }
    expect(recorder.error).toBe("usage is kept in memory, the spool is full: nobody there")
    for (const api of ["full", "full", "full2", "full3"]) recorder.add(callOf({ api }))
    await recorder.flush()
    expect(recorder.lost).toBe(4)
    faulty.away = false
    await recorder.flush()
    expect([await calls(database(), "full"), await calls(database(), "full2")]).toEqual([1, 1])
    expect(recorder.error).toBeUndefined()
  })

  it("by the hour becomes usage by the day when it is old, with the same sums, and goes in the end", async () => {
    const recorder = recorderOf(database())
    const daysAgo = (days: number, hour: number) => {
      const at = new Date(Date.now() - days * 86_400_000)
      return at.setUTCHours(hour, 30, 0, 0)
    }
    for (const [days, hour, durationMs] of [
      [50, 1, 5],
      [50, 23, 500],
      [2, 3, 5],
      [900, 3, 5],
    ] as const)
      recorder.add(callOf({ api: "old", endedAtMs: daysAgo(days, hour), durationMs }))
    await recorder.flush()
    const before = (await groups(database(), ["day"], "old")).filter(
      ({ key }) => key[0] !== dayOf(daysAgo(900, 3)),
    )
    await tidyUsage(database())
    await tidyUsage(database())
    expect(await groups(database(), ["day"], "old")).toEqual(before)
    recorder.add(callOf({ api: "old", endedAtMs: daysAgo(50, 12) }))
    await recorder.flush()
    await tidyUsage(database())
    expect(await calls(database(), "old")).toBe(4)
  })
})

describePostgres("processes that meter", () => {
  it("lose nothing of what they have written when killed, and nothing at all when they end; the sums are exact", async () => {
    const { url, drop } = await createMigratedDatabase()
    const database = openPostgres(url)
    try {
      const spool = join(folder, "spool")
      const file = await bundledWriter()
      const writers = [3_000, 3_000, 1e9].map((total) => writer(file, [url, spool, String(total)]))
      const [, , doomed] = writers
      await doomed?.reached(1_000)
      doomed?.child.kill("SIGKILL")
      const counted = await Promise.all(writers.map(({ ended }) => ended))
      const recorder = recorderOf(database)
      await recorder.flush()
      const all = await calls(database, "orders")
      const least = 6_000 + (counted[2] ?? 0)
      expect(all).toBeGreaterThanOrEqual(least)
      // At most what it counted since it last said so.
      expect(all).toBeLessThanOrEqual(least + 500)
      const by = await groups(database, ["subscription"], "orders")
      expect(by.reduce((sum, { latency }) => sum + latency.reduce((a, b) => a + b, 0), 0)).toBe(all)
    } finally {
      await database.close()
      await drop()
    }
  })
})

/** A process of `writer.ts`, bundled because Node reads no TypeScript; its writes are counted in lines of its output. */
function writer(file: string, words: readonly string[]) {
  const child = spawn(process.execPath, [file, ...words], { stdio: ["ignore", "pipe", "inherit"] })
  let said = 0
  const waiting: { at: number; done: () => void }[] = []
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    for (const line of text.split("\n")) if (/^\d+$/.test(line)) said = Number(line)
    for (const each of waiting) if (said >= each.at) each.done()
  })
  return {
    child,
    reached: (at: number) => new Promise<void>((done) => waiting.push({ at, done })),
    ended: new Promise<number>((done) => child.once("close", () => done(said))),
  }
}

async function bundledWriter(): Promise<string> {
  const outfile = join(folder, "writer.cjs")
  const entry = fileURLToPath(new URL("./writer.ts", import.meta.url))
  await build({
    entryPoints: [entry],
    outfile,
    bundle: true,
    platform: "node",
    format: "cjs",
    external: ["pg-native"],
  })
  return outfile
}

function dayOf(ms: number): string {
  return new Date(ms).toISOString().slice(0, 10)
}
