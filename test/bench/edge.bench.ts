// The gateway at the edge, with TLS, HTTP/2 and gRPC, beside nginx, HAProxy, Caddy and Traefik with the same certificate: one process
// each, one run, rounds in turn; and bare Node beside it, because what TLS and HTTP/2 add there is the limit. What a request or a handshake costs is the
// CPU time of the server's process.
import { execFileSync } from "node:child_process"
import { randomBytes } from "node:crypto"
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { Client } from "pg"
import { MemoryFiles } from "../../compiler/core/files.ts"
import type { Plan } from "../../runtime/plan/plan.ts"
import { compile } from "../compile.ts"
import { Authority } from "../support/certificates.ts"
import { freePort } from "../support/free-port.ts"
import { type Pebble, pebbleBinary, pebbleMissing, startPebble } from "../support/pebble.ts"
import { startThrowAwayPostgres, type ThrowAwayPostgres } from "../support/throw-away-postgres.ts"
import { askOnce, type BareSettings } from "./edge/bare.ts"
import { type EdgeLoad, sendByH2load } from "./edge/h2load.ts"
import { shakeHands } from "./edge/handshakes.ts"
import { type EdgeSettings, edgePeers } from "./edge/peers.ts"
import { changingPlans, edgeRoles } from "./edge/roles.ts"
import type { Round } from "./gateway/load.ts"
import { startPeers } from "./gateway/peers.ts"
import { costRatio, micros, rounds, row } from "./gateway/report.ts"
import { play, type Running, type Settings, startRole } from "./gateway/servers.ts"

const roundCount = Number(process.env["SALLYPORT_BENCH_ROUNDS"] ?? 20)
const requestsPerRound = Number(process.env["SALLYPORT_BENCH_REQUESTS"] ?? 3_000)
/** Before the first round that counts. */
const warmUps = 5
const handshakesPerRound = 150
const changeRounds = 7
const changeRequests = 20_000
const renewEveryMs = 250
const own = "gateway"
const bareName = "bare Node"

interface Bench {
  readonly folder: string
  readonly settings: EdgeSettings
  readonly authority: Authority
  readonly plainPort: number
  readonly backend: Running
  readonly calls: Running
  /** Undefined: it is not installed. */
  readonly pebble: Pebble | undefined
}

const kept = { connections: 32, streams: 1, path: "/plain/7" }
const overTls: EdgeLoad = { ...kept, scheme: "https", http: 1 }
const loads: Readonly<Record<string, EdgeLoad>> = {
  "HTTP/1.1 with TLS": overTls,
  "HTTP/2, 1 stream": { ...overTls, http: 2 },
  "HTTP/2, 10 streams": { ...overTls, http: 2, connections: 4, streams: 10 },
  "HTTP/2, 100 streams": { ...overTls, http: 2, connections: 1, streams: 100 },
}

/** Of one kind of measurement: by server, its rounds. */
type Found = Map<string, Round[]>
type Measured = Map<string, Found>

async function measure(): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "sallyport-bench-"))
  const postgres = await startThrowAwayPostgres()
  const running: Running[] = []
  try {
    const bench = await openBench(folder, running)
    if (bench.pebble === undefined) row({ what: pebbleMissing, value: "ACME not measured" })
    const gateway = await startEdge(bench, postgres.url("postgres"))
    running.push(gateway)
    const peers = await startPeers(edgePeers, async () => {
      mkdirSync(join(folder, "peers"), { recursive: true })
      return { ...bench.settings, port: await freePort(), folder: join(folder, "peers") }
    })
    running.push(...peers.running.values())
    for (const reason of peers.missing) row({ what: reason, value: "not measured" })
    const bare = await startBare(bench)
    running.push(bare.server)
    report(
      await inTurn(
        bench,
        new Map([[own, gateway], [bareName, bare.server], ...peers.running]),
        bare.plainPort,
      ),
    )
    await measureChanges({ bench, gateway }, await startNeighbour(bench, postgres, running))
  } finally {
    for (const server of running) await server.stop()
    await postgres.stop()
    rmSync(folder, { recursive: true })
  }
}

/** A second gateway with files, ports, a database and an ACME server of its own. */
async function startNeighbour(
  { folder }: Bench,
  postgres: ThrowAwayPostgres,
  running: Running[],
): Promise<Changing> {
  const own = join(folder, "neighbour")
  mkdirSync(own)
  const bench = await openBench(own, running)
  const client = new Client({ connectionString: postgres.url("postgres") })
  await client.connect()
  await client.query("create database neighbour")
  await client.end()
  const gateway = await startEdge(bench, postgres.url("neighbour"))
  running.push(gateway)
  return { bench, gateway }
}

async function openBench(folder: string, running: Running[]): Promise<Bench> {
  const file = fileURLToPath(import.meta.url)
  const authority = new Authority(folder)
  const { cert, key } = authority.sign("edge", ["localhost"])
  authority.sign("renewed", ["localhost"])
  const pair = join(folder, "edge.pair.pem")
  writeFileSync(pair, Buffer.concat([readFileSync(cert), readFileSync(key)]))
  writeFileSync(join(folder, "keys.json"), "{}")
  writeFileSync(
    join(folder, "message"),
    Buffer.concat([Buffer.from([0, 0, 0, 0, 100]), Buffer.alloc(100, "a")]),
  )
  const start = async (role: string): Promise<Running> => {
    const server = await startRole(file, role, { port: await freePort(), backendPort: 0, folder })
    running.push(server)
    return server
  }
  const [backend, calls] = [await start("backend"), await start("calls")]
  const [port, plainPort] = [await freePort(), await freePort()]
  const settings = { port, backendPort: backend.port, callPort: calls.port, folder, cert, key, pair }
  const binary = pebbleBinary()
  const pebble = binary && (await startPebble(binary, { httpPort: plainPort, tlsPort: 1 }))
  if (pebble) running.push({ port: 0, pid: 0, stop: () => pebble.stop() })
  return { folder, settings, authority, plainPort, backend, calls, pebble: pebble || undefined }
}

async function startBare(bench: Bench): Promise<{ readonly server: Running; readonly plainPort: number }> {
  const sent = await askOnce(`http://127.0.0.1:${bench.plainPort}${kept.path}`)
  const plainPort = await freePort()
  const given: BareSettings = { ...bench.settings, port: await freePort(), plainPort, sent }
  return { server: await startRole(fileURLToPath(import.meta.url), "bareEdge", given), plainPort }
}

async function startEdge(bench: Bench, databaseUrl: string): Promise<Running> {
  const plan = join(bench.folder, "plan.json")
  writeFileSync(join(bench.folder, "protection"), randomBytes(32).toString("base64"))
  writeFileSync(plan, JSON.stringify(planOf(bench, "quiet")))
  const port = await freePort()
  for (let round = 0; round <= changeRounds; round += 1)
    for (const file of changingPlans(plan, round))
      writeFileSync(
        file,
        JSON.stringify(planOf(bench, file.endsWith("one") ? "one" : "other", { port, round })),
      )
  const given: Settings = { ...bench.settings, plan, databaseUrl }
  return startRole(fileURLToPath(import.meta.url), "edge", given)
}

/** `ordered`: a listener whose certificates are ordered from the Pebble; each round has others, because a renewal waits at least ten minutes. */
function planOf(
  { settings, plainPort, pebble }: Bench,
  header: string,
  ordered?: { readonly port: number; readonly round: number },
): Plan {
  const { port, backendPort, callPort, cert, key, folder } = settings
  const acme = `acme {
    directory "${pebble?.directory}"
    ca file("${pebble?.caFile}")
    encrypt-with protection
  `
  const names =
    ordered && pebble ? ["first", "second", "third"].map((each) => `${each}_${ordered.round}`) : []
  const text = `
gateway edge {
  listen 127.0.0.1:${plainPort}
  listen 127.0.0.1:${port} { tls { certificate edge } }
  ${names.length === 0 ? "" : `listen 127.0.0.1:${ordered?.port} { tls { certificate ${names.join(" ")} } }`}
}
${names.length === 0 ? "" : `secret protection = file("${folder}/protection")`}
${names.map((name) => `certificate ${name} { ${acme} hosts "${name.replace("_", "-")}.example" } }`).join("\n")}
certificate edge { cert file("${cert}"); key file("${key}") }
backend main { target "http://127.0.0.1:${backendPort}" }
backend calls { target "http://127.0.0.1:${callPort}"; http2 h2c }
api plain {
  path "/plain"
  auth none
  outbound { header set "X-Plan" "${header}" }
  GET "/{id}" { backend main }
}
api calls {
  path "/bench.Echo"
  auth none
  POST "/Say" { backend calls }
}
`
  const { plan, diagnostics } = compile(new MemoryFiles(new Map([["gateway.conf", text]])), "gateway.conf")
  if (plan === undefined) throw new Error(JSON.stringify(diagnostics[0]))
  return plan
}

/**
 * All servers with all loads, to warm up and then round by round: short ones, one after the other, and in the opposite order every second time, so that
 * a machine that gets busier hits all alike.
 */
async function inTurn(
  bench: Bench,
  servers: ReadonlyMap<string, Running>,
  barePort: number,
): Promise<Measured> {
  const measured: Measured = new Map()
  const ca = bench.authority.pem
  const call: EdgeLoad = {
    ...{ scheme: "https", http: 2, connections: 4, streams: 8, path: "/bench.Echo/Say" },
    message: join(bench.folder, "message"),
  }
  const kinds: [string, (server: Running) => Promise<Round>][] = [
    ...Object.entries({ ...loads, "gRPC, unary": call }).map(
      ([kind, load]): [string, (server: Running) => Promise<Round>] => [
        kind,
        (server) => sendByH2load(server, load, requestsPerRound, bench.folder),
      ],
    ),
    ["TLS 1.3 handshakes", (server) => shakeHands(server, ca, handshakesPerRound)],
  ]
  const all = kinds.flatMap(([kind, ask]) =>
    [...servers].map(([name, server]) => ({ kind, name, ask: () => ask(server) })),
  )
  const plain: EdgeLoad = { ...kept, scheme: "http", http: 1 }
  for (const [name, port] of Object.entries({ [own]: bench.plainPort, [bareName]: barePort })) {
    const server = { port, pid: servers.get(name)?.pid ?? 0 }
    const ask = () => sendByH2load(server, plain, requestsPerRound, bench.folder)
    all.unshift({ kind: "HTTP/1.1", name, ask })
  }
  for (let at = -warmUps; at < roundCount; at += 1)
    for (const { kind, name, ask } of at % 2 === 0 ? all : all.toReversed())
      keep(measured, kind, name, at, await ask())
  return measured
}

/** What fails is fast: such a round ends the measurement of the server, and is told. */
function keep(measured: Measured, kind: string, name: string, at: number, round: Round): void {
  const found: Found = measured.get(kind) ?? new Map()
  measured.set(kind, found)
  const all = found.get(name) ?? []
  if (at === -warmUps || found.has(name)) found.set(name, all)
  if (round.failed > 0 && found.delete(name))
    row({ what: `${kind}: ${name}`, value: `${round.failed} failed`, ok: false })
  else if (at >= 0) all.push(round)
}

function report(measured: Measured): void {
  for (const [kind, found] of measured) for (const [name, all] of found) rounds(`${kind}: ${name}`, all)
  const ownOf = (kind: string): readonly Round[] => measured.get(kind)?.get(own) ?? []
  reportAdded(measured, "TLS, kept connections", "HTTP/1.1 with TLS", "HTTP/1.1", 1.15)
  for (const kind of measured.keys())
    if (kind.startsWith("HTTP/2")) reportAdded(measured, kind, kind, "HTTP/1.1 with TLS", 1.4)
  reportAdded(measured, "gRPC, unary", "gRPC, unary", "HTTP/1.1 with TLS", 2.5)
  for (const [kind, found] of measured)
    for (const [name, all] of found)
      if (name !== own) costRatio(`${kind}: CPU time of the gateway ÷ ${name}`, cpuRatios(ownOf(kind), all))
}

/** What a kind of request costs more than another: by the gateway as a ratio with its bar, and in µs beside bare Node. */
function reportAdded(measured: Measured, what: string, kind: string, base: string, most: number): void {
  const roundsOf = (of: string, name: string): readonly Round[] => measured.get(of)?.get(name) ?? []
  costRatio(`${what}: CPU time ÷ ${base}`, cpuRatios(roundsOf(kind, own), roundsOf(base, own)), most)
  for (const name of [own, bareName]) {
    const bases = roundsOf(base, name)
    const more = roundsOf(kind, name).map(
      ({ cpuMicros }, at) => cpuMicros - (bases[at]?.cpuMicros ?? Number.NaN),
    )
    micros(`  ${what}, added to ${base}: ${name}`, more)
  }
}

const cpuRatios = (of: readonly Round[], base: readonly Round[]): number[] =>
  of.map(({ cpuMicros }, at) => cpuMicros / (base[at]?.cpuMicros ?? Number.NaN))

/** A gateway whose plans and certificates change. */
interface Changing {
  readonly bench: Bench
  readonly gateway: Running
}

/**
 * p99 while certificates are read again, ordered by ACME, and plans applied, against rounds without in turn. Pebble, the database and the gateway share two
 * cores with the requests, so a neighbour that gets no request does the same in other rounds: its ratio is what the machine costs.
 */
async function measureChanges(asked: Changing, neighbour: Changing): Promise<void> {
  const send = () => sendByH2load(asked.gateway, overTls, changeRequests, asked.bench.folder)
  const rounds: Record<"quiet" | "beside" | "changing", number[]> = { quiet: [], beside: [], changing: [] }
  const [renewOwn, renewNeighbour] = [renewing(asked.bench), renewing(neighbour.bench)]
  for (let at = -1; at < changeRounds; at += 1) {
    const quiet = await send()
    const beside = await whileChanging(neighbour.gateway, renewNeighbour, send)
    const changing = await whileChanging(asked.gateway, renewOwn, send)
    const failed = quiet.failed + beside.failed + changing.failed
    if (failed > 0) row({ what: "changes", value: `${failed} failed`, ok: false })
    if (at < 0) continue
    for (const [kind, { p99 }] of Object.entries({ quiet, beside, changing }))
      rounds[kind as keyof typeof rounds].push(p99)
  }
  const to = (all: readonly number[], base: readonly number[]) => all.map((p99, at) => p99 / (base[at] ?? 0))
  const issued = (asked.bench.pebble?.output.join("").match(/Issued certificate/g) ?? []).length
  const what = `p99 with plans, new files of certificates and ${issued} ordered ones`
  costRatio(`${what} ÷ without`, to(rounds.changing, rounds.quiet))
  costRatio(`${what}, in another process ÷ without`, to(rounds.beside, rounds.quiet))
  costRatio(`${what} ÷ in another process`, to(rounds.changing, rounds.beside), 1.3)
}

/** Writes another pair of certificate and key into the files of the gateway, each time it is called. */
function renewing({ settings, folder }: Bench): () => void {
  const pairs = [join(folder, "kept"), join(folder, "renewed")]
  copyFileSync(settings.cert, `${pairs[0]}.pem`)
  copyFileSync(settings.key, `${pairs[0]}.key`)
  let renewals = 0
  return () => {
    renewals += 1
    const from = pairs[renewals % pairs.length]
    copyFileSync(`${from}.key`, settings.key)
    copyFileSync(`${from}.pem`, settings.cert)
  }
}

/** Measures while a gateway applies plans, orders certificates and reads new files. */
async function whileChanging(
  gateway: Running,
  renew: () => void,
  send: () => Promise<Round>,
): Promise<Round> {
  process.kill(gateway.pid, "SIGUSR2")
  const timer = setInterval(renew, renewEveryMs)
  const round = await send()
  clearInterval(timer)
  process.kill(gateway.pid, "SIGUSR2")
  return round
}

const [role, settings] = process.argv.slice(2)
if (role !== undefined) await play(role, JSON.parse(settings as string) as Settings, edgeRoles)
else {
  try {
    execFileSync("which", ["h2load"], { stdio: "ignore" })
    await measure()
  } catch (error) {
    if (!(error instanceof Error) || !error.message.includes("which h2load")) throw error
    row({ what: "h2load is not installed", value: "not measured", spread: "apt-get install nghttp2-client" })
  }
}
