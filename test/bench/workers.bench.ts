// What a request costs with `serve --workers`, beside `serve` as one process: the CPU time of all their processes, in user and system mode. Both run at
// the same time before one backend and get the same requests in turn: without a limit, with one key that is always the same, with a key of its own
// for each request, and far above the limit.
import { fork } from "node:child_process"
import { once } from "node:events"
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { createServer } from "node:http"
import { connect } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import pg from "pg"
import { migrateDatabase } from "../../runtime/main.ts"
import { createLog } from "../../runtime/telemetry/log.ts"
import { eventually, type SallyportProcess, start } from "../e2e/sallyport-process.ts"
import { freePort } from "../support/free-port.ts"
import { startThrowAwayPostgres } from "../support/throw-away-postgres.ts"
import { row } from "./gateway/report.ts"

/** A request to the workers costs at most so much of what it costs in one process. */
const bar = 1.1
const workers = Number(process.env["SALLYPORT_BENCH_WORKERS"] ?? 2)
const roundCount = Number(process.env["SALLYPORT_BENCH_ROUNDS"] ?? 20)
/** Requests of a round. The rounds of the two are short and in turn, so that other work on the machine hits both. */
const requests = 1_500
/** Each worker compiles its code itself. */
const warmUps = 4_000
const connections = 32
const token = "a-token-for-the-bench-of-workers"

/** Each path is a route; `keyOf` is what a request is counted by. */
const loads = [
  { what: "no limit", path: "/free", statuses: /^HTTP.1.1 200 /, keyOf: () => "one" },
  { what: "a limit, one key", path: "/wide", statuses: /^HTTP.1.1 200 /, keyOf: () => "one" },
  {
    what: "a limit of 100, each key once",
    path: "/usual",
    statuses: /^HTTP.1.1 200 /,
    keyOf: (at: number) => `once${at}`,
  },
  {
    what: "far above a limit, one key",
    path: "/narrow",
    statuses: /^HTTP.1.1 (200|429) /,
    keyOf: () => "one",
  },
] as const
type Load = (typeof loads)[number]

interface Subject {
  readonly serving: SallyportProcess
  readonly port: number
  /** CPU time of all its processes for each request, in µs, by load. */
  readonly found: Map<Load, number[]>
}

function confOf(port: number, backendPort: number): string {
  const api = (name: string, limit: string) => `
api ${name} { path "/${name}"; auth none; backend "http://127.0.0.1:${backendPort}"; ${limit}; GET "/" }`
  const by = `by "\${request.header('x-key')}"`
  return `gateway bench { listen 127.0.0.1:${port} }
${api("free", "")}${api("wide", `limit 100000000 per 1m ${by}`)}${api("usual", `limit 100 per 1m ${by}`)}${api("narrow", `limit 10 per 1h ${by}`)}
`.replaceAll("; ;", ";")
}

async function serve(folder: string, database: string, backend: number, words: string[]): Promise<Subject> {
  const [port, control] = [await freePort(), await freePort()]
  mkdirSync(folder)
  writeFileSync(join(folder, "gateway.conf"), confOf(port, backend))
  const env = {
    SALLYPORT_DATABASE_URL: database,
    SALLYPORT_LOG_LEVEL: "warn",
    SALLYPORT_CONTROL_LISTEN: `127.0.0.1:${control}`,
    SALLYPORT_CONTROL_TOKEN: token,
  }
  const serving = start(folder, env, "serve", "--config", "gateway.conf", ...words)
  const ready = eventually(async () => {
    if (serving.child.exitCode !== null) return false
    return (await fetch(`http://127.0.0.1:${control}/readyz`)).ok ? true : undefined
  })
  if (!(await ready)) throw new Error(`serve ended: ${serving.output.err}`)
  return { serving, port, found: new Map(loads.map((load) => [load, []])) }
}

/** CPU time of all threads of the processes of a subject, in µs. */
function cpuOfAll({ serving: { child } }: Subject): number {
  const parent = `/proc/${child.pid}/task`
  const children = readFileSync(`${parent}/${child.pid}/children`, "utf8").trim().split(" ")
  const folders = [parent, ...children.filter((pid) => pid !== "").map((pid) => `/proc/${pid}/task`)]
  const threads = folders.flatMap((folder) => readdirSync(folder).map((thread) => `${folder}/${thread}`))
  return (
    threads.reduce(
      (sum, thread) => sum + Number(readFileSync(`${thread}/schedstat`, "utf8").split(" ")[0]),
      0,
    ) / 1000
  )
}

/** Number of the next request: no key comes twice, so that each is new. */
let sent = 0

/** Sends `count` requests over `connections` connections, one after the other on each. */
async function send({ port }: Subject, { path, statuses, keyOf }: Load, count: number): Promise<void> {
  let left = count
  const client = () =>
    new Promise<void>((resolve, reject) => {
      const socket = connect(port, "127.0.0.1")
      const next = () => {
        if (left-- <= 0) return void socket.end()
        socket.write(`GET ${path} HTTP/1.1\r\nhost: bench\r\nx-key: ${keyOf(sent++)}\r\n\r\n`)
      }
      let received = ""
      socket.setEncoding("latin1").setNoDelay()
      socket
        .on("connect", next)
        .on("error", reject)
        .on("close", () => resolve())
      socket.on("data", (text: string) => {
        received += text
        const body = received.indexOf("\r\n\r\n") + 4
        const length = /\r\ncontent-length: (\d+)/i.exec(received)
        if (body < 4 || length === null || received.length < body + Number(length[1])) return
        if (!statuses.test(received)) reject(new Error(`${path} is answered: ${received}`))
        received = ""
        next()
      })
    })
  await Promise.all(Array.from({ length: connections }, client))
}

async function createDatabase(url: string, name: string): Promise<void> {
  const client = new pg.Client(url)
  await client.connect()
  await client.query(`create database ${name}`)
  await client.end()
}

async function measure(): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "sallyport-bench-"))
  const backend = fork(fileURLToPath(import.meta.url), ["backend"])
  const [backendPort] = (await once(backend, "message")) as [number]
  const postgres = await startThrowAwayPostgres()
  const subjects: Subject[] = []
  try {
    for (const [name, words] of [
      ["one", []],
      ["many", ["--workers", String(workers)]],
    ] as const) {
      await createDatabase(postgres.url("postgres"), name)
      await migrateDatabase({ database: { url: postgres.url(name) }, log: createLog({ level: "warn" }) })
      subjects.push(await serve(join(folder, name), postgres.url(name), backendPort, [...words]))
    }
    for (const load of loads) {
      for (const [at, subject] of subjects.entries())
        await send(subject, load, warmUps * (at === 0 ? 1 : workers))
      for (let round = 0; round < roundCount; round++)
        for (const subject of subjects) {
          const before = cpuOfAll(subject)
          await send(subject, load, requests)
          subject.found.get(load)?.push((cpuOfAll(subject) - before) / requests)
        }
    }
    report(subjects as [Subject, Subject])
  } finally {
    for (const { serving } of subjects) await serving.stop("SIGTERM")
    backend.kill()
    await postgres.stop()
    rmSync(folder, { recursive: true })
  }
}

/** Other work on the machine only adds, so the least of the rounds is nearest to what a request costs. */
function report([one, many]: [Subject, Subject]): void {
  for (const load of loads) {
    const alone = one.found.get(load) ?? []
    const shared = many.found.get(load) ?? []
    const [least, leastAlone] = [Math.min(...shared), Math.min(...alone)]
    row({
      ...{ what: `${load.what}: ${workers} workers ÷ one process`, unit: "×" },
      ...{ value: (least / leastAlone).toFixed(2), bar: `≤ ${bar}`, ok: least / leastAlone <= bar },
      spread: `${spreadOf(shared)} ÷ ${spreadOf(alone)} µs`,
      cpu: `${least.toFixed(0)} ÷ ${leastAlone.toFixed(0)} µs`,
    })
  }
}

function spreadOf(values: readonly number[]): string {
  return `${Math.min(...values).toFixed(0)}–${Math.max(...values).toFixed(0)}`
}

async function playBackend(): Promise<void> {
  const server = createServer((_, response) => response.end('{"id":7}'))
  server.keepAliveTimeout = 60_000
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  process.send?.((server.address() as { readonly port: number }).port)
}

if (process.argv[2] === "backend") await playBackend()
else await measure()
