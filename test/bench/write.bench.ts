// Tuples written over HTTP on PostgreSQL with fsync on: in hundreds by eight writers, one by one by eight, and one by one by 24 writers over
// one process and over three. Each API is in a process of its own.
import { type ChildProcess, fork } from "node:child_process"
import { once } from "node:events"
import { Agent, request } from "node:http"
import { fileURLToPath } from "node:url"
import { AuthzApi } from "../../runtime/authz/api.ts"
import { startAuthz } from "../../runtime/authz/server.ts"
import { Engine } from "../../runtime/check/engine.ts"
import type { Database } from "../../runtime/store/database.ts"
import { migrate } from "../../runtime/store/migrate.ts"
import { openPostgres } from "../../runtime/store/postgres.ts"
import { createTupleSource } from "../../runtime/store/tuple-source.ts"
import { startThrowAwayPostgres } from "../support/throw-away-postgres.ts"

const rounds = 5
/** As a server in production; tests run without. */
const durable = ["fsync=on", "synchronous_commit=on", "full_page_writes=on", "max_wal_size=4GB"]

const model = {
  schema_version: "1.1",
  type_definitions: [
    { type: "user" },
    {
      type: "document",
      relations: { viewer: { this: {} } },
      metadata: { relations: { viewer: { directly_related_user_types: [{ type: "user" }] } } },
    },
  ],
}

/** What is written: `count` tuples in requests of `size` each, by `writers` at once over the processes at `ports`. */
interface Load {
  readonly ports: readonly number[]
  readonly writers: number
  readonly size: number
  readonly count: number
}

interface Measured {
  readonly rate: number
  readonly p99Ms: number
  readonly perCommit: number
}

const agent = new Agent({ keepAlive: true })

if (process.argv[2] === "serve") await serve(process.argv[3] ?? "")
else await measure()

async function serve(url: string): Promise<void> {
  const database = openPostgres(url)
  const engine = new Engine(createTupleSource(database))
  const api = new AuthzApi({ database, engine })
  const { addresses } = await startAuthz({ api, listen: [{ host: "127.0.0.1", port: 0 }] })
  process.send?.(addresses[0]?.port ?? 0)
}

async function measure(): Promise<void> {
  const postgres = await startThrowAwayPostgres({ settings: durable })
  const url = postgres.url("postgres")
  const database = openPostgres(url)
  await migrate(database)
  const repeated = async (load: Load): Promise<readonly Measured[]> => {
    const all: Measured[] = []
    for (let round = 0; round < rounds; round += 1) all.push(await writeAll(database, load))
    return all
  }
  const children: ChildProcess[] = []
  const ports: number[] = []
  const start = async () => {
    const child = fork(fileURLToPath(import.meta.url), ["serve", url])
    children.push(child)
    const [port] = (await once(child, "message")) as [number]
    ports.push(port)
  }
  try {
    await start()
    const hundreds = await repeated({ ports: [...ports], writers: 8, size: 100, count: 40_000 })
    report("write 40,000 tuples over HTTP in hundreds, 8 at once, on PostgreSQL", hundreds, 20_000)
    const worstMs = Math.round(median(hundreds.map(({ p99Ms }) => p99Ms)))
    const what = "  the slowest hundredth of these requests"
    print({ what, value: worstMs, unit: "ms", bar: "≤ 50", ok: worstMs <= 50 })
    report(
      "  one by one, 8 at once",
      await repeated({ ports: [...ports], writers: 8, size: 1, count: 4_000 }),
    )
    const one = await repeated({ ports: [...ports], writers: 24, size: 1, count: 8_000 })
    report("  one by one, 24 at once", one)
    await start()
    await start()
    const three = await repeated({ ports, writers: 24, size: 1, count: 8_000 })
    report("  one by one, 24 at once over three processes", three)
    const ratio = medianRate(three) / medianRate(one)
    print({
      what: "  three processes compared with one",
      value: Math.round(ratio * 100) / 100,
      unit: "×",
      bar: "≥ 0.8",
      ok: ratio >= 0.8,
    })
  } finally {
    for (const child of children) child.kill()
    await database.close()
    await postgres.stop()
  }
}

/** Writes into a store of its own. */
async function writeAll(database: Database, { ports, writers, size, count }: Load): Promise<Measured> {
  const [first = 0] = ports
  const { id } = JSON.parse(await post(first, "/stores", JSON.stringify({ name: "bench" }))) as { id: string }
  await post(first, `/stores/${id}/authorization-models`, JSON.stringify(model))
  const bodies: string[] = []
  for (let at = 0; at < count; at += size) {
    const tuple_keys = Array.from({ length: size }, (_, n) => ({
      user: `user:u${(at + n) % 997}`,
      relation: "viewer",
      object: `document:d${at + n}`,
    }))
    bodies.push(JSON.stringify({ writes: { tuple_keys } }))
  }
  const tookMs: number[] = []
  const write = async (port: number) => {
    for (let body = bodies.pop(); body !== undefined; body = bodies.pop()) {
      const sentMs = performance.now()
      await post(port, `/stores/${id}/write`, body)
      tookMs.push(performance.now() - sentMs)
    }
  }
  const startedMs = performance.now()
  await Promise.all(Array.from({ length: writers }, (_, at) => write(ports[at % ports.length] ?? first)))
  const seconds = (performance.now() - startedMs) / 1000
  tookMs.sort((a, b) => a - b)
  const commits = (await createTupleSource(database).newest(id)).revision
  const p99Ms = tookMs[Math.floor(tookMs.length * 0.99)] ?? Number.NaN
  return { rate: count / seconds, p99Ms, perCommit: count / commits }
}

/** `fetch` would take more of the machine than the writes. */
function post(port: number, path: string, body: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const sent = request({ agent, host: "127.0.0.1", port, path, method: "POST" }, (answer) => {
      const parts: Buffer[] = []
      answer.on("data", (part: Buffer) => parts.push(part))
      answer.on("error", reject)
      answer.on("end", () => {
        const text = Buffer.concat(parts).toString()
        if (answer.statusCode !== undefined && answer.statusCode < 300) resolve(text)
        else reject(new Error(text))
      })
    })
    sent.on("error", reject)
    sent.end(body)
  })
}

function report(what: string, measured: readonly Measured[], bar?: number): void {
  const value = Math.round(medianRate(measured))
  const rates = measured.map(({ rate }) => rate)
  const judged = bar === undefined ? {} : { bar: `≥ ${bar.toLocaleString("en-US")}`, ok: value >= bar }
  const perCommit = Math.round(median(measured.map((each) => each.perCommit)))
  print({ what, value, unit: "tuples/s", spread: spread(rates), "tuples/commit": perCommit, ...judged })
}

function print(row: object): void {
  console.log(JSON.stringify(row))
}

function medianRate(measured: readonly Measured[]): number {
  return median(measured.map(({ rate }) => rate))
}

function median(values: readonly number[]): number {
  return [...values].sort((a, b) => a - b)[values.length >> 1] ?? Number.NaN
}

function spread(values: readonly number[]): string {
  return `${Math.round(Math.min(...values))}–${Math.round(Math.max(...values))}`
}
