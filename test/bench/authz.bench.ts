// The engine's API over HTTP on PostgreSQL: beside a bare node:http route that reads the same body, and beside OpenFGA on the same PostgreSQL, with
// its defaults and with every cache on and allowed to be a minute old. Each server in a process of its own, taking turns.
import { fileURLToPath } from "node:url"
import { migrate } from "../../runtime/store/migrate.ts"
import { openPostgres } from "../../runtime/store/postgres.ts"
import { allCaches, migrateOpenfga, openfgaBinary, openfgaMissing, startOpenfga } from "../support/openfga.ts"
import { startThrowAwayPostgres, type ThrowAwayPostgres } from "../support/throw-away-postgres.ts"
import { fillStore, type Load, load, requireRight } from "./authz/client.ts"
import { type Running, serveAuthz, serveBare, startServer } from "./authz/servers.ts"
import { readerDocs, type Scenario, scenarios } from "./authz/world.ts"

const rounds = Number(process.env["SALLYPORT_BENCH_ROUNDS"] ?? 3)
const roundSeconds = 3
/** OpenFGA answers some questions so slowly that it needs longer to answer any, and to end what it was asked before. */
const slowRate = 50
const slowSeconds = 8
const restMs = 5_000

/** What a scenario must reach against OpenFGA's defaults and against its caches. */
const bars: Readonly<Record<string, readonly [number, number]>> = {
  direct: [5, 2.5],
  "inherited, allowed": [60, 2.5],
  "unrelated user": [500, 15],
  stranger: [50, 40],
  "batch of 50": [150, 70],
  [`list-objects ${readerDocs}`]: [60, 20],
}
const bareBar = 0.7

/** The peer may take its time: answers cut by a deadline would not be the same work. */
const patience = ["--request-timeout=60s", "--http-upstream-timeout=60s", "--listObjects-deadline=60s"]

interface Peer {
  readonly name: string
  readonly url: string
  readonly store: string
  readonly stop: () => Promise<void>
}

async function measure(): Promise<void> {
  const postgres = await startThrowAwayPostgres()
  const stops: (() => Promise<void>)[] = []
  try {
    const database = openPostgres(postgres.url("postgres"))
    await migrate(database)
    await database.close()
    const file = fileURLToPath(import.meta.url)
    const bare = await startServer(file, "bare")
    const own = await startServer(file, "authz", postgres.url("postgres"))
    stops.push(
      () => bare.stop(),
      () => own.stop(),
    )
    const store = await fillStore(own.url)
    for (const scenario of scenarios()) await requireRight(own.url, store, scenario)
    await againstBare(bare, own, store)
    const peers = await startPeers(postgres)
    stops.push(...peers.map((peer) => peer.stop))
    for (const scenario of scenarios()) await against(peers, own, store, scenario)
  } finally {
    for (const stop of stops) await stop()
    await postgres.stop()
  }
}

/** OpenFGA as it comes, and as fast as it can be made; over one set of tables. */
async function startPeers(postgres: ThrowAwayPostgres): Promise<Peer[]> {
  const binary = openfgaBinary()
  if (binary === undefined) {
    console.error(`not compared: ${openfgaMissing}`)
    return []
  }
  const database = openPostgres(postgres.url("postgres"))
  await database.query({ name: "peer", text: "create database openfga" })
  await database.close()
  const url = postgres.url("openfga")
  await migrateOpenfga(binary, url)
  const datastore = ["--datastore-engine=postgres", `--datastore-uri=${url}`, ...patience]
  const plain = await startOpenfga(binary, datastore)
  const cached = await startOpenfga(binary, [...datastore, ...allCaches])
  const store = await fillStore(plain.url)
  return [
    { name: "OpenFGA", url: plain.url, store, stop: () => plain.stop() },
    { name: "OpenFGA with all caches", url: cached.url, store, stop: () => cached.stop() },
  ]
}

async function againstBare(bare: Running, own: Running, store: string): Promise<void> {
  const checks = scenarios().filter(({ path }) => path === "check")
  for (const { name, bodies } of checks.slice(0, 2)) {
    const ratios: number[] = []
    const byCpu: number[] = []
    for (let round = 0; round < rounds; round += 1) {
      const base = await withCpu(bare, "/", bodies)
      const ours = await withCpu(own, `/stores/${store}/check`, bodies)
      ratios.push(ours.perSecond / base.perSecond)
      byCpu.push(base.cpuMicros / ours.cpuMicros)
    }
    // The load generator takes more than the server: the ratio of CPU times is what a machine of its own would show.
    // What a route costs shows where the question costs little.
    row(`check, ${name} ÷ bare node:http`, ratios, "×", name === "direct" ? bareBar : undefined)
    row("  the same by CPU time", byCpu, "×")
  }
}

async function withCpu(
  server: Running,
  path: string,
  bodies: readonly string[],
): Promise<Load & { cpuMicros: number }> {
  const before = await server.cpu()
  const done = await load(server.url, path, bodies, roundSeconds, false)
  return { ...done, cpuMicros: ((await server.cpu()) - before) / done.answered }
}

async function against(
  peers: readonly Peer[],
  own: Running,
  store: string,
  scenario: Scenario,
): Promise<void> {
  const { name, path, bodies } = scenario
  for (const peer of peers) {
    await patientlyRight(peer, scenario)
  }
  const ours: number[] = []
  const theirs = peers.map((): number[] => [])
  const silent = new Set<Peer>()
  for (let round = 0; round < rounds; round += 1) {
    ours.push((await load(own.url, `/stores/${store}/${path}`, bodies, roundSeconds, false)).perSecond)
    for (const [at, peer] of peers.entries()) {
      const target = `/stores/${peer.store}/${path}`
      const isSlow = (theirs[at]?.[0] ?? 0) < slowRate
      const seconds = isSlow ? slowSeconds : roundSeconds
      const { perSecond, answered } = await load(peer.url, target, bodies, seconds, true)
      // Without any answer the round still says something: it is less than one in that time.
      theirs[at]?.push(answered === 0 ? 1 / seconds : perSecond)
      if (answered === 0) silent.add(peer)
      if (isSlow) await new Promise((resolve) => setTimeout(resolve, restMs))
    }
  }
  row(`${name}, over HTTP`, ours, "/s")
  for (const [at, peer] of peers.entries()) {
    const rates = theirs[at] ?? []
    const without = silent.has(peer) ? " (rounds without an answer counted as one answer)" : ""
    row(`  ${peer.name}${without}`, rates, "/s")
    row(
      `  ÷ ${peer.name}`,
      ours.map((own1, round) => own1 / (rates[round] ?? 0)),
      "×",
      bars[name]?.[at],
    )
  }
}

/** Under load the peer goes on with what nobody waits for any more, and refuses what comes next: it gets some tries. */
async function patientlyRight(peer: Peer, scenario: Scenario): Promise<void> {
  for (let tries = 3; tries > 0; tries -= 1) {
    try {
      await requireRight(peer.url, peer.store, scenario)
      return
    } catch (error) {
      console.error(`${peer.name}: ${(error as Error).message}`)
      await new Promise((resolve) => setTimeout(resolve, 5_000))
    }
  }
}

function row(what: string, values: readonly number[], unit: string, bar?: number): void {
  const value = median(values)
  const fields = {
    what,
    value: rounded(value),
    unit,
    spread: `${rounded(Math.min(...values))}–${rounded(Math.max(...values))}`,
  }
  console.log(JSON.stringify(bar === undefined ? fields : { ...fields, bar: `≥ ${bar}`, ok: value >= bar }))
}

function median(values: readonly number[]): number {
  return [...values].sort((a, b) => a - b)[values.length >> 1] ?? Number.NaN
}

function rounded(value: number): number {
  return value >= 100 ? Math.round(value) : Math.round(value * 100) / 100
}

const role = process.argv[2]
if (role === "bare") serveBare()
else if (role === "authz") await serveAuthz(process.argv[3] ?? "")
else await measure()
