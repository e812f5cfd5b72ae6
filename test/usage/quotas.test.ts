import { afterEach, expect, it } from "vitest"
import { SourceUnavailable } from "../../runtime/check/ports.ts"
import type { Database } from "../../runtime/store/database.ts"
import { Quotas } from "../../runtime/usage/quotas.ts"
import { describeDatabases } from "../store/databases.ts"

const started: Quotas[] = []
afterEach(async () => {
  for (const quotas of started.splice(0)) await quotas.close()
})

let nowMs = 0

function quotasOf(database: Database): Quotas {
  const quotas = new Quotas({ database, now: () => nowMs })
  started.push(quotas)
  return quotas
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

describeDatabases("quotas", (database) => {
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
    const real = database()
    let away = false
    const faulty: Database = {
      kind: real.kind,
      query: (...words) => real.query(...words),
      batch: (...words) => real.batch(...words),
      transaction: (work, options) =>
        away ? Promise.reject(new SourceUnavailable("nobody there")) : real.transaction(work, options),
      close: async () => undefined,
    }
    const quotas = quotasOf(faulty)
    const terms = { ...day, counter: "away", callsMax: 10 }
    expect(await passed(quotas, terms, "ann", 4)).toBe(4)
    away = true
    expect(await passed(quotas, terms, "ann", 10)).toBe(6)
    expect(quotas.error).toBe("quotas count in memory: nobody there")
    away = false
    await quotas.flush()
    expect(quotas.error).toBeUndefined()
    expect(await quotasOf(real).take(terms, "ann", 0, 1)).toMatchObject({ allowed: false })
  })
})
