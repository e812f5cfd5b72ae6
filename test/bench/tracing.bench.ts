// What traces cost: the CPU time of the gateway for a proxied request without `tracing`, with 1% of the requests sampled, and with all. One
// process runs the three plans in turn, because processes of one program differ by more than the smallest bar. A collector in a process of its own
// takes the spans.
import { fork } from "node:child_process"
import { once } from "node:events"
import { mkdtempSync, rmSync } from "node:fs"
import { createServer } from "node:http"
import { connect } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { MemoryFiles } from "../../compiler/core/files.ts"
import { startRuntime } from "../../runtime/main.ts"
import type { Plan } from "../../runtime/plan/plan.ts"
import { createLog } from "../../runtime/telemetry/log.ts"
import { compile } from "../compile.ts"
import { freePort } from "../support/free-port.ts"
import { startThrowAwayPostgres } from "../support/throw-away-postgres.ts"
import { median, row } from "./gateway/report.ts"

const roundCount = Number(process.env["SALLYPORT_BENCH_ROUNDS"] ?? 40)
/** Requests of a round. Rounds are short and in turn, so that other work on the machine hits all of them. */
const requests = 1_000
const warmUps = 8_000
const connections = 32
/** Requests after each change of the plan, which are not counted: the connections to the backend are kept, but the steps are new. */
const settling = 200

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

/** Sends `count` requests over `connections` connections, one after the other on each. */
async function send(port: number, count: number): Promise<void> {
  let left = count
  const request =
    "GET /plain/7 HTTP/1.1\r\nhost: bench\r\nuser-agent: bench/1\r\naccept: application/json\r\nx-api-key: secret-key\r\n\r\n"
  const client = () =>
    new Promise<void>((resolve, reject) => {
      const socket = connect(port, "127.0.0.1")
      const next = () => void (left-- <= 0 ? socket.end() : socket.write(request))
      let received = ""
      socket.setEncoding("latin1").setNoDelay()
      socket.on("connect", next).on("error", reject)
      socket.on("close", () => resolve())
      socket.on("data", (text: string) => {
        received += text
        if (!received.endsWith("~")) return
        if (!received.startsWith("HTTP/1.1 200 ")) reject(new Error(received))
        received = ""
        next()
      })
    })
  await Promise.all(Array.from({ length: connections }, client))
}

async function measure(): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "sallyport-bench-"))
  const postgres = await startThrowAwayPostgres()
  const [backend, collector] = [new Role("backend"), new Role("collector")]
  const ports = {
    port: await freePort(),
    backend: await backend.started<number>(),
    collector: await collector.started<number>(),
  }
  const gateway = new Role("gateway", { folder, databaseUrl: postgres.url("postgres") })
  try {
    await gateway.started()
    const plans = modes.map(({ words }) => planOf(ports, words))
    const found = modes.map(() => [] as number[])
    for (let round = -1; round < roundCount; round++)
      // Each round begins with another plan, so that each one follows a change of the plan: a plan that goes on is warmer than one that begins.
      for (const step of modes.keys()) {
        const at = (step + round + 1) % modes.length
        await gateway.ask({ apply: plans[at] })
        await send(ports.port, round < 0 ? warmUps : settling)
        const before = await gateway.ask<number>({ cpu: true })
        await send(ports.port, requests)
        const cpu = (await gateway.ask<number>({ cpu: true })) - before
        if (round >= 0) found[at]?.push(cpu / requests)
      }
    report(found)
    console.error(`the collector got ${await collector.ask<number>({ count: true })} bytes`)
  } finally {
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

async function playGateway({ folder, databaseUrl }: { folder: string; databaseUrl: string }): Promise<void> {
  const runtime = await startRuntime({
    ...{ database: { url: databaseUrl }, roles: ["gateway"], control: undefined, env: {}, cwd: folder },
    ...{ version: "bench", log: createLog({ level: "warn" }), accessLog: false, migrate: true },
  })
  process.on("message", async (question: { apply?: Plan }) => {
    if (question.apply === undefined) {
      const { user, system } = process.cpuUsage()
      process.send?.(user + system)
      return
    }
    const outcome = await runtime.apply(question.apply, { who: "bench", commit: null, message: null })
    process.send?.(outcome)
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
if (role === "gateway") await playGateway(JSON.parse(settings as string))
else if (role === "backend") await playServer("~".padStart(1024))
else if (role === "collector") await playServer("{}")
else await measure()
