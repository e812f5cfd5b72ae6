// What a limit that is counted in Redis costs a process, beside one that is counted in its memory. What counts is the CPU time of the process per request, in
// user and system mode: a process can serve as many requests as its one processor has time for, and on a small machine Redis and the clients take theirs too.
// Then how exactly three processes count 5,000 calls a second of 100,000 callers, of whom some call much more often than others.
import { type ChildProcess, fork } from "node:child_process"
import { once } from "node:events"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"
import { fileURLToPath } from "node:url"
import { createMemoryLimiter } from "../../runtime/limits/memory.ts"
import { SharedLimiter } from "../../runtime/limits/shared-limiter.ts"
import { RedisConnection } from "../../runtime/redis/redis-connection.ts"
import { readRedisUrl } from "../../runtime/redis/redis-url.ts"
import { startGateway } from "../gateway/harness.ts"
import { Random } from "../naive/random.ts"
import { startThrowAwayRedis } from "../support/throw-away-redis.ts"
import { until } from "../support/until.ts"
import { type Round, sendLoad } from "./gateway/load.ts"
import { median, rounds, row } from "./gateway/report.ts"

/** A shared limit costs at most so much of the CPU time that a local one costs. */
const bar = 1.6
const roundCount = Number(process.env["SALLYPORT_BENCH_ROUNDS"] ?? 5)
const roundSeconds = Number(process.env["SALLYPORT_BENCH_SECONDS"] ?? 1)
/** Processes that count together, their calls, and how many of a caller are allowed. */
const [takers, takesPerSecond, takeMs, callers, takesMax] = [3, 5_000, 10_000, 100_000, 100]
const kinds = ["local", "shared"] as const
type Kind = (typeof kinds)[number]

/** A gateway whose only work is the limit. It sends its port, and for each message the calls that it did not count in Redis. */
async function serve(kind: Kind, redisUrl: string): Promise<void> {
  const { url, gateway } = await startGateway(
    {
      secrets: { redis_url: { env: "REDIS_URL" } },
      ...(kind === "local" ? {} : { shared: { redis: "redis_url", waitMs: 2000, tls: { insecure: false } } }),
      routes: [
        {
          ...{ path: "/a", backend: null },
          inbound: [
            {
              ...{ kind: "rate-limit", counter: "c", callsMax: 100_000_000, periodSeconds: 60 },
              keys: [{ by: "ip" }],
            },
            { kind: "respond", status: 200, headers: [], media: null },
          ],
        },
      ],
    },
    { environment: { REDIS_URL: redisUrl } },
  )
  await until(() => gateway.state().shared?.away === undefined)
  process.on("message", () => process.send?.(gateway.state().shared?.localTakes ?? 0))
  process.send?.(Number(new URL(url).port))
}

/** What a process has counted, by caller. */
interface Counted {
  readonly sent: readonly number[]
  readonly passed: readonly number[]
  readonly local: number
}

/** Calls of one of several processes at a steady rate. Of the callers, the n-th calls 1/n as often as the first (Zipf's law). */
async function take(redisUrl: string, seed: number): Promise<void> {
  const settings = { address: readRedisUrl(redisUrl), ca: undefined, insecure: false, waitMs: 2000 }
  const connection = new RedisConnection(settings, "sallyport/bench/")
  const limiter = new SharedLimiter(connection, createMemoryLimiter(), "sallyport/bench/")
  await until(() => limiter.away === undefined)
  const random = new Random(seed)
  const counted = { sent: new Array<number>(callers).fill(0), passed: new Array<number>(callers).fill(0) }
  const takes: Promise<void>[] = []
  const beganMs = performance.now()
  for (let nowMs = 0; nowMs < takeMs; nowMs = performance.now() - beganMs) {
    for (const due = (nowMs / 1000) * (takesPerSecond / takers); takes.length < due; ) {
      const caller = Math.floor(callers ** (random.below(1_000_000) / 1_000_000)) - 1
      counted.sent[caller] = (counted.sent[caller] ?? 0) + 1
      takes.push(
        (async () => {
          const { allowed } = await limiter.take("c", `caller ${caller}`, takesMax, 3600)
          if (allowed) counted.passed[caller] = (counted.passed[caller] ?? 0) + 1
        })(),
      )
    }
    await sleep(1)
  }
  await Promise.all(takes)
  process.send?.({ ...counted, local: limiter.localTakes } satisfies Counted, () => limiter.close())
}

/** No caller may get fewer or more calls than the limit allows. */
async function measureError(redisUrl: string): Promise<void> {
  const file = fileURLToPath(import.meta.url)
  const children = Array.from({ length: takers }, (_, at) => fork(file, ["take", redisUrl, String(at + 1)]))
  const found = await Promise.all(children.map((child) => next<Counted>(child)))
  const sumOf = (kind: "sent" | "passed", caller: number) =>
    found.reduce((sum, each) => sum + (each[kind][caller] ?? 0), 0)
  let [right, wrong, limited, called] = [0, 0, 0, 0]
  for (let caller = 0; caller < callers; caller++) {
    const sent = sumOf("sent", caller)
    right += Math.min(sent, takesMax)
    wrong += Math.abs(sumOf("passed", caller) - Math.min(sent, takesMax))
    if (sent > 0) called += 1
    if (sent > takesMax) limited += 1
  }
  const local = found.reduce((sum, each) => sum + each.local, 0)
  row({
    ...{
      what: `calls let through wrongly or refused wrongly, of ${right} of ${called} callers, ${limited} above the limit`,
    },
    ...{ value: wrong, bar: "0", ok: wrong === 0 && limited > 0 && local === 0 },
  })
}

const next = async <T>(child: ChildProcess) => (await once(child, "message"))[0] as T

async function measure(): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "sallyport-bench-"))
  const redis = await startThrowAwayRedis()
  const children = kinds.map((kind) => fork(fileURLToPath(import.meta.url), [kind, redis.url]))
  try {
    const ports: number[] = []
    for (const child of children) ports.push(await next<number>(child))
    const found: Round[][] = kinds.map(() => [])
    // The first round warms up.
    for (let round = 0; round <= roundCount; round += 1)
      for (const [index, child] of children.entries()) {
        const server = { port: ports[index] as number, pid: child.pid as number }
        const load = { method: "GET", paths: ["/a"], headers: {} } as const
        const sent = await sendLoad(server, load, roundSeconds, folder)
        if (round > 0) found[index]?.push(sent)
      }
    const [local = [], shared = []] = found
    rounds("a limit counted in the process", local)
    rounds("a limit counted in Redis", shared)
    const ratios = shared.map(({ cpuMicros }, at) => cpuMicros / (local[at]?.cpuMicros ?? 0))
    const value = median(ratios)
    const spread = `${Math.min(...ratios).toFixed(2)}–${Math.max(...ratios).toFixed(2)}`
    row({
      ...{ what: "CPU time of a request: in Redis / in the process", value: value.toFixed(2), unit: "×" },
      ...{ spread, bar: `≤ ${bar}`, ok: value <= bar },
    })
    const failed = [...local, ...shared].reduce((sum, round) => sum + round.failed, 0)
    children[1]?.send("count")
    const alone = await next<number>(children[1] as ChildProcess)
    row({ what: "requests without a good response", value: failed, bar: "0", ok: failed === 0 })
    row({ what: "calls not counted in Redis", value: alone, bar: "0", ok: alone === 0 })
    await measureError(redis.url)
  } finally {
    for (const child of children) child.kill()
    await redis.stop()
    rmSync(folder, { recursive: true })
  }
}

const [, , kind, redisUrl = "", seed] = process.argv
if (kind === "local" || kind === "shared") await serve(kind, redisUrl)
else if (kind === "take") await take(redisUrl, Number(seed))
else await measure()
