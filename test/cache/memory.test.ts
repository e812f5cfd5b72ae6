import { expect, test } from "vitest"
import { Flights } from "../../runtime/cache/cache.ts"
import { createMemoryCache } from "../../runtime/cache/memory.ts"

function cacheWith(bytesMax: number) {
  const clock = { ms: 1_000 }
  return { clock, cache: createMemoryCache({ bytesMax, now: () => clock.ms }) }
}

test("what was kept is found until its time is up", () => {
  const { cache, clock } = cacheWith(10_000)
  expect(cache.set("a", Buffer.from("one"), 5_000)).toBe(true)
  expect(cache.get("a")).toMatchObject({ bytes: Buffer.from("one"), storedAtMs: 1_000, expiresAtMs: 6_000 })
  clock.ms = 5_999
  expect(cache.get("a")).toBeDefined()
  clock.ms = 6_000
  expect(cache.get("a")).toBeUndefined()
  expect(cache.stats()).toMatchObject({ hits: 2, misses: 1, stores: 1, entries: 0, bytes: 0 })
})

test("nothing is kept for no time", () => {
  const { cache } = cacheWith(10_000)
  cache.set("a", Buffer.from("one"), 1_000)
  expect(cache.set("a", Buffer.from("two"), 0)).toBe(false)
  expect(cache.get("a")).toBeUndefined()
})

test("what was not read for the longest time leaves first", () => {
  const { cache } = cacheWith(13_800)
  const kilobyte = Buffer.alloc(500)
  for (const key of "abcdefghijk") cache.set(key, kilobyte, 1_000)
  cache.get("b")
  cache.set("l", kilobyte, 1_000)
  expect(cache.get("a")).toBeUndefined()
  expect(cache.get("b")).toBeDefined()
  cache.set("m", kilobyte, 1_000)
  expect(cache.get("c")).toBeUndefined()
  expect(cache.get("b")).toBeDefined()
  const { bytes, evictions } = cache.stats()
  expect(bytes).toBeLessThanOrEqual(13_800)
  expect(evictions).toBeGreaterThan(0)
})

test("an entry that would need too much of the room is not kept, and the old one is gone", () => {
  const { cache } = cacheWith(13_800)
  cache.set("a", Buffer.from("old"), 1_000)
  expect(cache.set("a", Buffer.alloc(1_000), 1_000)).toBe(false)
  expect(cache.get("a")).toBeUndefined()
})

test("a piece of a large buffer does not keep the whole", () => {
  const { cache } = cacheWith(80_000)
  cache.set("a", Buffer.alloc(1_000_000).subarray(0, 10), 1_000)
  const found = cache.get("a")
  expect(found?.bytes.buffer.byteLength).toBe(10)
})

test("the bytes are counted exactly, whatever happens to them", () => {
  const { cache, clock } = cacheWith(20_000)
  for (let at = 0; at < 2_000; at += 1) {
    cache.set(`k${at % 37}`, Buffer.alloc((at * 31) % 700), 1 + (at % 50))
    if (at % 3 === 0) cache.get(`k${(at * 7) % 37}`)
    if (at % 5 === 0) cache.remove(`k${(at * 11) % 37}`)
    clock.ms += at % 9
    expect(cache.stats().bytes).toBeLessThanOrEqual(20_000)
  }
  for (let at = 0; at < 37; at += 1) cache.remove(`k${at}`)
  expect(cache.stats()).toMatchObject({ entries: 0, bytes: 0 })
})

test("the first makes, the others wait for it", async () => {
  const flights = new Flights()
  const first = flights.board("a", 1_000)
  const second = flights.board("a", 1_000)
  expect(flights.board("b", 1_000).leads).toBe(true)
  if (!first.leads || second.leads) throw new Error("the first leads")
  let landed = false
  void second.landed.then(() => {
    landed = true
  })
  await Promise.resolve()
  expect(landed).toBe(false)
  first.land()
  await second.landed
  const next = flights.board("a", 1_000)
  expect(next.leads).toBe(true)
  // Landing twice does not end the flight of another.
  first.land()
  expect(flights.board("a", 1_000).leads).toBe(false)
})

test("nobody waits for ever for a leader who does not come back", async () => {
  const flights = new Flights()
  flights.board("a", 5)
  const second = flights.board("a", 5)
  if (second.leads) throw new Error("the first leads")
  await second.landed
})
