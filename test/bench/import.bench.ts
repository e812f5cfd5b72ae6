// `sallyport tuple import` of a file of JSON lines into a running process on PostgreSQL with fsync on: into an empty store, and into the
// same one again with other tuples. Then how long the writes of one client wait meanwhile, and while bodies of 20,000 lines are written.
// Everything is real and on this machine. `COUNT` is the number of tuples of a file (default: 200,000).
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { start } from "../e2e/sallyport-process.ts"
import { freePort } from "../support/free-port.ts"
import { startThrowAwayPostgres } from "../support/throw-away-postgres.ts"

const count = Number(process.env.COUNT ?? 200_000)
/** As a server in production; tests run without. */
const durable = ["fsync=on", "synchronous_commit=on", "full_page_writes=on", "max_wal_size=4GB"]
/** Tuples a second: in an empty store every index is small. */
const bars = [130_000, 60_000, 60_000]
const waitMsMax = 150

const model = `model
  schema 1.1
type user
type document
  relations
    define viewer: [user]
`

function conf(port: number): string {
  return `gateway bench { listen 127.0.0.1:${port} }
authz { listen 127.0.0.1:${port + 1}; limits { body 8MB }; store docs { model "docs.fga" } }
api hello { path "/hello"; auth none; GET "/" { respond 200 } }
`
}

/** Lines of a file, or of a body, with tuples that are in no other round's. */
function tuplesOf(round: string, length = count): string {
  const lines = Array.from({ length }, (_, at) =>
    JSON.stringify({ user: `user:u${at % 997}`, relation: "viewer", object: `document:${round}-${at}` }),
  )
  return `${lines.join("\n")}\n`
}

const postgres = await startThrowAwayPostgres({ settings: durable })
const folder = mkdtempSync(join(tmpdir(), "sallyport-import-"))
const [control, port] = [await freePort(), await freePort()]
const url = `http://127.0.0.1:${control}`
const env = {
  SALLYPORT_DATABASE_URL: postgres.url("postgres"),
  SALLYPORT_CONTROL_LISTEN: `127.0.0.1:${control}`,
  SALLYPORT_CONTROL_URL: url,
  SALLYPORT_CONTROL_TOKEN: "token-of-the-import-bench",
}
writeFileSync(join(folder, "gateway.conf"), conf(port))
writeFileSync(join(folder, "docs.fga"), model)

/** Runs a command to its end; throws what it printed when it fails. */
async function run(...words: string[]): Promise<string> {
  const command = start(folder, env, ...words)
  const code = await command.exited
  if (code !== 0) throw new Error(`${words.join(" ")}: ${command.output.out}${command.output.err}`)
  return command.output.out
}

/** CPU seconds of the process that serves. */
async function servedCpu(): Promise<number> {
  const metrics = await (await fetch(`${url}/metrics`)).text()
  return Number(/^process_cpu_seconds_total (\S+)$/m.exec(metrics)?.[1])
}

async function write(path: string, body: string): Promise<void> {
  const answer = await fetch(`http://127.0.0.1:${port + 1}/stores/docs/${path}`, { method: "POST", body })
  if (!answer.ok) throw new Error(await answer.text())
  await answer.arrayBuffer()
}

/** Writes single tuples, one after the other, until `work` ends, and prints how long they waited. */
async function writeBeside(what: string, work: () => Promise<unknown>): Promise<void> {
  let ended = false
  const working = work().finally(() => {
    ended = true
  })
  const tookMs: number[] = []
  while (!ended) {
    const key = {
      user: "user:beside",
      relation: "viewer",
      object: `document:${what.length}-${tookMs.length}`,
    }
    const sentMs = performance.now()
    await write("write", JSON.stringify({ writes: { tuple_keys: [key] } }))
    tookMs.push(performance.now() - sentMs)
  }
  await working
  tookMs.sort((a, b) => a - b)
  const [median, worst] = [0.5, 1].map((share) =>
    Math.round(tookMs[Math.floor((tookMs.length - 1) * share)] ?? 0),
  )
  const told = {
    what: `longest wait of a write beside ${what}`,
    value: worst,
    unit: "ms",
    bar: `≤ ${waitMsMax}`,
  }
  console.log(JSON.stringify({ ...told, ok: (worst ?? 0) <= waitMsMax, "median ms": median }))
}

await run("migrate")
const serve = start(folder, env, "serve")
try {
  while (
    !(await fetch(`${url}/healthz`).then(
      (answer) => answer.ok,
      () => false,
    ))
  )
    await new Promise((resolve) => setTimeout(resolve, 50))
  await run("apply", "--yes", "--allow", "opens", "--allow-danger")
  for (const [round, bar] of bars.entries()) {
    const file = join(folder, `${round}.jsonl`)
    writeFileSync(file, tuplesOf(`${round}`))
    const cpu = await servedCpu()
    const said = await run("tuple", "import", file)
    // Without the time that the command takes to start.
    const value = Math.round(count / Number(/ in ([\d.]+) s,/.exec(said)?.[1]))
    const what = `import ${count} tuples into ${round === 0 ? "an empty store" : `one with ${round * count}`}`
    const cpuUs = Number(((1e6 * ((await servedCpu()) - cpu)) / count).toPrecision(3))
    const shown = `≥ ${bar.toLocaleString("en-US")}`
    console.log(
      JSON.stringify({ what, value, unit: "tuples/s", bar: shown, ok: value >= bar, "CPU µs": cpuUs }),
    )
  }
  const file = join(folder, "beside.jsonl")
  writeFileSync(file, tuplesOf("beside"))
  await writeBeside("this import", () => run("tuple", "import", file))
  const bodies = Array.from({ length: 10 }, (_, at) => tuplesOf(`body${at}`, 20_000))
  await writeBeside("bodies of 20,000 lines", async () => {
    for (const body of bodies) await write("bulk-write", body)
  })
} finally {
  await serve.stop()
  await postgres.stop()
  rmSync(folder, { recursive: true, force: true })
}
