import { mkdtemp, readdir, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterEach, beforeEach, describe, expect, it } from "vitest"
import type { Database } from "../../runtime/store/database.ts"
import { Quotas, type QuotasSettings } from "../../runtime/usage/quotas.ts"
import { describeDatabase } from "../store/databases.ts"
import { breakable } from "./breakable.ts"

const started: Quotas[] = []
let folder: string
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "sallyport-quotas-"))
})
afterEach(async () => {
  for (const quotas of started.splice(0)) await quotas.close()
  await rm(folder, { recursive: true, force: true })
})

let nowMs = 0

function quotasOf(database: Database, more: Partial<QuotasSettings> = {}): Quotas {
  const quotas = new Quotas({ database, now: () => nowMs, spoolFolder: join(folder, "spool"), ...more })
  started.push(quotas)
  return quotas
}

/** What the database has of a counter. */
async function stored(database: Database, counter: string): Promise<readonly [number, number][]> {
  const text = "select calls, bytes from sallyport.quotas where counter = $1 order by key"
  return database.query<[number, number]>({ name: "", text }, [counter])
}

const day = { callsMax: 10, bytesMax: undefined, periodSeconds: 86_400 }

async function passed(
  quotas: Quotas,
  terms: Parameters<Quotas["take"]>[0],
  key: string,
  tries: number,
): Promise<number> {
  let count = 0
  for (let index = 0; index < tries; index += 1) if ((await quotas.take(terms, key, 0, 1)).allowed) count += 1
  return count
}

describeDatabase("quotas", (database) => {
  it("let exactly so many calls pass in a process, also at once, and tell when there are more", async () => {
    nowMs = Date.parse("2026-03-10T00:00:00Z")
    const quotas = quotasOf(database())
    const terms = { ...day, counter: "exact" }
    const all = await Promise.all(Array.from({ length: 25 }, () => quotas.take(terms, "ann", 0, 1)))
    expect(all.filter(({ allowed }) => allowed)).toHaveLength(10)
    expect(await quotas.take(terms, "ann", 0, 1)).toEqual({
      allowed: false,
      out: "calls",
      resetSeconds: 86_400,
    })
    expect(await quotas.take(terms, "bob", 0, 1)).toEqual({ allowed: true })
    const large = { ...day, counter: "large", callsMax: 1_000 }
    expect(await passed(quotas, large, "ann", 1_100)).toBe(1_000)
    expect(await quotas.take({ ...large, callsMax: 1_001 }, "ann", 0, 1)).toEqual({ allowed: true })
    const ever = { ...day, counter: "ever", callsMax: 1, periodSeconds: 0 }
    expect(await quotas.take(ever, "ann", 0, 1)).toEqual({ allowed: true })
    expect(await quotas.take(ever, "ann", 0, 1)).toEqual({ allowed: false, out: "calls", resetSeconds: null })
  })

  it("last over restarts, begin anew with a period, and count from their own beginning", async () => {
    nowMs = Date.parse("2026-03-10T00:00:00Z")
    const terms = { ...day, counter: "lasting", callsMax: 1_000 }
    const first = quotasOf(database())
    expect(await passed(first, terms, "ann", 300)).toBe(300)
    await first.close()
    const second = quotasOf(database())
    expect(await passed(second, terms, "ann", 1_000)).toBe(700)
    nowMs += 86_400_000
    expect(await passed(second, terms, "ann", 5)).toBe(5)
    const noon = 12 * 3_600_000
    for (let index = 0; index < 1_000; index += 1) await second.take(terms, "noon", noon, 1)
    expect(await second.take(terms, "noon", noon, 1)).toMatchObject({ allowed: false, resetSeconds: 43_200 })
  })

  it("shared by processes never let more pass, and at most a portion of each too little", async () => {
    const terms = { ...day, counter: "shared", callsMax: 2_000 }
    const processes = [quotasOf(database()), quotasOf(database()), quotasOf(database())]
    const counts = await Promise.all(processes.map((quotas) => passed(quotas, terms, "ann", 900)))
    const sum = counts.reduce((a, b) => a + b, 0)
    expect(sum).toBeLessThanOrEqual(2_000)
    expect(sum).toBeGreaterThanOrEqual(2_000 - 3 * 20)
    for (const quotas of processes) await quotas.close()
    const rest = await passed(quotasOf(database()), terms, "ann", 100)
    expect(sum + rest).toBe(2_000)
  })

  it("of bytes count what is told afterwards", async () => {
    const quotas = quotasOf(database())
    const terms = { counter: "bytes", callsMax: undefined, bytesMax: 1_000, periodSeconds: 86_400 }
    for (const bytes of [400, 700]) {
      expect(await quotas.take(terms, "ann", 0, 1)).toEqual({ allowed: true })
      quotas.add(terms, "ann", 0, { calls: 0, bytes })
    }
    expect(await quotas.take(terms, "ann", 0, 1)).toMatchObject({ allowed: false, out: "bytes" })
    await quotas.flush()
    expect(await quotasOf(database()).take(terms, "ann", 0, 1)).toMatchObject({
      allowed: false,
      out: "bytes",
    })
  })

  it("of calls that count later look first, and count what went on all the same", async () => {
    const quotas = quotasOf(database())
    const terms = { ...day, counter: "late", callsMax: 2 }
    for (let index = 0; index < 2; index += 1) {
      expect(await quotas.take(terms, "ann", 0, 0)).toEqual({ allowed: true })
      quotas.add(terms, "ann", 0, { calls: 1, bytes: 0 })
    }
    quotas.add(terms, "ann", 0, { calls: 3, bytes: 0 })
    await quotas.flush()
    nowMs += 2_000
    expect(await quotas.take(terms, "ann", 0, 0)).toMatchObject({ allowed: false })
    expect(await quotas.take({ ...terms, callsMax: 6 }, "ann", 0, 1)).toEqual({ allowed: true })
    expect(await quotas.take({ ...terms, callsMax: 6 }, "ann", 0, 1)).toMatchObject({ allowed: false })
  })

  it("count on where the database is away, up to what is known to be left, and are written when it is back", async () => {
    const faulty = breakable(database())
    const quotas = quotasOf(faulty)
    const terms = { ...day, counter: "away", callsMax: 10 }
    expect(await passed(quotas, terms, "ann", 4)).toBe(4)
    faulty.away = true
    expect(await passed(quotas, terms, "ann", 10)).toBe(6)
    expect(quotas.error).toBe("quotas count in memory: nobody there")
    faulty.away = false
    await quotas.flush()
    expect(quotas.error).toBeUndefined()
    expect(await quotasOf(database()).take(terms, "ann", 0, 1)).toMatchObject({ allowed: false })
  })

  describe("where the process ends while the database is away", () => {
    const terms = { ...day, counter: "", callsMax: 50 }

    it("what was used is kept on disk: whoever comes next knows of it, and writes it once", async () => {
      const faulty = breakable(database())
      const lasting = { ...terms, counter: "kept" }
      const first = quotasOf(faulty)
      expect(await passed(first, lasting, "ann", 30)).toBe(30)
      faulty.away = true
      expect(await passed(first, lasting, "ann", 10)).toBe(10)
      await first.close()
      expect(first.error).toBe("quotas count on disk: nobody there")

      // Still away: the next one knows how much of the quota was used, too.
      const second = quotasOf(faulty)
      await second.start()
      expect(await passed(second, lasting, "ann", 20)).toBe(10)
      await second.flush()
      faulty.away = false
      const third = quotasOf(faulty)
      await third.start()
      await third.flush()
      await second.flush()
      expect(await stored(database(), "kept")).toEqual([[50, 0]])
      for (const quotas of [second, third]) {
        expect(await quotas.take(lasting, "ann", 0, 1)).toMatchObject({ allowed: false })
        expect(quotas.error).toBeUndefined()
      }
      expect(await readdir(join(folder, "spool"))).toEqual([])
    })

    it("bytes too, and what was reserved and not used goes back", async () => {
      const faulty = breakable(database())
      const wide = { counter: "wide", callsMax: undefined, bytesMax: 1_000, periodSeconds: 86_400 }
      const large = { ...day, counter: "reserved", callsMax: 2_000 }
      const first = quotasOf(faulty)
      expect(await first.take(wide, "ann", 0, 1)).toEqual({ allowed: true })
      expect(await passed(first, large, "ann", 3)).toBe(3)
      expect(await stored(database(), "reserved")).toEqual([[10, 0]])
      faulty.away = true
      first.add(wide, "ann", 0, { calls: 0, bytes: 1_200 })
      await first.close()
      const second = quotasOf(faulty)
      await second.start()
      expect(await second.take(wide, "ann", 0, 1)).toMatchObject({ allowed: false, out: "bytes" })
      faulty.away = false
      await second.flush()
      expect(await stored(database(), "wide")).toEqual([[0, 1_200]])
      expect(await stored(database(), "reserved")).toEqual([[3, 0]])
    })

    it("a batch whose answer was lost counts once", async () => {
      const faulty = breakable(database())
      const late = { ...terms, counter: "swallowed" }
      const first = quotasOf(faulty)
      first.add(late, "ann", 0, { calls: 7, bytes: 0 })
      faulty.swallow = 1
      await first.flush()
      expect(first.error).toBe("quotas count on disk: the answer was lost")
      await Promise.all([first.flush(), quotasOf(faulty).flush(), quotasOf(faulty).flush()])
      expect(first.error).toBeUndefined()
      expect(await stored(database(), "swallowed")).toEqual([[7, 0]])
    })

    it("without room on disk it counts in memory, says why, and is written when the database is back", async () => {
      const faulty = breakable(database())
      const full = { ...terms, counter: "full" }
      const quotas = quotasOf(faulty, { spoolBytesMax: 10 })
      faulty.away = true
      expect(await passed(quotas, full, "ann", 60)).toBe(50)
      await quotas.flush()
      expect(quotas.error).toBe("quotas count in memory, the spool is full: nobody there")
      expect(await quotas.take(full, "ann", 0, 1)).toMatchObject({ allowed: false })
      faulty.away = false
      await quotas.flush()
      expect([quotas.error, await stored(database(), "full")]).toEqual([undefined, [[50, 0]]])
    })

    it("who is idle for long does not get the whole quota again", async () => {
      const faulty = breakable(database())
      const idle = { ...terms, counter: "idle" }
      const quotas = quotasOf(faulty)
      expect(await passed(quotas, idle, "ann", 45)).toBe(45)
      nowMs += 3_600_000
      await quotas.flush()
      faulty.away = true
      expect(await passed(quotas, idle, "ann", 60)).toBe(5)
    })
  })

  it("are well again when the database is, though nobody calls", async () => {
    const faulty = breakable(database())
    const quotas = quotasOf(faulty)
    const terms = { ...day, counter: "quiet", callsMax: 1 }
    expect(await passed(quotas, terms, "ann", 1)).toBe(1)
    faulty.away = true
    nowMs += 2_000
    expect(await passed(quotas, terms, "ann", 1)).toBe(0)
    await quotas.flush()
    expect(quotas.error).toBeDefined()
    faulty.away = false
    await quotas.flush()
    expect(quotas.error).toBeUndefined()
  })

  it("take any key: callers choose what it is made of", async () => {
    const quotas = quotasOf(database())
    const terms = { ...day, counter: "keys", callsMax: 1 }
    const long = "x".repeat(100_000)
    for (const key of ["a\u0000b", "a\u0000c", long, `${long}y`, "\ud800", "é".repeat(300)]) {
      expect(await quotas.take(terms, key, 0, 1)).toEqual({ allowed: true })
      expect(await quotas.take(terms, key, 0, 1)).toMatchObject({ allowed: false })
    }
    expect(quotas.error).toBeUndefined()
    expect(await stored(database(), "keys")).toEqual(Array(6).fill([1, 0]))
  })
})
