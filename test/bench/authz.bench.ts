// Check over HTTP on PostgreSQL, beside a bare node:http route that reads the same body, each in a process of its own, taking turns.
import { type ChildProcess, fork } from "node:child_process"
import { once } from "node:events"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { fileURLToPath } from "node:url"
import autocannon from "autocannon"
import { AuthzApi } from "../../runtime/authz/api.ts"
import { startAuthz } from "../../runtime/authz/start.ts"
import { Engine } from "../../runtime/check/engine.ts"
import { migrate } from "../../runtime/store/migrate.ts"
import { openPostgres } from "../../runtime/store/postgres.ts"
import { createTupleSource } from "../../runtime/store/tuple-source.ts"
import { startThrowAwayPostgres } from "../support/throw-away-postgres.ts"

const connections = 32
const roundSeconds = 3
const rounds = 5

const model = {
  schema_version: "1.1",
  type_definitions: [
    { type: "user" },
    {
      type: "folder",
      relations: {
        parent: { this: {} },
        viewer: {
          union: {
            child: [
              { this: {} },
              {
                tupleToUserset: { tupleset: { relation: "parent" }, computedUserset: { relation: "viewer" } },
              },
            ],
          },
        },
      },
      metadata: {
        relations: {
          parent: { directly_related_user_types: [{ type: "folder" }] },
          viewer: { directly_related_user_types: [{ type: "user" }] },
        },
      },
    },
  ],
}

interface Told {
  readonly port: number
}

function serveBare(): void {
  const answer = '{"allowed":true,"resolution":""}'
  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on("data", (chunk: Buffer) => chunks.push(chunk))
    request.on("end", () => {
      const body = JSON.parse(Buffer.concat(chunks).toString("utf8")) as { tuple_key: { user: string } }
      response.writeHead(body.tuple_key.user === "" ? 400 : 200, {
        "Content-Type": "application/json",
        "Content-Length": answer.length,
      })
      response.end(answer)
    })
  })
  server.listen(0, "127.0.0.1", () => ready((server.address() as AddressInfo).port))
}

async function serveAuthz(url: string): Promise<void> {
  const database = openPostgres(url)
  const engine = new Engine(createTupleSource(database))
  const api = new AuthzApi({ database, engine })
  const { addresses } = await startAuthz({ api, listen: [{ host: "127.0.0.1", port: 0 }] })
  ready(addresses[0]?.port ?? 0)
}

/** From now on the process tells its CPU time (µs) whenever it is asked. */
function ready(port: number): void {
  process.on("message", () => {
    const { user, system } = process.cpuUsage()
    process.send?.(user + system)
  })
  process.send?.({ port } satisfies Told)
}

async function measure(): Promise<void> {
  const postgres = await startThrowAwayPostgres()
  const url = postgres.url("postgres")
  const database = openPostgres(url)
  await migrate(database)
  await database.close()
  const children = [await start("bare"), await start("authz", url)] as const
  try {
    const [bare, authz] = children
    const { store, direct, inherited } = await fill(authz.port)
    const path = `/stores/${store}/check`
    const direct1 = new Series()
    const inherited1 = new Series()
    for (let round = 0; round < rounds; round += 1) {
      const base = await load(bare, "/", direct)
      direct1.add(base, await load(authz, path, direct))
      inherited1.add(base, await load(authz, path, inherited))
    }
    direct1.print("check over HTTP on PostgreSQL, direct, ÷ bare node:http")
    inherited1.print("check over HTTP on PostgreSQL, 5 folders deep, ÷ bare node:http")
  } finally {
    for (const { child } of children) child.kill()
    await postgres.stop()
  }
}

interface Running {
  readonly child: ChildProcess
  readonly port: number
}

async function start(...args: string[]): Promise<Running> {
  const child = fork(fileURLToPath(import.meta.url), args)
  const [told] = (await once(child, "message")) as [Told]
  return { child, port: told.port }
}

/** 20,000 tuples: folders in chains of six, each top folder with one viewer, each folder with its own. */
async function fill(port: number): Promise<{ store: string; direct: string[]; inherited: string[] }> {
  const post = async (path: string, body: unknown) => {
    const answer = await fetch(`http://127.0.0.1:${port}${path}`, {
      method: "POST",
      body: JSON.stringify(body),
    })
    if (!answer.ok) throw new Error(await answer.text())
    return (await answer.json()) as Record<string, string>
  }
  const { id: store = "" } = await post("/stores", { name: "bench" })
  await post(`/stores/${store}/authorization-models`, model)
  const tuples: object[] = []
  for (let at = 0; at < 10_000; at += 1) {
    tuples.push({ user: `user:u${at}`, relation: "viewer", object: `folder:f${at}` })
    if (at % 6 > 0) tuples.push({ user: `folder:f${at - 1}`, relation: "parent", object: `folder:f${at}` })
  }
  for (let at = 0; at < tuples.length; at += 100)
    await post(`/stores/${store}/write`, { writes: { tuple_keys: tuples.slice(at, at + 100) } })
  const question = (user: number, folder: number) =>
    JSON.stringify({ tuple_key: { user: `user:u${user}`, relation: "viewer", object: `folder:f${folder}` } })
  const picks = Array.from({ length: 500 }, (_, at) => ((at * 7919) % 1600) * 6)
  const direct = picks.map((at) => question(at + 2, at + 2))
  const inherited = picks.map((at) => question(at, at + 5))
  for (const body of [direct[0], inherited[0]]) {
    const answer = await post(`/stores/${store}/check`, JSON.parse(body ?? ""))
    if (String(answer["allowed"]) !== "true") throw new Error("a bench of wrong answers")
  }
  return { store, direct, inherited }
}

interface Load {
  readonly perSecond: number
  readonly cpuMicros: number
}

async function load({ child, port }: Running, path: string, bodies: readonly string[]): Promise<Load> {
  const before = await cpu(child)
  const result = await autocannon({
    url: `http://127.0.0.1:${port}`,
    connections,
    duration: roundSeconds,
    requests: bodies.map((body) => ({ method: "POST" as const, path, body })),
    headers: { "content-type": "application/json" },
  })
  const after = await cpu(child)
  if (result.non2xx > 0 || result.errors > 0)
    throw new Error(`${result.non2xx} refused, ${result.errors} failed`)
  return { perSecond: result["2xx"] / result.duration, cpuMicros: (after - before) / result["2xx"] }
}

async function cpu(child: ChildProcess): Promise<number> {
  child.send("cpu")
  const [micros] = (await once(child, "message")) as [number]
  return micros
}

class Series {
  readonly #ratios: number[] = []
  readonly #rates: number[] = []
  readonly #cpu: number[] = []
  readonly #baseCpu: number[] = []

  add(base: Load, own: Load): void {
    this.#ratios.push(own.perSecond / base.perSecond)
    this.#rates.push(own.perSecond)
    this.#cpu.push(own.cpuMicros)
    this.#baseCpu.push(base.cpuMicros)
  }

  print(what: string): void {
    const value = round(median(this.#ratios))
    row({ what, value, unit: "×", spread: spread(this.#ratios), bar: "≥ 0.5", ok: value >= 0.5 })
    // The load generator takes more than the server: the ratio of CPU times is what a machine of its own would show.
    const byCpu = this.#cpu.map((own, at) => (this.#baseCpu[at] ?? 0) / own)
    row({ what: "  the same by CPU time", value: round(median(byCpu)), unit: "×", spread: spread(byCpu) })
    row({ what: "  checks", value: Math.round(median(this.#rates)), unit: "/s", spread: spread(this.#rates) })
    row({
      what: "  CPU a check (bare)",
      value: `${round(median(this.#cpu))} (${round(median(this.#baseCpu))})`,
      unit: "µs",
      spread: spread(this.#cpu),
    })
  }
}

function row(fields: object): void {
  console.log(JSON.stringify(fields))
}

function median(values: readonly number[]): number {
  return [...values].sort((a, b) => a - b)[values.length >> 1] ?? Number.NaN
}

function spread(values: readonly number[]): string {
  return `${round(Math.min(...values))}–${round(Math.max(...values))}`
}

function round(value: number): number {
  return value >= 100 ? Math.round(value) : Math.round(value * 100) / 100
}

const role = process.argv[2]
if (role === "bare") serveBare()
else if (role === "authz") await serveAuthz(process.argv[3] ?? "")
else await measure()
