// The engine's gRPC beside its HTTP/1.1, in one process on PostgreSQL: the same check, with as many in progress, on 1, 4 and 32 connections.
import { execFileSync } from "node:child_process"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { frameOf } from "../../runtime/authz/grpc/frames.ts"
import { codecOf } from "../../runtime/authz/grpc/message-codec.ts"
import { migrate } from "../../runtime/store/migrate.ts"
import { openPostgres } from "../../runtime/store/postgres.ts"
import { startThrowAwayPostgres } from "../support/throw-away-postgres.ts"
import { fillStore, requireRight } from "./authz/client.ts"
import { serveAuthz, startServer } from "./authz/servers.ts"
import { scenarios } from "./authz/world.ts"
import { type EdgeLoad, sendByH2load } from "./edge/h2load.ts"
import type { Round } from "./gateway/load.ts"
import { ratio, rounds, row } from "./gateway/report.ts"

const roundCount = Number(process.env["SALLYPORT_BENCH_ROUNDS"] ?? 7)
const requestsPerRound = Number(process.env["SALLYPORT_BENCH_REQUESTS"] ?? 20_000)
const inProgress = 32
const bar = 0.8

async function measure(): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "sallyport-bench-"))
  const postgres = await startThrowAwayPostgres()
  const database = openPostgres(postgres.url("postgres"))
  await migrate(database)
  await database.close()
  const engine = await startServer(fileURLToPath(import.meta.url), "authz", postgres.url("postgres"))
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
    const port = Number(new URL(engine.url).port)
    const http: EdgeLoad = {
      ...{ scheme: "http", http: 1, connections: inProgress, streams: 1 },
      ...{ path: `/stores/${store}/check`, json },
    }
    const ask = async (load: EdgeLoad, at: number) => {
      const round = await sendByH2load({ port: at, pid: engine.pid }, load, requestsPerRound, folder)
      if (round.failed > 0) throw new Error(`${load.path}: ${round.failed} failed`)
      return round
    }
    for (const connections of [1, 4, inProgress]) {
      const call: EdgeLoad = {
        ...{ scheme: "http", http: 2, connections, streams: inProgress / connections },
        ...{ path: "/openfga.v1.OpenFGAService/Check", message },
      }
      await compare(
        call,
        () => ask(http, port),
        () => ask(call, engine.grpcPort ?? 0),
      )
    }
  } finally {
    await engine.stop()
    await postgres.stop()
    rmSync(folder, { recursive: true })
  }
}

/** One after the other, round by round, after one to warm up. */
async function compare(
  { connections, streams }: EdgeLoad,
  byHttp: () => Promise<Round>,
  byGrpc: () => Promise<Round>,
): Promise<void> {
  const [http, grpc]: [Round[], Round[]] = [[], []]
  for (let at = -1; at < roundCount; at += 1) {
    const [base, ours] = [await byHttp(), await byGrpc()]
    if (at < 0) continue
    http.push(base)
    grpc.push(ours)
  }
  const shape = `${connections} connections × ${streams} calls`
  if (connections === 1) rounds("check by HTTP/1.1, 32 connections", http)
  rounds(`check by gRPC, ${shape}`, grpc)
  const over = (of: (round: Round, base: Round) => number) =>
    grpc.map((round, at) => of(round, http[at] as Round))
  ratio(
    `gRPC ÷ HTTP/1.1, ${shape}`,
    over((round, base) => round.perSecond / base.perSecond),
    bar,
  )
  ratio(
    "  the same by CPU time",
    over((round, base) => base.cpuMicros / round.cpuMicros),
  )
}

const [role, url] = process.argv.slice(2)
if (role === "authz") await serveAuthz(url as string)
else {
  try {
    execFileSync("which", ["h2load"], { stdio: "ignore" })
    await measure()
  } catch (error) {
    if (!(error instanceof Error) || !error.message.includes("which h2load")) throw error
    row({ what: "h2load is not installed", value: "not measured", spread: "apt-get install nghttp2-client" })
  }
}
