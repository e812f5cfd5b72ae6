// A cold start of the engine over PostgreSQL: the whole load of a store, and checks that are answered from pages meanwhile. `SIZES` is the
// sizes in millions of tuples (default: 1), e.g. `SIZES=1,10 npm run bench cold`. Ten million take 4 GB of disk and three minutes to make.
import { fork } from "node:child_process"
import { once } from "node:events"
import { monitorEventLoopDelay } from "node:perf_hooks"
import { fileURLToPath } from "node:url"
import { Client } from "pg"
import { Engine } from "../../runtime/check/engine.ts"
import { migrate } from "../../runtime/store/migrate.ts"
import { openPostgres } from "../../runtime/store/postgres.ts"
import { createTupleSource } from "../../runtime/store/tuple-source.ts"
import { startThrowAwayPostgres } from "../support/throw-away-postgres.ts"
import { createWorld, storeId, unrelated } from "./cold/world.ts"
import { model } from "./document-model.ts"

const clientCount = 8
const memoryBytes = 16 * 2 ** 30

/** What one load took, in a process of its own. */
interface LoadFigures {
  readonly tuples: number
  readonly cpuSeconds: number
  readonly wallSeconds: number
  /** As the engine counts them. */
  readonly countedBytes: number
  /** In addition to before, after the load and at its peak. */
  readonly residentBytes: number
  readonly peakBytes: number
  /** Longest block of the event loop. */
  readonly blockMs: number
  /** Of the checks beside the load, in order; empty without. */
  readonly checksMs: readonly number[]
}

if (process.argv[2] === "load") await load(process.argv[3] ?? "", process.argv[4] === "checks")
else await measure()

async function measure(): Promise<void> {
  const postgres = await startThrowAwayPostgres({ settings: ["shared_buffers=256MB", "max_wal_size=8GB"] })
  try {
    for (const size of (process.env.SIZES ?? "1").split(",")) {
      const name = `cold_${size.replace(".", "_")}`
      await withClient(postgres.url("postgres"), (client) => client.query(`create database ${name}`))
      const url = postgres.url(name)
      const database = openPostgres(url)
      await migrate(database)
      await database.close()
      await withClient(url, (client) => createWorld(client, Number(size)))
      report(size, await loaded(url, "alone"))
      report(size, await loaded(url, "checks"))
    }
  } finally {
    await postgres.stop()
  }
}

async function withClient(url: string, work: (client: Client) => Promise<unknown>): Promise<void> {
  const client = new Client({ connectionString: url })
  await client.connect()
  await work(client)
  await client.end()
}

async function loaded(url: string, beside: "alone" | "checks"): Promise<LoadFigures> {
  const child = fork(fileURLToPath(import.meta.url), ["load", url, beside], { execArgv: ["--expose-gc"] })
  const [figures] = (await once(child, "message")) as [LoadFigures]
  return figures
}

async function load(url: string, withChecks: boolean): Promise<void> {
  const database = openPostgres(url)
  const engine = new Engine(createTupleSource(database), { pollMs: 0, memoryBytes, deadlineMs: 30_000 })
  const [[tuples] = [0]] = await database.query<[number]>({
    name: "count",
    text: "select count(*)::integer from sallyport.tuples",
  })
  globalThis.gc?.()
  const before = process.memoryUsage.rss()
  const blocks = monitorEventLoopDelay({ resolution: 1 })
  blocks.enable()
  const cpu = process.cpuUsage()
  const started = performance.now()
  let isLoading = true
  const checksMs: number[] = []
  const clients = Array.from({ length: withChecks ? clientCount : 0 }, async (_, client) => {
    for (const request of unrelated(tuples / 1e6, client)) {
      if (!isLoading) return
      const asked = performance.now()
      await engine.check(storeId, model, request)
      checksMs.push(performance.now() - asked)
    }
  })
  await engine.warm(storeId)
  isLoading = false
  const wallSeconds = (performance.now() - started) / 1e3
  const { user, system } = process.cpuUsage(cpu)
  blocks.disable()
  await Promise.all(clients)
  globalThis.gc?.()
  process.send?.({
    tuples,
    cpuSeconds: (user + system) / 1e6,
    wallSeconds,
    countedBytes: engine.memoryBytes,
    residentBytes: process.memoryUsage.rss() - before,
    peakBytes: 1024 * process.resourceUsage().maxRSS - before,
    blockMs: blocks.max / 1e6,
    checksMs: checksMs.sort((one, other) => one - other),
  } satisfies LoadFigures)
  engine.close()
  await database.close()
  process.disconnect?.()
}

function report(millions: string, figures: LoadFigures): void {
  const { tuples, checksMs } = figures
  const beside = checksMs.length === 0 ? "" : `, beside checks of ${clientCount} clients`
  const print = (what: string, value: number, unit: string, bar?: readonly [text: string, ok: boolean]) => {
    const row = {
      what: `cold start of ${millions} M${beside}: ${what}`,
      value: Number(value.toPrecision(3)),
      unit,
    }
    console.log(JSON.stringify(bar === undefined ? row : { ...row, bar: bar[0], ok: bar[1] }))
  }
  const secondsMax = (3.5 * tuples) / 1e6
  print("until whole", figures.wallSeconds, "s", [
    `≤ ${secondsMax.toPrecision(2)}`,
    figures.wallSeconds <= secondsMax,
  ])
  print("CPU time a tuple", (1e6 * figures.cpuSeconds) / tuples, "µs")
  print("longest block", figures.blockMs, "ms")
  if (checksMs.length > 0) {
    const p99 = checksMs[Math.floor(0.99 * checksMs.length)] ?? 0
    print("p99 of a check", p99, "ms", ["≤ 20", p99 <= 20])
    return
  }
  print("counted memory a tuple", figures.countedBytes / tuples, "B", [
    "≤ 60",
    figures.countedBytes <= 60 * tuples,
  ])
  print("resident memory a tuple", figures.residentBytes / tuples, "B")
  print("peak of memory a tuple", figures.peakBytes / tuples, "B")
}
