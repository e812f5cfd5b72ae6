import { readFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { afterEach, describe, expect, it } from "vitest"
import { createMemoryLimiter } from "../../runtime/limits/memory.ts"
import { SharedLimiter } from "../../runtime/limits/shared-limiter.ts"
import { RedisConnection, type RedisSettings } from "../../runtime/redis/redis-connection.ts"
import { readRedisUrl } from "../../runtime/redis/redis-url.ts"
import { freePort } from "../support/free-port.ts"
import {
  startThrowAwayCluster,
  startThrowAwayRedis,
  startThrowAwaySentinel,
} from "../support/throw-away-redis.ts"
import { until } from "../support/until.ts"

const closers: (() => unknown)[] = []

afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close()
})

function started<T extends { stop(): Promise<void> }>(server: T): T {
  closers.push(() => server.stop())
  return server
}

/** The limiter of one process. */
function limiterOf(url: string, settings: Partial<RedisSettings> = {}): SharedLimiter {
  const address = readRedisUrl(url)
  const connection = new RedisConnection(
    { address, ca: undefined, insecure: false, waitMs: 10_000, ...settings },
    "sallyport/test/",
  )
  const limiter = new SharedLimiter(connection, createMemoryLimiter(), "sallyport/test/")
  closers.push(() => limiter.close())
  return limiter
}

const available = (...limiters: readonly SharedLimiter[]) =>
  until(() => limiters.every(({ away }) => away === undefined))

/** How many of the calls of several processes pass for each of 30 callers, whose keys are on all nodes. */
async function passed(limiters: readonly SharedLimiter[], calls: number, max: number): Promise<number[]> {
  const callers = Array.from({ length: 30 }, (_, index) => `caller ${index}`)
  return Promise.all(
    callers.map(async (caller) => {
      const takes = limiters.flatMap((each) =>
        Array.from({ length: calls }, () => each.take("c", caller, max, 60)),
      )
      const all = await Promise.all(takes)
      expect(all.some(({ local }) => local)).toBe(false)
      return all.filter(({ allowed }) => allowed).length
    }),
  )
}

describe("Redis Cluster", () => {
  it("counts exactly over the nodes, and gives each slot once", async () => {
    const cluster = started(await startThrowAwayCluster())
    const limiters = [
      limiterOf(`redis+cluster://${cluster.hosts}`),
      // One known node is enough to find the others.
      limiterOf(`redis+cluster://${cluster.hosts.split(",")[2]}`),
    ]
    await available(...limiters)
    expect(new Set(await passed(limiters, 6, 7))).toEqual(new Set([7]))
    const entered = await Promise.all(
      limiters.flatMap((each) => [each.enter("s", "k", 3), each.enter("s", "k", 3)]),
    )
    expect(entered.filter((leave) => leave !== undefined)).toHaveLength(3)
  })

  it("says so when a node is gone, counts alone, and comes back with it", async () => {
    const cluster = started(await startThrowAwayCluster())
    const limiter = limiterOf(`redis+cluster://${cluster.hosts}`)
    await available(limiter)
    await cluster.nodes[1]?.stop()
    await until(async () => {
      await Promise.all(Array.from({ length: 30 }, (_, index) => limiter.take("c", `k ${index}`, 9, 60)))
      return limiter.away !== undefined
    })
    await until(() => /CLUSTERDOWN|ECONNREFUSED/.test(limiter.away ?? ""))
    expect(limiter.take("c", "k", 3, 60)).toMatchObject({ allowed: true, local: true })
  })

  it("follows slots that move to another node", async () => {
    const cluster = started(await startThrowAwayCluster(2))
    const limiter = limiterOf(`redis+cluster://${cluster.hosts}`)
    await available(limiter)
    expect(new Set(await passed([limiter], 2, 3))).toEqual(new Set([2]))
    // All slots go to the first node, without their data.
    const [first, second] = cluster.nodes
    const id = (await first?.command("CLUSTER", "MYID"))?.split("\r\n")[1] ?? ""
    await second?.command("FLUSHALL")
    const moves = Array.from({ length: 8192 }, (_, slot) => [
      "CLUSTER",
      "SETSLOT",
      String(8192 + slot),
      "NODE",
      id,
    ])
    // The old owner first, and with a lower epoch: a message in which it still claims the slots would take them back.
    await first?.command("CLUSTER", "BUMPEPOCH")
    for (const node of [second, first]) expect(await node?.session(...moves)).toBe("+OK\r\n")
    await available(limiter)
    expect((await passed([limiter], 4, 3)).every((number) => number === 1 || number === 3)).toBe(true)
  })

  it("is named when the URL is that of one server", async () => {
    const cluster = started(await startThrowAwayCluster())
    const limiter = limiterOf(`redis://${cluster.hosts.split(",")[0]}`)
    await until(async () => {
      if (limiter.away === undefined)
        for (let index = 0; index < 9; index += 1) await limiter.take("c", String(index), 9, 60)
      return limiter.away?.includes("`redis+cluster://`") === true
    })
  })
})

describe("Redis Sentinel", () => {
  it.each([[undefined], ["pass"]])(
    "goes on with the new primary after a failover (password: %s)",
    async (password) => {
      const { primary, replica, sentinel } = started(await startThrowAwaySentinel(password))
      const credentials = password === undefined ? "" : `:${password}@`
      const url = `redis+sentinel://${credentials}127.0.0.1:${sentinel.port}/main`
      const limiters = [limiterOf(url), limiterOf(url)]
      await available(...limiters)
      expect(await limiters[0]?.take("c", "k", 3, 60)).toMatchObject({ allowed: true, remaining: 2 })
      await primary.stop()
      await until(() => limiters.every(({ away }) => away !== undefined))
      expect(limiters[0]?.take("c", "k", 3, 60)).toMatchObject({ allowed: true, local: true })
      await available(...limiters)
      expect(new Set(await passed(limiters, 6, 7))).toEqual(new Set([7]))
      const keys = await replica.session(...(password === undefined ? [] : [["AUTH", password]]), ["DBSIZE"])
      expect(Number(keys.slice(1))).toBeGreaterThanOrEqual(30)
    },
  )

  it("leaves a primary that hangs", async () => {
    const { primary, sentinel } = started(await startThrowAwaySentinel())
    const limiter = limiterOf(`redis+sentinel://127.0.0.1:${sentinel.port}/main`, { waitMs: 100 })
    await available(limiter)
    process.kill(primary.pid, "SIGSTOP")
    await limiter.take("c", "k", 3, 60)
    expect(limiter.away).toBe("it did not reply within 100 ms")
    await available(limiter)
    expect(await limiter.take("c", "k", 3, 60)).toMatchObject({ allowed: true })
  })

  it("names a group that the Sentinel does not know, and a Sentinel that cannot be reached", async () => {
    const { sentinel } = started(await startThrowAwaySentinel())
    const unknown = limiterOf(`redis+sentinel://127.0.0.1:${sentinel.port}/other`)
    await until(() => unknown.away === "the Sentinels know no group `other`; check the URL of Redis")
    const gone = limiterOf(`redis+sentinel://127.0.0.1:${await freePort()}/main`)
    await until(() => gone.away === "Sentinel: it cannot be reached")
  })
})

describe("TLS", () => {
  const folder = fileURLToPath(new URL("../gateway/certificates/", import.meta.url))
  const ca = readFileSync(`${folder}ca.pem`, "utf8")
  const flags = (certificate: string) => [
    ...["--tls-cert-file", `${folder}${certificate}.pem`, "--tls-key-file", `${folder}server.key`],
    ...["--tls-ca-cert-file", `${folder}ca.pem`, "--tls-auth-clients", "no"],
  ]

  it("counts over TLS, by name and by address", async () => {
    const port = await freePort()
    started(await startThrowAwayRedis(["--tls-port", String(port), ...flags("good")]))
    const limiters = ["localhost", "127.0.0.1"].map((host) => limiterOf(`rediss://${host}:${port}`, { ca }))
    await available(...limiters)
    expect(new Set(await passed(limiters, 6, 7))).toEqual(new Set([7]))
  })

  it.each([
    ["wrong-name", { ca }, /does not match certificate's altnames/],
    ["expired", { ca }, /certificate has expired/],
    ["unknown-authority", { ca }, /unable to verify|unable to get|self-signed/],
  ])("refuses the certificate %s, and takes it with `insecure`", async (certificate, settings, words) => {
    const port = await freePort()
    started(await startThrowAwayRedis(["--tls-port", String(port), ...flags(certificate)]))
    const limiter = limiterOf(`rediss://127.0.0.1:${port}`, settings)
    await until(() => words.test(limiter.away ?? ""))
    await available(limiterOf(`rediss://127.0.0.1:${port}`, { insecure: true }))
  })

  it("counts in a cluster over TLS, whose nodes are found by a name", async () => {
    const ports = await Promise.all([freePort(), freePort(), freePort()])
    const left = [...ports]
    const cluster = started(
      await startThrowAwayCluster(3, () => [
        ...["--tls-port", String(left.shift()), "--tls-cluster", "yes"],
        ...flags("good"),
      ]),
    )
    expect(cluster.nodes).toHaveLength(3)
    const limiters = [limiterOf(`rediss+cluster://localhost:${ports[0]}`, { ca })]
    await available(...limiters)
    expect(new Set(await passed(limiters, 9, 7))).toEqual(new Set([7]))
  })
})

describe("users", () => {
  /** The rights that the manual names. */
  const rights = [
    ...["+set", "+zrem", "+evalsha", "+eval", "+get", "+time", "+pexpire", "+zadd", "+zcard"],
    ...["+zremrangebyscore"],
  ]
  const user = (...more: readonly string[]) => [
    "--user",
    "app",
    "on",
    ">p",
    "~sallyport/*",
    ...rights,
    ...more,
  ]

  it("needs no more than the rights that the manual names", async () => {
    const redis = started(await startThrowAwayRedis(user()))
    const limiters = [1, 2].map(() => limiterOf(`redis://app:p@127.0.0.1:${redis.port}`))
    await available(...limiters)
    expect(new Set(await passed(limiters, 6, 7))).toEqual(new Set([7]))
    const leave = await limiters[0]?.enter("s", "k", 1)
    leave?.()
    await until(async () => (await limiters[1]?.enter("s", "k", 1)) !== undefined)
    expect(limiters.map(({ away }) => away)).toEqual([undefined, undefined])
  })

  it("needs `CLUSTER SLOTS` besides in a cluster", async () => {
    const cluster = started(await startThrowAwayCluster(3, () => user("+cluster|slots")))
    const limiter = limiterOf(`redis+cluster://app:p@${cluster.hosts}`)
    await available(limiter)
    expect(new Set(await passed([limiter], 9, 7))).toEqual(new Set([7]))
  })
})
