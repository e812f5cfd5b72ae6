// How long after the commit of `apply` the last of 30 processes serves the new plan: real processes on one PostgreSQL, all on this machine. Their swaps
// share its processors, so the CPU time of one swap is shown too: on machines of their own, each process needs only that.
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"
import { MemoryFiles } from "../../compiler/core/files.ts"
import { migrateDatabase } from "../../runtime/main.ts"
import { createLog } from "../../runtime/telemetry/log.ts"
import { compile } from "../compile.ts"
import { start } from "../e2e/sallyport-process.ts"
import { Client } from "../machines/client.ts"
import { Machine, token } from "../machines/fleet.ts"
import { freePort } from "../support/free-port.ts"
import { startThrowAwayPostgres } from "../support/throw-away-postgres.ts"
import { cpuOf } from "./gateway/load.ts"
import { median, row } from "./gateway/report.ts"

const processes = Number(process.env["SALLYPORT_BENCH_PROCESSES"] ?? 30)
const applies = Number(process.env["SALLYPORT_BENCH_APPLIES"] ?? 12)
/** The first applies of a process run code that is not compiled yet. */
const warmUps = 2
const barMs = 500
/** Processes that start at the same time; more would wait for each other's processor. */
const startsAtOnce = 3
const idleMs = 3_000

const ports = { gateway: await freePort(), authz: await freePort(), control: await freePort() }
const client = new Client(processes)

function planOf(greeting: number) {
  const text = `
gateway fleet { listen 127.0.0.1:${ports.gateway}; trust none }
authz { listen 127.0.0.1:${ports.authz}; store acme { model "acme.fga" } }
api hello { path "/hello"; auth none; limit 100 per 1m by ip; GET "/" { respond 200 { body text "greet-${greeting}" } } }
api items { path "/items"; auth subscription; GET "/" { respond 200 } }
product gold { apis items }
`
  const model = "model\n  schema 1.1\ntype user\ntype order\n  relations\n    define viewer: [user]\n"
  const files = new MemoryFiles([
    ["gateway.conf", text],
    ["acme.fga", model],
  ])
  const { plan, diagnostics } = compile(files, "gateway.conf")
  if (plan === undefined) throw new Error(diagnostics.map(({ detail }) => detail).join("\n"))
  return plan
}

async function applyOn(machine: Machine, serial: number): Promise<void> {
  const { status, body } = await client.ask(`${machine.url("control")}/v1/plan`, {
    ...{ method: "PUT", headers: { authorization: `Bearer ${token}` } },
    json: {
      ...{ plan: planOf(serial), base: serial === 1 ? null : serial - 1 },
      author: { who: "bench", commit: null, message: null },
    },
  })
  if (status !== 200) throw new Error(`apply is answered ${status}: ${JSON.stringify(body)}\n${machine.log}`)
}

/** When a machine began to serve this plan, in milliseconds of the wall clock; undefined: not yet. */
function servedAtMs(machine: Machine, serial: number): number | undefined {
  const line = machine.log
    .split("\n")
    .findLast((each) => each.includes(`"serial":${serial},`) && /serving (plan|it)"/.test(each))
  return line === undefined ? undefined : Date.parse(JSON.parse(line).time)
}

async function servedByAll(machines: readonly Machine[], serial: number): Promise<number[]> {
  for (let attempt = 0; attempt < 600; attempt++) {
    const times = machines.flatMap((machine) => servedAtMs(machine, serial) ?? [])
    if (times.length === machines.length) return times
    await sleep(50)
  }
  const silent = machines.filter((machine) => servedAtMs(machine, serial) === undefined)
  throw new Error(
    `plan ${serial} is not served by ${silent.map(({ name }) => name).join(", ")}\n${silent[0]?.log}`,
  )
}

const cpuOfAll = (machines: readonly Machine[]) => machines.reduce((sum, { pid }) => sum + cpuOf(pid), 0)

/** CPU time that the processes use without an apply, in µs for each millisecond. */
async function idleCpu(machines: readonly Machine[]): Promise<number> {
  const before = cpuOfAll(machines)
  await sleep(idleMs)
  return (cpuOfAll(machines) - before) / idleMs
}

async function measure(machines: readonly Machine[]): Promise<void> {
  const [first] = machines as [Machine]
  const lastMs: number[] = []
  const spreadMs: number[] = []
  const cpuMs: number[] = []
  const idle = await idleCpu(machines)
  for (let serial = 2; serial <= 1 + warmUps + applies; serial++) {
    const [cpuBefore, beganMs] = [cpuOfAll(machines), performance.now()]
    await applyOn(first, serial)
    const times = await servedByAll(machines, serial)
    // The processes write their reports, and go back to sleep.
    await sleep(500)
    const swapsMs = (cpuOfAll(machines) - cpuBefore - idle * (performance.now() - beganMs)) / 1_000
    // The process that took the plan serves it right after the commit.
    const committedMs = servedAtMs(first, serial) as number
    if (serial <= 1 + warmUps) continue
    lastMs.push(Math.max(...times) - committedMs)
    spreadMs.push(Math.max(...times) - Math.min(...times.filter((each) => each > committedMs)))
    cpuMs.push(swapsMs / machines.length)
  }
  const most = Math.max(...lastMs)
  const range = (values: readonly number[]) =>
    `${Math.min(...values).toFixed(0)}–${Math.max(...values).toFixed(0)}`
  row({
    ...{ what: `commit of apply until the last of ${machines.length} processes serves the plan` },
    ...{ value: median(lastMs), unit: "ms", spread: range(lastMs), bar: `≤ ${barMs}`, ok: most <= barMs },
  })
  row({ what: "first to last swap", value: median(spreadMs), unit: "ms", spread: range(spreadMs) })
  row({ what: "CPU time of a swap", value: median(cpuMs).toFixed(1), unit: "ms", spread: range(cpuMs) })
}

/** `apply --wait` of the command line has to name every process. */
async function applyByCommand(machines: readonly Machine[], folder: string): Promise<void> {
  const sallyport = start(
    folder,
    { SALLYPORT_CONTROL_URL: (machines[0] as Machine).url("control"), SALLYPORT_CONTROL_TOKEN: token },
    ...["rollback", "1", "--yes", "--wait", "20s"],
  )
  const code = await sallyport.exited
  const { out, err } = sallyport.output
  console.error(`${out}${err}`)
  const all = new RegExp(`\\b${machines.length}\\b.*process`).test(out)
  row({
    what: "exit code of `rollback --wait`, which names all processes",
    value: code,
    ok: code === 0 && all,
  })
}

const postgres = await startThrowAwayPostgres({ settings: [`max_connections=${processes * 8 + 20}`] })
const folder = mkdtempSync(join(tmpdir(), "sallyport-bench-"))
const env = {
  ...{ SALLYPORT_DATABASE_URL: postgres.url("postgres"), SALLYPORT_DATABASE_POOL_SIZE: "4" },
  SALLYPORT_LOG_LEVEL: "info",
}
const machines = Array.from({ length: processes }, (_, at) => new Machine(at + 1, folder, ports, env))
try {
  const log = createLog({ stream: { write: () => undefined } })
  await migrateDatabase({ database: { url: postgres.url("postgres") }, log })
  const [first] = machines as [Machine]
  first.start()
  while ((await client.ask(`${first.url("control")}/healthz`)).status === 0) await sleep(25)
  await applyOn(first, 1)
  for (let from = 1; from < machines.length; from += startsAtOnce) {
    const next = machines.slice(from, from + startsAtOnce)
    for (const machine of next) machine.start()
    for (const machine of next) await machine.ready(client)
  }
  await measure(machines)
  await applyByCommand(machines, folder)
} finally {
  await Promise.all(machines.map((machine) => machine.end("SIGKILL")))
  await client.close()
  await postgres.stop()
  rmSync(folder, { recursive: true, force: true })
}
