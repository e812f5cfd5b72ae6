// The engine's gRPC beside its HTTP/1.1, in one process on PostgreSQL: the same check, with as many in progress, on 1, 4 and 32 connections; and bare node:http2
// and node:http, which are the limit of both.
import { execFileSync } from "node:child_process"
import { once } from "node:events"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import type { OutgoingHttpHeaders } from "node:http"
import { connect } from "node:http2"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { frameOf } from "../../runtime/authz/grpc/frames.ts"
import { codecOf } from "../../runtime/authz/grpc/message-codec.ts"
import { migrate } from "../../runtime/store/migrate.ts"
import { openPostgres } from "../../runtime/store/postgres.ts"
import { startThrowAwayPostgres } from "../support/throw-away-postgres.ts"
import { fillStore, requireRight } from "./authz/client.ts"
import { type Running, type SentCall, serveAuthz, serveBareCalls, startServer } from "./authz/servers.ts"
import { scenarios } from "./authz/world.ts"
import { type EdgeLoad, sendByH2load } from "./edge/h2load.ts"
import type { Round } from "./gateway/load.ts"
import { ratio, rounds, row } from "./gateway/report.ts"

const roundCount = Number(process.env["SALLYPORT_BENCH_ROUNDS"] ?? 24)
const requestsPerRound = Number(process.env["SALLYPORT_BENCH_REQUESTS"] ?? 4_000)
/** Before the first round that counts: V8 optimizes until then, in threads whose time would count. */
const warmUps = 8
const inProgress = 32
const bar = 0.8
const checkPath = "/openfga.v1.OpenFGAService/Check"

async function measure(): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "sallyport-bench-"))
  const postgres = await startThrowAwayPostgres()
  const database = openPostgres(postgres.url("postgres"))
  await migrate(database)
  await database.close()
  const engine = await startServer(fileURLToPath(import.meta.url), "authz", postgres.url("postgres"))
  let bare: Running | undefined
  try {
    const store = await fillStore(engine.url)
    const direct = scenarios().find(({ name }) => name === "direct")
    const [body] = direct?.bodies ?? []
    if (direct === undefined || body === undefined) throw new Error("no scenario `direct`")
    await requireRight(engine.url, store, direct)
    const [json, message] = [join(folder, "check.json"), join(folder, "check.bin")]
    writeFileSync(json, body)
    const asked = codecOf("openfga.v1.CheckRequest").encode({ ...JSON.parse(body), store_id: store })
    writeFileSync(message, frameOf(asked))
    const http: EdgeLoad = {
      ...{ scheme: "http", http: 1, connections: inProgress, streams: 1 },
      ...{ path: `/stores/${store}/check`, json },
    }
    const sent = await callOnce(engine.grpcPort ?? 0, frameOf(asked))
    bare = await startServer(fileURLToPath(import.meta.url), "bare", JSON.stringify(sent))
    for (const connections of [1, 4, inProgress]) {
      const call: EdgeLoad = {
        ...{ scheme: "http", http: 2, connections, streams: inProgress / connections },
        ...{ path: checkPath, message },
      }
      await compare({ engine, bare, folder, http, call })
    }
  } finally {
    await bare?.stop()
    await engine.stop()
    await postgres.stop()
    rmSync(folder, { recursive: true })
  }
}

/** Sends one call, and returns its response. */
async function callOnce(port: number, message: Buffer): Promise<SentCall> {
  const session = connect(`http://127.0.0.1:${port}`)
  const stream = session.request({
    ...{ ":method": "POST", ":path": checkPath, "content-type": "application/grpc", te: "trailers" },
  })
  let head: OutgoingHttpHeaders = {}
  let trailers: OutgoingHttpHeaders = {}
  const chunks: Buffer[] = []
  stream.on("response", ({ ...fields }) => {
    head = fields
  })
  stream.on("trailers", ({ ...fields }) => {
    trailers = fields
  })
  stream.on("data", (chunk: Buffer) => chunks.push(chunk))
  stream.end(message)
  await once(stream, "end")
  session.close()
  return { head, message: Buffer.concat(chunks).toString("base64"), trailers }
}

interface Compared {
  readonly engine: Running
  /** `node:http` and `node:http2` with nothing else, see `serveBareCalls`. */
  readonly bare: Running
  readonly folder: string
  readonly http: EdgeLoad
  readonly call: EdgeLoad
}

/** Short rounds, one after the other, and in the opposite order every second time, so that a machine that gets busier hits all alike. */
async function compare({ engine, bare, folder, http, call }: Compared): Promise<void> {
  const ask = async (server: Running, load: EdgeLoad) => {
    const port = load.http === 1 ? Number(new URL(server.url).port) : (server.grpcPort ?? 0)
    const round = await sendByH2load({ port, pid: server.pid }, load, requestsPerRound, folder)
    if (round.failed > 0) throw new Error(`${load.path}: ${round.failed} failed`)
    return round
  }
  const found = { http: [] as Round[], grpc: [] as Round[], bareHttp: [] as Round[], bareGrpc: [] as Round[] }
  const asks: [keyof typeof found, Running, EdgeLoad][] = [
    ["http", engine, http],
    ["grpc", engine, call],
    ["bareGrpc", bare, call],
    ["bareHttp", bare, http],
  ]
  for (let at = -warmUps; at < roundCount; at += 1)
    for (const [name, server, load] of at % 2 === 0 ? asks : asks.toReversed()) {
      const round = await ask(server, load)
      if (at >= 0) found[name].push(round)
    }
  const shape = `${call.connections} connections × ${call.streams} calls`
  if (call.connections === 1) rounds("check by HTTP/1.1, 32 connections", found.http)
  rounds(`check by gRPC, ${shape}`, found.grpc)
  rounds(`bare node:http2 with the same response, ${shape}`, found.bareGrpc)
  ratios("gRPC ÷ HTTP/1.1", shape, found.grpc, found.http, bar)
  ratios("bare node:http2 ÷ bare node:http", shape, found.bareGrpc, found.bareHttp)
  ratios("gRPC ÷ bare node:http2", shape, found.grpc, found.bareGrpc)
}

/** By throughput, which is that of the generator if it is slower, and by CPU time. */
function ratios(
  what: string,
  shape: string,
  of: readonly Round[],
  base: readonly Round[],
  atLeast?: number,
): void {
  const over = (ratioOf: (round: Round, base: Round) => number) =>
    of.map((round, at) => ratioOf(round, base[at] as Round))
  ratio(
    `${what}, ${shape}`,
    over((round, other) => round.perSecond / other.perSecond),
    atLeast,
  )
  ratio(
    "  the same by CPU time",
    over((round, other) => other.cpuMicros / round.cpuMicros),
  )
}

const [role, url] = process.argv.slice(2)
if (role === "authz") await serveAuthz(url as string)
else if (role === "bare") serveBareCalls(JSON.parse(url as string) as SentCall)
else {
  try {
    execFileSync("which", ["h2load"], { stdio: "ignore" })
    await measure()
  } catch (error) {
    if (!(error instanceof Error) || !error.message.includes("which h2load")) throw error
    row({ what: "h2load is not installed", value: "not measured", spread: "apt-get install nghttp2-client" })
  }
}
