import fc from "fast-check"
import { afterEach, beforeEach, describe, expect, it } from "vitest"
import type { Taken } from "../../runtime/limits/limiter.ts"
import { createMemoryLimiter } from "../../runtime/limits/memory.ts"
import { SharedLimiter } from "../../runtime/limits/shared-limiter.ts"
import { enterScript, leaseMs, renewScript } from "../../runtime/limits/shared-slots.ts"
import { takeScript } from "../../runtime/limits/take-script.ts"
import { RedisConnection } from "../../runtime/redis/redis-connection.ts"
import { readRedisUrl } from "../../runtime/redis/redis-url.ts"
import { startThrowAwayRedis, type ThrowAwayRedis } from "../support/throw-away-redis.ts"
import { until } from "../support/until.ts"
import { randomCall } from "./random-call.ts"

let redis: ThrowAwayRedis
const closers: (() => void)[] = []

beforeEach(async () => {
  redis = await startThrowAwayRedis()
})

afterEach(async () => {
  for (const close of closers.splice(0)) close()
  await redis.stop()
})

/** The limiter of one process. */
async function process(
  url = redis.url,
  waitMs = 2000,
  available = true,
): Promise<SharedLimiter & { changes: (string | undefined)[] }> {
  const changes: (string | undefined)[] = []
  const settings = {
    ...{ address: readRedisUrl(url), ca: undefined, insecure: false, waitMs },
    onChange: (away: string | undefined) => void changes.push(away),
  }
  const connection = new RedisConnection(settings, "sallyport/test/")
  const limiter = new SharedLimiter(connection, createMemoryLimiter(), "sallyport/test/")
  closers.push(() => limiter.close())
  if (available) await until(() => changes.includes(undefined))
  return Object.assign(limiter, { changes })
}

describe("shared limiter", () => {
  it("lets exactly 10 of 90 calls pass that three processes make at once", async () => {
    const processes = await Promise.all([process(), process(), process()])
    const takes = await Promise.all(
      Array.from({ length: 30 }, () => processes.map((each) => each.take("c", "caller", 10, 60))).flat(),
    )
    expect(takes.filter(({ allowed }) => allowed)).toHaveLength(10)
    expect(takes.some(({ local }) => local)).toBe(false)
    expect(await processes[0]?.take("c", "another", 10, 60)).toMatchObject({ allowed: true, remaining: 9 })
  })

  it("counts as memory does, for any amounts, gaps and limits", async () => {
    const { Redis } = await import("ioredis")
    const client = new Redis(redis.url)
    closers.push(() => client.disconnect())
    const call = randomCall(3)
    let run = 0
    await fc.assert(
      fc.asyncProperty(fc.array(call, { maxLength: 80 }), async (calls) => {
        run += 1
        // The parts of memory begin with its first call, those of the server with the epoch.
        const clock = { ms: 60_000 }
        const memory = createMemoryLimiter({ now: () => clock.ms })
        for (const { key, gap, amount, max } of calls) {
          const own = memory.take("c", String(key), max, 60, amount)
          const [allowed, total, waitMs] = (await client.eval(
            ...[takeScript.text, 1, `${run}/${key}`, clock.ms, max, 60_000, amount],
          )) as [number, number, number]
          const shared: Taken = {
            allowed: allowed === 1,
            remaining: Math.max(0, max - total),
            resetSeconds: Math.max(1, Math.ceil(waitMs / 1000)),
          }
          expect(shared).toEqual({ ...own, remaining: Math.max(0, own.remaining) })
          clock.ms += gap
        }
      }),
      { numRuns: 60 },
    )
  })

  it("keeps no key longer than its period, and no caller's name", async () => {
    const limiter = await process()
    await limiter.take("c", "ada@example.com", 10, 60)
    const keys = (await redis.command("KEYS", "*limit*"))
      .split("\r\n")
      .filter((line) => line.includes("limit"))
    expect(keys).toHaveLength(1)
    expect(keys[0]).not.toContain("ada@")
    expect(Number((await redis.command("PTTL", keys[0] ?? "")).slice(1))).toBeLessThanOrEqual(60_001)
  })

  it("counts alone at once when the server is gone, says so, and comes back by itself", async () => {
    const limiter = await process()
    await limiter.take("c", "k", 3, 60)
    await redis.stop()
    await until(() => limiter.away !== undefined)
    const first = limiter.take("c", "k", 1, 60)
    expect(first).toEqual({ allowed: true, remaining: 0, resetSeconds: 60, local: true })
    expect(limiter.take("c", "k", 1, 60)).toMatchObject({ allowed: false, local: true })
    expect(limiter.away).toMatch(/ECONNREFUSED|closed|not reached|reset/i)
    expect(limiter.localTakes).toBeGreaterThanOrEqual(2)
    redis = await startThrowAwayRedis([], redis.port)
    await until(() => limiter.away === undefined)
    // The server has forgotten its scripts.
    expect(await limiter.take("c", "k", 3, 60)).toEqual({ allowed: true, remaining: 2, resetSeconds: 60 })
    expect(limiter.changes.at(-1)).toBeUndefined()
  })

  it("knows without a call that the server is gone, each time, and reports each change once", async () => {
    const limiter = await process()
    for (const time of [1, 2, 3]) {
      await redis.stop()
      await until(() => limiter.away !== undefined)
      redis = await startThrowAwayRedis([], redis.port)
      await until(() => limiter.away === undefined)
      expect(limiter.changes.filter((away) => away === undefined)).toHaveLength(1 + time)
    }
  })

  it("waits for a server that hangs only once, and not longer than `wait`", async () => {
    const limiter = await process(redis.url, 50)
    globalThis.process.kill(redis.pid, "SIGSTOP")
    const taken = await limiter.take("c", "k", 3, 60)
    expect(taken).toMatchObject({ allowed: true, local: true })
    expect(limiter.away).toBe("it did not reply within 50 ms")
    expect(limiter.take("c", "k", 3, 60)).not.toBeInstanceOf(Promise)
    globalThis.process.kill(redis.pid, "SIGCONT")
    await until(() => limiter.away === undefined)
  })

  it.each([
    ["a missing password", ["--requirepass", "right"], "", /requires a password.*NOAUTH/],
    ["a wrong password", ["--requirepass", "right"], ":wrong@", /refuses the user or password.*WRONGPASS/],
    [
      "a user without permission",
      ["--user", "app", "on", ">x", "~*", "+ping", "+info", "+client"],
      "app:x@",
      /may not run.*NOPERM/,
    ],
    ["a full server", ["--maxmemory", "1"], "", /memory is full.*OOM/],
    ["a replica", ["--replicaof", "127.0.0.1 1"], "", /replica/],
  ])("names %s", async (_, flags, credentials, words) => {
    const other = await startThrowAwayRedis(flags)
    try {
      const limiter = await process(`redis://${credentials}127.0.0.1:${other.port}`, 2000, false)
      await until(() => words.test(limiter.away ?? ""))
      expect(limiter.take("c", "k", 3, 60)).toMatchObject({ allowed: true, local: true })
    } finally {
      await other.stop()
    }
  })

  it("gives each slot to one request of all processes, and frees it when the request ends", async () => {
    const [one, other] = [await process(), await process()]
    const leave = await one.enter("c", "k", 2)
    expect(await other.enter("c", "k", 2)).toBeTypeOf("function")
    expect(await one.enter("c", "k", 2)).toBeUndefined()
    expect(await other.enter("c", "another", 1)).toBeTypeOf("function")
    leave?.()
    leave?.()
    await until(async () => (await other.enter("c", "k", 2)) !== undefined)
    expect(await one.enter("c", "k", 2)).toBeUndefined()
  })

  it("frees the slots of a process that does not renew them, and not before", async () => {
    const { Redis } = await import("ioredis")
    const client = new Redis(redis.url)
    closers.push(() => client.disconnect())
    const enter = (atMs: number, member: string) =>
      client.eval(enterScript.text, 1, "slots", atMs, leaseMs, 2, member)
    expect(await enter(1000, "a")).toBe(1)
    expect(await enter(1000, "b")).toBe(1)
    expect(await client.eval(renewScript.text, 1, "slots", 6000, leaseMs, "b")).toBe(1)
    expect(await enter(1000 + leaseMs - 1, "c")).toBe(0)
    expect(await enter(1000 + leaseMs, "c")).toBe(1)
    expect(await enter(6000 + leaseMs - 1, "d")).toBe(0)
    expect(await enter(6000 + leaseMs, "d")).toBe(1)
    expect(await client.pttl("slots")).toBeGreaterThan(leaseMs - 5000)
  })
})
