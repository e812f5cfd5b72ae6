// The gateway beside nginx, HAProxy, bare @fastify/http-proxy and bare undici, before the same backend: one process each, one run, rounds in turn.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { exportJWK, generateKeyPair, SignJWT } from "jose"
import type { Plan } from "../../runtime/plan/plan.ts"
import { freePort } from "../support/free-port.ts"
import { startThrowAwayPostgres, type ThrowAwayPostgres } from "../support/throw-away-postgres.ts"
import { generator, type Load, type Round, sendLoad } from "./gateway/load.ts"
import { plainPeers, startPeers } from "./gateway/peers.ts"
import { median, ratio, rounds, row } from "./gateway/report.ts"
import { expressionCount, planOfRoutes, planOfScenarios, routesLoad, scenarios } from "./gateway/scenarios.ts"
import { play, type Running, type Settings, startRole } from "./gateway/servers.ts"
import { growthOfStreams } from "./gateway/streams.ts"

const roundCount = Number(process.env["SALLYPORT_BENCH_ROUNDS"] ?? 7)
const roundSeconds = Number(process.env["SALLYPORT_BENCH_SECONDS"] ?? 1)
/** Compilers of the servers need some thousand requests. */
const warmSeconds = 3
/** What everything must reach against bare @fastify/http-proxy doing nothing else. */
const bareBar = 1.3
const routeCounts = [10, 10_000] as const
/** Processes of one program differ by a tenth: each count has several. */
const routeProcesses = 3
const streamMebibytesMax = 64

/** A server with what it is asked. */
interface Subject {
  readonly name: string
  readonly server: Running
  readonly load: Load
}

/** What is started once for everything. */
interface Bench {
  readonly folder: string
  readonly postgres: ThrowAwayPostgres
  readonly backend: Running
  readonly token: string
  readonly running: Running[]
  start(role: string, plan?: (port: number) => Plan): Promise<Running>
}

async function measure(): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "sallyport-bench-"))
  const running: Running[] = []
  const postgres = await startThrowAwayPostgres()
  console.error(`${generator}, ${roundCount} rounds of ${roundSeconds} s`)
  try {
    const bench = await openBench(folder, postgres, running)
    await measureScenarios(bench)
    await measureRoutes(bench)
  } finally {
    for (const server of running) await server.stop()
    await postgres.stop()
    rmSync(folder, { recursive: true })
  }
}

async function openBench(folder: string, postgres: ThrowAwayPostgres, running: Running[]): Promise<Bench> {
  const file = fileURLToPath(import.meta.url)
  const backendPort = await freePort()
  const token = await tokenOf(folder, `http://127.0.0.1:${backendPort}`)
  writeFileSync(join(folder, "key"), "secret-key")
  const started = async (role: string, settings: Settings): Promise<Running> => {
    const server = await startRole(file, role, settings)
    running.push(server)
    return server
  }
  const backend = await started("backend", { port: backendPort, backendPort, folder })
  const start: Bench["start"] = async (role, planFor) => {
    const port = await freePort()
    const own = join(folder, `${role}-${port}.json`)
    if (planFor === undefined) return started(role, { port, backendPort, folder })
    writeFileSync(own, JSON.stringify(planFor(port)))
    return started(role, { port, backendPort, folder, plan: own, databaseUrl: postgres.url("postgres") })
  }
  return { folder, postgres, backend, token, running, start }
}

/** Signs a token and leaves the key set for the backend, which plays the issuer too. */
async function tokenOf(folder: string, issuer: string): Promise<string> {
  const { publicKey, privateKey } = await generateKeyPair("RS256", { extractable: true })
  const key = { ...(await exportJWK(publicKey)), kid: "1", alg: "RS256", use: "sig" }
  writeFileSync(join(folder, "keys.json"), JSON.stringify({ keys: [key] }))
  return new SignJWT({ scope: "orders.read", sub: "ann" })
    .setProtectedHeader({ alg: "RS256", kid: "1" })
    .setIssuer(issuer)
    .setAudience("orders-api")
    .setIssuedAt()
    .setExpirationTime("2h")
    .sign(privateKey)
}

async function measureScenarios(bench: Bench): Promise<void> {
  const { folder, token, backend } = bench
  let skipped: ReadonlyMap<string, string> = new Map()
  const enginePort = await freePort()
  const gateway = await bench.start("gateway", (port) => {
    const made = planOfScenarios({ port, enginePort, backendPort: backend.port })
    skipped = made.skipped
    return made.plan
  })
  const bare = await bench.start("bare")
  const undici = await bench.start("undici")
  const peers = await startPeers(plainPeers, async () => {
    mkdirSync(join(folder, "peers"), { recursive: true })
    return { port: await freePort(), backendPort: backend.port, folder: join(folder, "peers") }
  })
  bench.running.push(...peers.running.values())
  const loadOf = new Map(scenarios.map(({ path, load }) => [path, load({ token })]))
  const load = (path: string): Load => loadOf.get(path) as Load
  const subjects: Subject[] = [
    { name: "plain: bare @fastify/http-proxy", server: bare, load: load("plain") },
    { name: "plain: bare undici", server: undici, load: load("plain") },
    ...[...peers.running].flatMap(([name, server]) => [
      { name: `plain: ${name}`, server, load: load("plain") },
      { name: `key + limit + headers: ${name}`, server, load: load("limited") },
    ]),
    {
      name: "10 KB JSON: bare @fastify/http-proxy",
      server: bare,
      load: { ...load("json"), paths: ["/plain/7"] },
    },
    ...scenarios
      .filter(({ path }) => !skipped.has(path))
      .map(({ name, path }) => ({ name: `${name}: gateway`, server: gateway, load: load(path) })),
  ]
  const found = await inTurn(bench, subjects)
  for (const reason of peers.missing) row({ what: reason, value: "not measured" })
  for (const [name, all] of found) rounds(name, all)
  report(found, skipped)
  await measureStreams(gateway)
}

function report(found: Found, skipped: ReadonlyMap<string, string>): void {
  for (const { name, path } of scenarios) {
    const reason = skipped.get(path)
    if (reason !== undefined) row({ what: name, value: "not measured", spread: reason })
    else if (path !== "cel" && path !== "csharp")
      against(found, name, path === "json" ? "10 KB JSON" : "plain")
  }
  // What the request costs without them is taken off.
  const plain = roundsOf(found, "plain: gateway")
  const cel = roundsOf(found, `${expressionCount} expressions in CEL: gateway`)
  const csharp = roundsOf(found, `${expressionCount} expressions in C#: gateway`)
  const cost = (of: readonly Round[], at: number) => cpuAt(of, at) - cpuAt(plain, at)
  const ratios = cel.map((_, at) => cost(cel, at) / cost(csharp, at))
  if (csharp.length > 0) ratio("an expression in C# ÷ the same in CEL, by CPU time", ratios, 0.7)
}

const cpuAt = (of: readonly Round[], at: number): number => of[at]?.cpuMicros ?? Number.NaN

/** A scenario against bare @fastify/http-proxy with the same requests and nothing else to do. */
function against(found: Found, name: string, bareName: string): void {
  const bare = roundsOf(found, `${bareName}: bare @fastify/http-proxy`)
  compare(`${name} ÷ bare @fastify/http-proxy`, roundsOf(found, `${name}: gateway`), bare, bareBar)
}

/** By throughput and by CPU time; nothing where one of them was not measured. */
function compare(what: string, own: readonly Round[], base: readonly Round[], bar: number): void {
  if (own.length === 0 || base.length === 0) return
  const rates = own.map(({ perSecond }, at) => perSecond / (base[at]?.perSecond ?? Number.NaN))
  const cpu = own.map(({ cpuMicros }, at) => cpuAt(base, at) / cpuMicros)
  ratio(`${what}, throughput`, rates, bar)
  ratio("  the same by CPU time", cpu, bar)
}

async function measureRoutes(bench: Bench): Promise<void> {
  const { backend } = bench
  const subjects: (Subject & { readonly count: number })[] = []
  for (let copy = 1; copy <= routeProcesses; copy += 1)
    for (const count of routeCounts) {
      const server = await bench.start("gateway", (port) =>
        planOfRoutes(count, { port, backendPort: backend.port }),
      )
      subjects.push({ name: `${count} routes: gateway ${copy}`, count, server, load: routesLoad(count) })
    }
  const found = await inTurn(bench, subjects)
  const [few = [], many = []] = routeCounts.map((wanted) =>
    subjects.flatMap(({ name, count }) => (count === wanted ? roundsOf(found, name) : [])),
  )
  for (const [count, all] of [few, many].entries()) rounds(`${routeCounts[count]} routes: gateway`, all)
  compare("10,000 routes ÷ 10 routes", many, few, 0.95)
}

async function measureStreams(server: Running): Promise<void> {
  const { download, upload } = await growthOfStreams(server)
  for (const [what, grown] of [
    ["to the client", download],
    ["to the backend", upload],
  ] as const)
    row({
      what: `1 GiB streamed ${what}, resident memory`,
      value: `+ ${grown.toFixed(0)}`,
      unit: "MiB",
      bar: `≤ ${streamMebibytesMax}`,
      ok: grown <= streamMebibytesMax,
    })
}

type Found = ReadonlyMap<string, readonly Round[]>

/** None where it was not measured, or not answered. */
const roundsOf = (found: Found, name: string): readonly Round[] => found.get(name) ?? []

/** All subjects once to warm up, then round by round, one after the other. */
async function inTurn({ folder }: Bench, subjects: readonly Subject[]): Promise<Found> {
  const found = new Map(subjects.map(({ name }) => [name, [] as Round[]]))
  for (let at = -1; at < roundCount; at += 1)
    for (const { name, server, load } of subjects) {
      const all = found.get(name)
      if (all === undefined) continue
      const round = await sendLoad(server, load, at < 0 ? warmSeconds : roundSeconds, folder)
      if (round.failed > 0) {
        // What fails is fast: its rounds would be no measure of anything.
        row({ what: name, value: `${round.failed} requests failed`, ok: false })
        found.delete(name)
      } else if (at >= 0) all.push(round)
    }
  for (const [name, all] of found)
    console.error(`${name}: ${median(all.map(({ cpuMicros }) => cpuMicros)).toFixed(0)} µs`)
  return found
}

const [role, settings] = process.argv.slice(2)
if (role === undefined) await measure()
else await play(role, JSON.parse(settings as string) as Settings)
