import fc from "fast-check"
import { describe, expect, it } from "vitest"
import type { Taken } from "../../runtime/limits/limiter.ts"
import { createMemoryLimiter } from "../../runtime/limits/memory.ts"

function limiterAt(start = 0, keysMax = 1000) {
  const clock = { ms: start }
  const limiter = createMemoryLimiter({ now: () => clock.ms, keysMax })
  const take = (key: string, max: number, seconds: number): Taken =>
    limiter.take("c", key, max, seconds) as Taken
  return { clock, limiter, take }
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

  it("never lets a key through because the table is full or empties again", () => {
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
            expect(times.filter((at) => at > clock.ms - 3000).length).toBeLessThanOrEqual(2)
          }
        },
      ),
      { numRuns: 200 },
    )
  })

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
