// What traces cost: the CPU time of the gateway for a proxied request without `tracing`, with 1% of the requests sampled, and with all. One
// process has a gateway for each of them, which serve in turn: processes of one program differ by more than the smallest bar, and so do rounds after a
// change of the plan. A collector in a process of its own takes the spans.
import { fork } from "node:child_process"
import { once } from "node:events"
import { mkdtempSync, rmSync } from "node:fs"
import { createServer } from "node:http"
import { connect, type Socket } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import pg from "pg"
import { MemoryFiles } from "../../compiler/core/files.ts"
import { startRuntime } from "../../runtime/main.ts"
import type { Plan } from "../../runtime/plan/plan.ts"
import { createLog } from "../../runtime/telemetry/log.ts"
import { compile } from "../compile.ts"
import { freePort } from "../support/free-port.ts"
import { startThrowAwayPostgres } from "../support/throw-away-postgres.ts"
import { median, row } from "./gateway/report.ts"

const roundCount = Number(process.env["SALLYPORT_BENCH_ROUNDS"] ?? 400)
/** Requests of a round. Rounds are short and in turn, so that other work on the machine hits all of them. */
const requests = 200
const warmUpRounds = 50
const connections = 32
const request =
  "GET /plain/7 HTTP/1.1\r\nhost: bench\r\nuser-agent: bench/1\r\naccept: application/json\r\nx-api-key: secret-key\r\n\r\n"

/** The plans, and how much a request may cost above one without `tracing`. */
const modes = [
  { what: "off", words: "", bar: undefined },
  { what: "1% sampled", words: "sample 1%", bar: 1.03 },
  {
    what: "1% sampled, failed and slow ones always",
    words: "sample 1%; always errors; always slower 1s",
    bar: undefined,
  },
  { what: "all sampled", words: "sample 100%", bar: 1.25 },
] as const

interface Ports {
  readonly port: number
  readonly backend: number
  readonly collector: number
}

function planOf({ port, backend, collector }: Ports, words: string): Plan {
  const tracing = words === "" ? "" : `; tracing { otlp "http://127.0.0.1:${collector}"; ${words} }`
  const text = `gateway bench { listen 127.0.0.1:${port}${tracing} }
backend main { url "http://127.0.0.1:${backend}" }
api plain { path "/plain"; backend main; auth none; GET "/{id}" }
`
  const { plan, diagnostics } = compile(new MemoryFiles([["gateway.conf", text]]), "gateway.conf")
  if (plan === undefined) throw new Error(JSON.stringify(diagnostics))
  return plan
}

/** A process of this file that plays a role and answers questions. */
class Role {
  readonly #child
  readonly #first: Promise<unknown[]>

  constructor(role: string, settings: object = {}) {
    this.#child = fork(fileURLToPath(import.meta.url), [role, JSON.stringify(settings)])
    this.#first = once(this.#child, "message")
    this.#child.once("exit", (code) => {
      if (code !== null) throw new Error(`${role} ended with ${code}`)
    })
  }

  async started<T>(): Promise<T> {
    return (await this.#first)[0] as T
  }

  async ask<T>(question: object): Promise<T> {
    const answer = once(this.#child, "message")
    this.#child.send(question)
    return (await answer)[0] as T
  }

  stop(): void {
    this.#child.kill("SIGKILL")
  }
}

const ignore = () => undefined

/** Kept connections to a gateway, on each of which one request follows the other. */
class Client {
  readonly #port: number
  #sockets: Socket[] = []

  constructor(port: number) {
    this.#port = port
  }

  /** Sends `count` requests, and waits for their responses. */
  async send(count: number): Promise<void> {
    let left = count
    const sendOn = (socket: Socket) =>
      new Promise<void>((resolve, reject) => {
        let received = ""
        const next = () => {
          left -= 1
          if (left >= 0) socket.write(request)
          else {
            socket.removeAllListeners("data").removeAllListeners("close").removeAllListeners("error")
            socket.on("error", ignore)
            resolve()
          }
        }
        socket
          .on("error", reject)
          .on("close", () => reject(new Error(`the gateway closed a connection: ${received}`)))
        socket.on("data", (chunk: Buffer) => {
          received += chunk.toString("latin1")
          if (!received.endsWith("~")) return
          if (!received.startsWith("HTTP/1.1 200 ")) reject(new Error(received))
          received = ""
          next()
        })
        next()
      })
    // A gateway closes connections that were idle for long, which happens on a machine with much else to do.
    const open = this.#sockets.filter(({ destroyed }) => !destroyed)
    while (open.length < connections) open.push(connect(this.#port, "127.0.0.1").setNoDelay())
    this.#sockets = open
    await Promise.all(open.map(sendOn))
  }

  close(): void {
    for (const socket of this.#sockets) socket.destroy()
  }
}

async function measure(): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "sallyport-bench-"))
  const postgres = await startThrowAwayPostgres()
  const [backend, collector] = [new Role("backend"), new Role("collector")]
  const ports = { backend: await backend.started<number>(), collector: await collector.started<number>() }
  const gateway = new Role("gateways", { folder })
  const database = new pg.Client({ connectionString: postgres.url("postgres") })
  const clients: Client[] = []
  try {
    await Promise.all([gateway.started(), database.connect()])
    const served: number[] = []
    for (const [index, { words }] of modes.entries()) {
      const port = await freePort()
      await database.query(`CREATE DATABASE bench_${index}`)
      const databaseUrl = postgres.url(`bench_${index}`)
      await gateway.ask({ serve: planOf({ ...ports, port }, words), databaseUrl })
      served.push(port)
    }
    for (const port of served) clients.push(new Client(port))
    const found = modes.map(() => [] as number[])
    for (let round = -warmUpRounds; round < roundCount; round++)
      // Each round begins with another gateway, because one follows upon the collector's work for the one before.
      for (const step of modes.keys()) {
        const at = (step + round + warmUpRounds) % modes.length
        const before = await gateway.ask<number>({ cpu: true })
        await clients[at]?.send(requests)
        const cpu = (await gateway.ask<number>({ cpu: true })) - before
        if (round >= 0) found[at]?.push(cpu / requests)
      }
    report(found)
    console.error(`the collector got ${await collector.ask<number>({ count: true })} bytes`)
  } finally {
    for (const client of clients) client.close()
    await database.end()
    for (const role of [gateway, backend, collector]) role.stop()
    await postgres.stop()
    rmSync(folder, { recursive: true })
  }
}

/** Ratios of rounds that followed each other: medians, with the middle half of the pairs, and the least of the rounds, because other work only adds. */
function report([off = [], ...others]: readonly (readonly number[])[]): void {
  const cpuOf = (all: readonly number[]) =>
    `${median(all).toFixed(0)} µs, least ${Math.min(...all).toFixed(0)}`
  row({ what: "a proxied request without `tracing`", value: "1", cpu: cpuOf(off) })
  for (const [index, cpu] of others.entries()) {
    const mode = modes[index + 1]
    const ratios = cpu.map((each, at) => each / (off[at] ?? Number.NaN))
    const value = median(ratios)
    row({
      ...{ what: `${mode?.what} ÷ without \`tracing\``, value: value.toFixed(3), unit: "×" },
      ...{ spread: middle(ratios), cpu: cpuOf(cpu) },
      ...(mode?.bar === undefined ? {} : { bar: `≤ ${mode.bar}`, ok: value <= mode.bar }),
    })
  }
}

/** The middle half of the values. */
function middle(values: readonly number[]): string {
  const sorted = values.toSorted((a, b) => a - b)
  const at = (share: number) => (sorted[Math.floor(sorted.length * share)] ?? Number.NaN).toFixed(3)
  return `${at(0.25)}–${at(0.75)}`
}

/** Starts a gateway for each plan, and answers how much CPU time all of them used. */
async function playGateways({ folder }: { folder: string }): Promise<void> {
  const serve = async (plan: Plan, databaseUrl: string) => {
    const runtime = await startRuntime({
      ...{ database: { url: databaseUrl }, roles: ["gateway"], control: undefined, env: {}, cwd: folder },
      ...{ version: "bench", log: createLog({ level: "warn" }), accessLog: false, migrate: true },
    })
    await runtime.apply(plan, { who: "bench", commit: null, message: null })
  }
  process.on("message", async (question: { serve?: Plan; databaseUrl: string }) => {
    if (question.serve !== undefined) await serve(question.serve, question.databaseUrl)
    const { user, system } = process.cpuUsage()
    process.send?.(user + system)
  })
  process.send?.("ready")
}

async function playServer(body: string): Promise<void> {
  let bytes = 0
  const server = createServer((request, response) => {
    request.on("data", (chunk: Buffer) => {
      bytes += chunk.length
    })
    request.on("end", () => response.end(body))
  })
  server.keepAliveTimeout = 60_000
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  process.on("message", () => process.send?.(bytes))
  process.send?.((server.address() as { readonly port: number }).port)
}

const [role, settings] = process.argv.slice(2)
if (role === "gateways") await playGateways(JSON.parse(settings as string))
else if (role === "backend") await playServer("~".padStart(1024))
else if (role === "collector") await playServer("{}")
else await measure()
