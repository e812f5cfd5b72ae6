import fc from "fast-check"
import { describe, expect, it } from "vitest"
import type { Taken } from "../../runtime/limits/limiter.ts"
import { createMemoryLimiter } from "../../runtime/limits/memory.ts"
import { randomCall } from "./random-call.ts"

function limiterAt(start = 0, keysMax = 1000) {
  const clock = { ms: start }
  const limiter = createMemoryLimiter({ now: () => clock.ms, keysMax })
  const take = (key: string, max: number, seconds: number): Taken =>
    limiter.take("c", key, max, seconds) as Taken
  return { clock, limiter, take }
}

/** The documented window, by a list of all calls: 61 parts, each of a sixtieth of the period. */
class CallList {
  readonly #calls: { readonly atMs: number; readonly count: number }[] = []
  readonly #periodMs: number
  readonly #startMs: number

  constructor(periodMs: number, startMs: number) {
    this.#periodMs = periodMs
    this.#startMs = startMs
  }

  take(callsMax: number, nowMs: number, amount: number): Taken {
    const now = this.#partOf(nowMs)
    const last = this.#calls.at(-1)
    if (last !== undefined && last.atMs + this.#periodMs - nowMs <= 0.001) this.#calls.length = 0
    const inside = this.#calls.filter(({ atMs }) => now - this.#partOf(atMs) <= 60)
    const total = inside.reduce((sum, { count }) => sum + count, 0)
    const tooMany = total + Math.max(1, amount) - callsMax
    if (tooMany > 0) {
      const resetSeconds = this.#seconds(inside, Math.max(0, total - tooMany), nowMs)
      return { allowed: false, remaining: Math.max(0, callsMax - total), resetSeconds }
    }
    const count = Math.min(amount, 0xffff_ffff - total)
    if (count > 0) {
      this.#calls.push({ atMs: nowMs, count })
      inside.push({ atMs: nowMs, count })
    }
    const sum = total + count
    return {
      allowed: true,
      remaining: callsMax - sum,
      resetSeconds: this.#seconds(inside, Math.max(0, sum - 1), nowMs),
    }
  }

  /** Seconds until at most `enough` calls are inside. */
  #seconds(inside: readonly { atMs: number; count: number }[], enough: number, nowMs: number): number {
    const lastMs = inside.at(-1)?.atMs ?? nowMs
    const parts = [...new Set(inside.map(({ atMs }) => this.#partOf(atMs)))].filter(
      (part) => part < this.#partOf(nowMs),
    )
    let leavesMs = lastMs + this.#periodMs
    for (const part of parts) {
      const rest = inside.filter(({ atMs }) => this.#partOf(atMs) > part)
      if (rest.length === 0 || rest.reduce((sum, { count }) => sum + count, 0) > enough) continue
      leavesMs = this.#startMs + (part + 1) * (this.#periodMs / 60) + this.#periodMs
      break
    }
    return Math.max(1, Math.ceil((Math.min(this.#periodMs, leavesMs - nowMs) - 0.001) / 1000))
  }

  #partOf(ms: number): number {
    return Math.floor((ms - this.#startMs) / (this.#periodMs / 60))
  }
}

describe("memory limiter", () => {
  it("lets exactly callsMax pass and says what is left", () => {
    const { take } = limiterAt(12_345.6)
    expect(
      Array.from({ length: 5 }, () => take("a", 3, 60)).map((taken) => [taken.allowed, taken.remaining]),
    ).toEqual([
      [true, 2],
      [true, 1],
      [true, 0],
      [false, 0],
      [false, 0],
    ])
  })

  it("counts keys and counters apart", () => {
    const { take, limiter } = limiterAt()
    expect(take("a", 1, 60).allowed).toBe(true)
    expect(take("b", 1, 60).allowed).toBe(true)
    expect((limiter.take("other", "a", 1, 60) as Taken).allowed).toBe(true)
    expect(take("a", 1, 60).allowed).toBe(false)
  })

  it("keeps counting when the maximum changes, as a new plan may do", () => {
    const { take } = limiterAt()
    for (let call = 0; call < 5; call++) take("a", 5, 60)
    expect(take("a", 6, 60)).toMatchObject({ allowed: true, remaining: 0 })
    expect(take("a", 2, 60).allowed).toBe(false)
  })

  it("names a reset after which a call passes, and never before", () => {
    const { take, clock } = limiterAt()
    take("a", 1, 60)
    const refused = take("a", 1, 60)
    expect(refused.allowed).toBe(false)
    clock.ms += refused.resetSeconds * 1000
    expect(take("a", 1, 60).allowed).toBe(true)
  })

  it("a refusal never says more than the period nor less than a second, and a call that waits so long passes", () => {
    fc.assert(
      fc.property(
        fc.record({
          gaps: fc.array(fc.integer({ min: 0, max: 30_000 }), { maxLength: 40 }),
          burst: fc.integer({ min: 1, max: 30 }),
          max: fc.integer({ min: 1, max: 12 }),
          amount: fc.integer({ min: 1, max: 12 }),
          seconds: fc.constantFrom(1, 7, 60, 3600),
          start: fc.double({ min: 0, max: 1e9, noNaN: true }),
        }),
        ({ gaps, burst, max, amount, seconds, start }) => {
          const { clock, limiter, take } = limiterAt(start)
          for (const gap of gaps) {
            clock.ms += gap
            take("k", max, seconds)
          }
          for (let call = 0; call < burst; call++) take("k", max, seconds)
          const asked = Math.min(amount, max)
          const refused = limiter.take("c", "k", max, seconds, asked) as Taken
          if (refused.allowed) return
          expect(refused.resetSeconds).toBeGreaterThanOrEqual(1)
          expect(refused.resetSeconds).toBeLessThanOrEqual(seconds)
          clock.ms += refused.resetSeconds * 1000
          expect((limiter.take("c", "k", max, seconds, asked) as Taken).allowed).toBe(true)
        },
      ),
      { numRuns: 500 },
    )
  })

  it("never allows more than callsMax in any window, and refuses at most a sixtieth early", () => {
    fc.assert(
      fc.property(
        fc.array(fc.integer({ min: 0, max: 1500 }), { minLength: 1, maxLength: 400 }),
        fc.integer({ min: 1, max: 20 }),
        fc.double({ min: 0, max: 1e9, noNaN: true }),
        (gaps, max, start) => {
          const { clock, take } = limiterAt(start)
          const periodMs = 10_000
          const allowed: number[] = []
          for (const gap of gaps) {
            clock.ms += gap
            if (take("k", max, periodMs / 1000).allowed) allowed.push(clock.ms)
            else {
              const recent = allowed.filter((at) => at > clock.ms - periodMs - periodMs / 60 - 0.001)
              expect(recent.length).toBeGreaterThanOrEqual(max)
            }
            expect(allowed.filter((at) => at > clock.ms - periodMs).length).toBeLessThanOrEqual(max)
          }
        },
      ),
      { numRuns: 300 },
    )
  })

  it("never refuses a caller within the limit, however few keys it may keep", () => {
    fc.assert(
      fc.property(
        fc.array(fc.tuple(fc.integer({ min: 0, max: 30 }), fc.integer({ min: 0, max: 700 })), {
          minLength: 50,
          maxLength: 500,
        }),
        (calls) => {
          const { clock, take } = limiterAt(0, 4)
          const allowed = new Map<number, number[]>()
          for (const [key, gap] of calls) {
            clock.ms += gap
            const times = allowed.get(key) ?? []
            allowed.set(key, times)
            if (take(`key-${key}`, 2, 3).allowed) times.push(clock.ms)
            else
              expect(times.filter((at) => at > clock.ms - 3000 - 3000 / 60 - 0.001).length).toBeGreaterThan(1)
          }
        },
      ),
      { numRuns: 200 },
    )
  })

  it("lets 200,000 callers make one call each where memory is for 2,000, and says what it gave up", () => {
    const { take, limiter } = limiterAt(0, 2000)
    let refused = 0
    for (let caller = 0; caller < 200_000; caller++)
      if (!take(`caller-${caller}`, 5, 3600).allowed) refused += 1
    expect(refused).toBe(0)
    expect(limiter.stats()).toMatchObject({ keys: 2000, evicted: 198_000 })
  })

  it("keeps refusing a caller over the limit while others come with many keys", () => {
    const { take } = limiterAt(0, 2000)
    for (let call = 0; call < 5; call++) expect(take("heavy", 5, 3600).allowed).toBe(true)
    for (let other = 0; other < 100_000; other++) {
      take(`other-${other}`, 5, 3600)
      if (other % 1000 === 0) expect(take("heavy", 5, 3600).allowed).toBe(false)
    }
    expect(take("heavy", 5, 3600).allowed).toBe(false)
  })

  it("keeps fewer keys after a plan lowers their number", () => {
    const { take, limiter } = limiterAt(0, 5000)
    for (let key = 0; key < 5000; key++) take(`key-${key}`, 5, 3600)
    limiter.keysMax = 1000
    for (let key = 0; key < 8000; key++) take(`later-${key}`, 5, 3600)
    expect(limiter.stats().keys).toBe(1000)
  })

  it("counts 100,000 keys apart, in at most 60 bytes a key", () => {
    const { take, limiter } = limiterAt(0, 1_000_000)
    const left = [0, 0, 0]
    for (let call = 0; call < 2; call++)
      for (let key = 0; key < 100_000; key++) {
        const { remaining } = take(`k${key}`, 2, 3600)
        left[remaining] = (left[remaining] ?? 0) + 1
      }
    expect(left).toEqual([100_000, 100_000, 0])
    expect(limiter.stats()).toMatchObject({ keys: 100_000, evicted: 0 })
    expect(limiter.stats().bytes).toBeLessThan(60 * 100_000)
  })

  it.each([
    ["from the start", 0],
    // Part numbers then need more than 32 bits: of a limit by the second after 2.3 years.
    ["before and after the part 2^32", 2 ** 32 * 1000 - 150_000],
  ])(
    "counts as a list of all calls does, for any amounts, gaps and limits of several keys, %s",
    (_, later) => {
      const call = randomCall(4)
      fc.assert(
        fc.property(
          fc.array(call, { maxLength: 300 }),
          later === 0 ? fc.double({ min: 0, max: 1e6, noNaN: true }) : fc.integer({ min: 0, max: 1e6 }),
          (calls, start) => {
            const { clock, limiter } = limiterAt(start)
            const lists = new Map<number, CallList>()
            let first: number | undefined
            if (later > 0) {
              limiter.take("c", "first", 1, 60)
              first = start
              clock.ms += later
            }
            for (const { key, gap, amount, max } of calls) {
              clock.ms += gap
              first ??= clock.ms
              const list = lists.get(key) ?? new CallList(60_000, first)
              lists.set(key, list)
              expect(limiter.take("c", String(key), max, 60, amount)).toEqual(
                list.take(max, clock.ms, amount),
              )
            }
          },
        ),
        { numRuns: 500 },
      )
    },
  )

  it("gives slots of expired keys to new ones", () => {
    const { clock, take } = limiterAt(0, 2)
    take("a", 1, 1)
    take("b", 1, 1)
    clock.ms += 5000
    expect(take("c", 1, 1).allowed).toBe(true)
    expect(take("d", 1, 1).allowed).toBe(true)
    expect(take("c", 1, 1).allowed).toBe(false)
  })

  it("counts long keys by digest, each on its own", () => {
    const { take } = limiterAt()
    const long = "x".repeat(10_000)
    expect(take(`${long}a`, 1, 60).allowed).toBe(true)
    expect(take(`${long}b`, 1, 60).allowed).toBe(true)
    expect(take(`${long}a`, 1, 60).allowed).toBe(false)
  })

  it("does not let a clock that goes back reopen a window", () => {
    const { clock, take } = limiterAt(100_000)
    take("a", 1, 10)
    clock.ms -= 50_000
    expect(take("a", 1, 10).allowed).toBe(false)
  })
})
