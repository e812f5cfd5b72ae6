import { once } from "node:events"
import { type IncomingMessage, request } from "node:http"
import { text } from "node:stream/consumers"
import { afterEach, beforeEach, expect, test } from "vitest"
import { startThrowAwayRedis, type ThrowAwayRedis } from "../support/throw-away-redis.ts"
import { until } from "../support/until.ts"
import { type Running, startGateway, startUpstream } from "./harness.ts"

let redis: ThrowAwayRedis
const stops: (() => Promise<unknown>)[] = []

beforeEach(async () => {
  redis = await startThrowAwayRedis()
})

afterEach(async () => {
  await Promise.all(stops.splice(0).map((stop) => stop()))
  await redis.stop()
})

/** A backend that says how often it was asked. */
async function countingBackend(): Promise<string> {
  let asked = 0
  const upstream = await startUpstream((_, response) => {
    asked += 1
    response.writeHead(200, { vary: "X-Who" }).end(`answer ${asked}`)
  })
  stops.push(() => upstream.close())
  return upstream.url
}

/** A process whose gateway caches in Redis. */
async function start(backend: string): Promise<Running> {
  const gateway = await startGateway(
    {
      secrets: { redis_url: { env: "REDIS_URL" } },
      shared: { redis: "redis_url", waitMs: 2000, tls: { insecure: false }, cacheBytesMax: 16 * 2 ** 20 },
      backends: { b: backend },
      routes: [
        {
          ...{ path: "/a", backend: "b" },
          inbound: [
            {
              ...{ kind: "cache-lookup", varyHeaders: [], varyQuery: null, authorized: false },
              ...{ downstream: "none", mustRevalidate: true },
            },
          ],
          outbound: [{ kind: "cache-store", seconds: 60 }],
        },
      ],
    },
    { environment: { REDIS_URL: redis.url } },
  )
  stops.push(() => gateway.close())
  return gateway
}

const isShared = ({ gateway }: Running) => {
  const { sharedCache } = gateway.state()
  return sharedCache !== undefined && sharedCache.away === undefined
}
/** Asks as a load balancer does: all processes get the same host name, which is part of the key. */
async function ask({ url }: Running, who = "ann"): Promise<string> {
  const asking = request(`${url}/a`, { headers: { host: "api.example", "x-who": who }, agent: false }).end()
  const [response] = (await once(asking, "response")) as [IncomingMessage]
  return text(response)
}

test("a response that one process stored is given by all; without Redis each has its own cache", async () => {
  const backend = await countingBackend()
  const [one, other] = [await start(backend), await start(backend)]
  await until(() => [one, other].every(isShared))
  expect(await ask(one)).toBe("answer 1")
  // The response, and the list of the headers by which it varies.
  await until(() => one.gateway.state().cache.stores === 2)
  expect([await ask(other), await ask(one)]).toEqual(["answer 1", "answer 1"])
  expect(other.gateway.state().cache).toMatchObject({ stores: 0, hits: 2, misses: 0 })
  expect(await ask(other, "bob")).toBe("answer 2")
  await until(() => other.gateway.state().cache.stores === 2)
  expect(await ask(one, "bob")).toBe("answer 2")

  await redis.stop()
  // The first call of each finds that Redis is gone.
  expect([await ask(one), await ask(other)]).toEqual(["answer 3", "answer 4"])
  expect([one, other].some(isShared)).toBe(false)
  expect([await ask(one), await ask(one)]).toEqual(["answer 3", "answer 3"])
  expect([await ask(other), await ask(other)]).toEqual(["answer 4", "answer 4"])
  redis = await startThrowAwayRedis([], redis.port)
  await until(() => [one, other].every(isShared))
  const { stores } = one.gateway.state().cache
  expect(await ask(one)).toBe("answer 5")
  await until(() => one.gateway.state().cache.stores === stores + 2)
  expect(await ask(other)).toBe("answer 5")
})
