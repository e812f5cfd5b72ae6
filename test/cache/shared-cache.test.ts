import { createHash } from "node:crypto"
import { readFileSync } from "node:fs"
import { setTimeout as sleep } from "node:timers/promises"
import { afterEach, beforeEach, describe, expect, test } from "vitest"
import type { Cached } from "../../runtime/cache/cache.ts"
import { createMemoryCache } from "../../runtime/cache/memory.ts"
import { SharedCache } from "../../runtime/cache/shared-cache.ts"
import { RedisConnection } from "../../runtime/redis/redis-connection.ts"
import { readRedisUrl } from "../../runtime/redis/redis-url.ts"
import {
  startThrowAwayCluster,
  startThrowAwayRedis,
  type ThrowAwayRedis,
} from "../support/throw-away-redis.ts"
import { until } from "../support/until.ts"

const room = 16 * 2 ** 20
let redis: ThrowAwayRedis
const closers: (() => void)[] = []

beforeEach(async () => {
  redis = await startThrowAwayRedis()
})

afterEach(async () => {
  for (const close of closers.splice(0)) close()
  await redis.stop()
})

/** The cache of one process. `clock`: the time of its host, in milliseconds besides the real one. */
async function process(url = redis.url, clock = { aheadMs: 0 }): Promise<SharedCache> {
  const settings = { address: readRedisUrl(url), ca: undefined, insecure: false, waitMs: 2000 }
  const cache = new SharedCache({
    connection: new RedisConnection(settings, "sallyport/test/"),
    ...{ local: createMemoryCache(), prefix: "sallyport/test/", bytesMax: room },
    now: () => Date.now() + clock.aheadMs,
  })
  closers.push(() => cache.close())
  await until(() => cache.away === undefined)
  return cache
}

const textOf = (cached: Cached | undefined) => cached?.bytes.toString()
const bytes = (length: number) => Buffer.alloc(length, "x")

const partOf = (key: string) => (createHash("sha256").update(key).digest()[31] as number) % 16

/** What Redis uses for data, in bytes. */
async function usedBytes(): Promise<number> {
  return Number(/used_memory_dataset:(\d+)/.exec(await redis.command("INFO", "memory"))?.[1])
}

describe("a shared cache", () => {
  test("gives what one process stored to all, until it expires or one of them removes it", async () => {
    const clock = { aheadMs: 0 }
    const [one, other] = [await process(), await process(redis.url, clock)]
    const before = Date.now()
    expect(await one.set("a", Buffer.from([0, 255, 13, 10]), 60_000)).toBe(true)
    const found = await other.get("a")
    expect([...(found?.bytes ?? [])]).toEqual([0, 255, 13, 10])
    expect(found?.storedAtMs).toBeGreaterThanOrEqual(before)
    expect((found?.expiresAtMs ?? 0) - (found?.storedAtMs ?? 0)).toBe(60_000)
    await one.set("a", Buffer.from("newer"), 60_000)
    expect(textOf(await other.get("a"))).toBe("newer")
    await other.remove("a")
    expect(await one.get("a")).toBeUndefined()

    await one.set("b", Buffer.from("b"), 60_000)
    clock.aheadMs = 61_000
    expect(await other.get("b")).toBeUndefined()
    expect(textOf(await one.get("b"))).toBe("b")
    expect(await one.set("b", Buffer.from("no time"), 0)).toBe(false)
    expect(await one.get("b")).toBeUndefined()
    expect(other.stats()).toMatchObject({ hits: 2, misses: 1, stores: 0, entries: 0 })
    expect(one.stats()).toMatchObject({ hits: 1, misses: 2, stores: 3 })
  })

  test("stays within its room, and gives up first what was not read for the longest time", async () => {
    const cache = await process()
    const empty = await usedBytes()
    await cache.set("kept", bytes(1000), 600_000)
    for (let from = 0; from < 14_000; from += 200) {
      await Promise.all(
        Array.from({ length: 200 }, (_, index) => cache.set(`k${from + index}`, bytes(1000), 600_000)),
      )
      expect(textOf(await cache.get("kept"))?.length).toBe(1000)
    }
    expect(await cache.get("k0")).toBeUndefined()
    expect(textOf(await cache.get("k13999"))?.length).toBe(1000)
    const { stores, evictions } = cache.stats()
    expect(stores).toBe(14_001)
    const left = stores - evictions
    expect(left * 1540).toBeLessThanOrEqual(room)
    expect(left * 1540).toBeGreaterThan(room * 0.98)
    const used = (await usedBytes()) - empty
    // The cost of an entry is what Redis needs for it, with some reserve.
    expect(used).toBeLessThan(room)
    expect(used).toBeGreaterThan(room * 0.75)
  })

  test("refuses an entry larger than 1/128 of the room, and does not keep the older one of its key", async () => {
    const cache = await process()
    expect(await cache.set("a", bytes(room / 128 - 540), 60_000)).toBe(true)
    expect(await cache.set("a", bytes(room / 128), 60_000)).toBe(false)
    expect(await cache.get("a")).toBeUndefined()
  })

  test("finds room for a large entry among small ones after a few attempts, none of which blocks the server for long", async () => {
    const cache = await process()
    // As many as fill the part of the large one.
    const small = Array.from({ length: 40_000 }, (_, index) => `k${index}`).filter(
      (key) => partOf(key) === partOf("large"),
    )
    for (let from = 0; from < small.length; from += 200)
      await Promise.all(small.slice(from, from + 200).map((key) => cache.set(key, bytes(1), 600_000)))
    let attempts = 1
    while (!(await cache.set("large", bytes(120_000), 600_000)) && attempts < 10) attempts += 1
    // 120,000 bytes are the room of 223 small ones, and one attempt gives up 200.
    expect(attempts).toBe(2)
    expect(textOf(await cache.get("large"))?.length).toBe(120_000)
  })

  test("counts the room of expired entries as free", async () => {
    const cache = await process()
    for (let index = 0; index < 200; index += 1) await cache.set(`short${index}`, bytes(100_000), 50)
    await sleep(60)
    for (let index = 0; index < 300; index += 1) await cache.set(`long${index}`, bytes(10), 600_000)
    const { evictions } = cache.stats()
    let sum = 0
    for (let part = 0; part < 16; part += 1)
      sum += Number(
        (await redis.command("HGET", `sallyport/test/cache/{${part}}/sizes`, "")).split("\r\n")[1] ?? 0,
      )
    expect(sum).toBe(300 * 550)
    expect(evictions).toBeLessThan(200)
    // An index is not kept longer than its entries.
    expect(await redis.command("PTTL", "sallyport/test/cache/{0}/sizes")).not.toContain("-1")
  })

  test("uses the cache of the process while Redis is unavailable, and comes back by itself", async () => {
    const cache = await process()
    await cache.set("a", Buffer.from("in Redis"), 60_000)
    await redis.stop()
    await until(() => cache.away !== undefined)
    expect(await cache.get("a")).toBeUndefined()
    expect(await cache.set("a", Buffer.from("here"), 60_000)).toBe(true)
    expect(textOf(await cache.get("a"))).toBe("here")
    await cache.remove("a")
    expect(await cache.get("a")).toBeUndefined()
    await cache.set("a", Buffer.from("here"), 60_000)
    redis = await startThrowAwayRedis([], redis.port)
    await until(() => cache.away === undefined)
    expect(await cache.get("a")).toBeUndefined()
    expect(await cache.set("a", Buffer.from("in Redis again"), 60_000)).toBe(true)
    expect(textOf(await cache.get("a"))).toBe("in Redis again")
    // The next time without Redis must not bring back what is older.
    await redis.stop()
    await until(() => cache.away !== undefined)
    expect(await cache.get("a")).toBeUndefined()
    redis = await startThrowAwayRedis([], redis.port)
  })

  test("survives a server that lost an index, or that evicted entries on its own", async () => {
    const cache = await process()
    for (let index = 0; index < 100; index += 1) await cache.set(`k${index}`, bytes(50_000), 600_000)
    for (let part = 0; part < 16; part += 1) {
      await redis.command("DEL", `sallyport/test/cache/{${part}}/order`)
      if (part % 2 === 0) await redis.command("DEL", `sallyport/test/cache/{${part}}/sizes`)
    }
    let stored = 0
    for (let index = 0; index < 1000; index += 1)
      if (await cache.set(`n${index}`, bytes(50_000), 600_000)) stored += 1
    expect(stored).toBe(1000)
    expect(textOf(await cache.get("n999"))?.length).toBe(50_000)
  })

  test("names a right that is missing, and does not try again at each probe", async () => {
    const user = ["--user", "app", "on", ">p", "~sallyport/*", "+set", "+eval", "+evalsha", "+get"]
    const guarded = await startThrowAwayRedis(user)
    try {
      const cache = await process(`redis://app:p@127.0.0.1:${guarded.port}`)
      // In a script Redis 7.0 does not name the command.
      expect(await cache.set("a", bytes(10), 60_000)).toBe(true)
      expect(cache.away).toMatch(
        /^the user may not run .*allow the commands that the manual lists.* \(NOPERM\)$/,
      )
      await sleep(800)
      expect(cache.away).toMatch(/NOPERM/)
      await guarded.command("ACL", "SETUSER", "app", ...["+hdel", "+hget", "+hincrby", "+hset", "+pttl"])
      await guarded.command("CLIENT", "KILL", "USER", "app")
      await until(() => cache.away === undefined)
      expect(await cache.get("b")).toBeUndefined()
      await guarded.command("ACL", "SETUSER", "app", "-get")
      expect(await cache.get("a")).toBeDefined()
      expect(cache.away).toContain("the user may not run `get`;")
    } finally {
      await guarded.stop()
    }
  })

  test("needs no more than the rights that the manual names", async () => {
    const page = readFileSync("runtime/docs/production.md", "utf8")
    const rights = page
      .split("\n")
      .flatMap((line) => (line.startsWith("ACL SETUSER") ? (line.match(/\+\S+/g) ?? []) : []))
    expect(rights).toContain("+evalsha")
    const user = ["--user", "app", "on", ">p", "~sallyport/*", ...rights]
    const guarded = await startThrowAwayRedis(user)
    try {
      const cache = await process(`redis://app:p@127.0.0.1:${guarded.port}`)
      for (let index = 0; index < 200; index += 1) await cache.set(`k${index}`, bytes(100_000), 60_000)
      expect(textOf(await cache.get("k199"))?.length).toBe(100_000)
      await cache.remove("k199")
      expect(cache.away).toBeUndefined()
      expect(await cache.get("k199")).toBeUndefined()
      expect(cache.stats().evictions).toBeGreaterThan(0)
    } finally {
      await guarded.stop()
    }
  })

  test("spreads over the nodes of a cluster", async () => {
    const cluster = await startThrowAwayCluster()
    try {
      const cache = await process(`redis+cluster://${cluster.hosts}`)
      for (let index = 0; index < 200; index += 1)
        expect(await cache.set(`k${index}`, Buffer.from(`${index}`), 60_000)).toBe(true)
      for (let index = 0; index < 200; index += 1)
        expect(textOf(await cache.get(`k${index}`))).toBe(`${index}`)
      await cache.remove("k7")
      expect(await cache.get("k7")).toBeUndefined()
      for (const node of cluster.nodes)
        expect(Number(/:(\d+)/.exec(await node.command("DBSIZE"))?.[1])).toBeGreaterThan(20)
    } finally {
      await cluster.stop()
    }
  })
})
