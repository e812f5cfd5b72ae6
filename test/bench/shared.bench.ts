// What a limit that is counted in Redis costs a process, beside one that is counted in its memory. What counts is the CPU time of the process per request, in
// user and system mode: a process can serve as many requests as its one processor has time for, and on a small machine Redis and the clients take theirs too.
import { type ChildProcess, fork } from "node:child_process"
import { once } from "node:events"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { startGateway, until } from "../gateway/harness.ts"
import { startThrowAwayRedis } from "../support/throw-away-redis.ts"
import { type Round, sendLoad } from "./gateway/load.ts"
import { median, rounds, row } from "./gateway/report.ts"

/** A shared limit costs at most so much of the CPU time that a local one costs. */
const bar = 1.6
const roundCount = Number(process.env["SALLYPORT_BENCH_ROUNDS"] ?? 5)
const roundSeconds = Number(process.env["SALLYPORT_BENCH_SECONDS"] ?? 1)
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

const next = async (child: ChildProcess) => (await once(child, "message"))[0] as number

async function measure(): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "sallyport-bench-"))
  const redis = await startThrowAwayRedis()
  const children = kinds.map((kind) => fork(fileURLToPath(import.meta.url), [kind, redis.url]))
  try {
    const ports: number[] = []
    for (const child of children) ports.push(await next(child))
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
    const alone = await next(children[1] as ChildProcess)
    row({ what: "requests without a good response", value: failed, bar: "0", ok: failed === 0 })
    row({ what: "calls not counted in Redis", value: alone, bar: "0", ok: alone === 0 })
  } finally {
    for (const child of children) child.kill()
    await redis.stop()
    rmSync(folder, { recursive: true })
  }
}

const [, , kind, redisUrl = ""] = process.argv
if (kind === "local" || kind === "shared") await serve(kind, redisUrl)
else await measure()
