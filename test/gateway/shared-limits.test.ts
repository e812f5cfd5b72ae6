import { setTimeout as sleep } from "node:timers/promises"
import { afterEach, beforeEach, describe, expect, test } from "vitest"
import { startThrowAwayRedis, type ThrowAwayRedis } from "../support/throw-away-redis.ts"
import { until } from "../support/until.ts"
import { type Running, startGateway } from "./harness.ts"
import type { StepDraft } from "./plan-builder.ts"

let redis: ThrowAwayRedis
const running: Running[] = []

beforeEach(async () => {
  redis = await startThrowAwayRedis()
})

afterEach(async () => {
  await Promise.all(running.splice(0).map((each) => each.close()))
  await redis.stop()
})

const limit = (more: object = {}): StepDraft =>
  ({
    ...{ kind: "rate-limit", counter: "c", callsMax: 10, periodSeconds: 60, keys: [{ by: "ip" }] },
    ...more,
  }) as StepDraft

const answer: StepDraft = { kind: "respond", status: 200, headers: [], media: null }

/** A process whose gateway counts in Redis. */
async function start(inbound: StepDraft[], url = redis.url): Promise<Running> {
  const gateway = await startGateway(
    {
      secrets: { redis_url: { env: "REDIS_URL" } },
      shared: { redis: "redis_url", waitMs: 2000, tls: { insecure: false } },
      routes: [{ path: "/a", backend: null, inbound: [...inbound, answer] }],
    },
    { environment: { REDIS_URL: url } },
  )
  running.push(gateway)
  return gateway
}

const isShared = ({ gateway }: Running) => gateway.state().shared?.away === undefined

describe("limits in Redis", () => {
  test("10 per minute over three processes let exactly 10 pass", async () => {
    const processes = await Promise.all([start([limit()]), start([limit()]), start([limit()])])
    await until(() => processes.every(isShared))
    const calls = Array.from({ length: 15 }, () => processes.map(({ url }) => fetch(`${url}/a`))).flat()
    const statuses = (await Promise.all(calls)).map(({ status }) => status)
    expect(statuses.filter((status) => status === 200)).toHaveLength(10)
    expect(statuses.filter((status) => status === 429)).toHaveLength(35)
  })

  test("without Redis each process counts on its own, and a limit that requires it answers 503", async () => {
    const one = await start([limit({ callsMax: 2 })])
    const strict = await start([limit({ callsMax: 2, sharedRequired: true })])
    await until(() => [one, strict].every(isShared))
    expect((await fetch(`${strict.url}/a`)).status).toBe(200)
    await redis.stop()
    await until(() => ![one, strict].some(isShared))
    const alone = [await fetch(`${one.url}/a`), await fetch(`${one.url}/a`), await fetch(`${one.url}/a`)]
    expect(alone.map(({ status }) => status)).toEqual([200, 200, 429])
    const refused = await fetch(`${strict.url}/a`)
    expect(refused.status).toBe(503)
    expect(refused.headers.get("retry-after")).toBe("1")
    expect(await refused.json()).toMatchObject({ type: "urn:sallyport:problem:limits-unavailable" })
    redis = await startThrowAwayRedis([], redis.port)
    await until(() => [one, strict].every(isShared))
    expect((await fetch(`${strict.url}/a`)).status).toBe(200)
  })

  test("a plan is served while Redis is away, and a URL that is not understood is refused with its place", async () => {
    const one = await start([limit()], "redis://127.0.0.1:1")
    expect((await fetch(`${one.url}/a`)).status).toBe(200)
    await until(() => /ECONNREFUSED/.test(one.gateway.state().shared?.away ?? ""))
    await expect(start([limit()], "http://127.0.0.1")).rejects.toThrow(
      "the secret `redis_url` begins with `http:`",
    )
  })

  test("a slot of one process is taken for the others until its request ends", async () => {
    const slot: StepDraft = {
      kind: "limit-concurrency",
      counter: "s",
      key: "all",
      max: 1,
      steps: [],
    } as never
    const [one, other] = [await start([slot]), await start([slot])]
    await until(() => [one, other].every(isShared))
    expect(one.gateway.state().shared?.name).toBe(`127.0.0.1:${redis.port}`)
    expect((await fetch(`${one.url}/a`)).status).toBe(200)
    // The slot was released with the response.
    let status = 429
    for (let look = 0; look < 100 && status !== 200; look += 1) {
      status = (await fetch(`${other.url}/a`)).status
      await sleep(10)
    }
    expect(status).toBe(200)
  })
})
