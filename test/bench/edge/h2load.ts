import { execFile } from "node:child_process"
import { readFileSync, rmSync } from "node:fs"
import { join } from "node:path"
import { promisify } from "node:util"
import { cpuOf, type Round } from "../gateway/load.ts"
import type { Running } from "../gateway/servers.ts"

/** How clients connect and what they ask. */
export interface EdgeLoad {
  readonly scheme: "http" | "https"
  readonly http: 1 | 2
  readonly connections: number
  /** Requests in progress on a connection; 1 with HTTP/1.1. */
  readonly streams: number
  readonly path: string
  /** A gRPC call with this message, length-prefixed, in a file. */
  readonly message?: string
  /** A POST request with this JSON, in a file. */
  readonly json?: string
}

/**
 * Sends `requests` requests by nghttp2's client, which checks no certificate. `folder` is for its list of requests. The CPU time is that of kept
 * connections: a run with one request on each comes before, and what it costs is subtracted, because 32 handshakes cost as much as TLS does in
 * thousands of requests.
 */
export async function sendByH2load(
  server: Pick<Running, "port" | "pid">,
  load: EdgeLoad,
  requests: number,
  folder: string,
): Promise<Round> {
  const opened = await send(server, load, load.connections, folder)
  const sent = await send(server, load, requests, folder)
  const cpuMicros = (sent.cpuMicros - opened.cpuMicros) / (requests - load.connections)
  return { ...sent, cpuMicros, failed: sent.failed + opened.failed }
}

/** `cpuMicros` of the round is that of all requests together. */
async function send(
  { port, pid }: Pick<Running, "port" | "pid">,
  load: EdgeLoad,
  requests: number,
  folder: string,
): Promise<Round> {
  const list = join(folder, `h2load-${port}.log`)
  rmSync(list, { force: true })
  const before = cpuOf(pid)
  const { stdout } = await promisify(execFile)("h2load", [
    ...["-t1", `-c${load.connections}`, `-m${load.streams}`, `-n${requests}`, `--log-file=${list}`],
    ...(load.http === 1 ? ["--h1"] : []),
    ...(load.message === undefined ? [] : callOf(load.message)),
    ...(load.json === undefined ? [] : [`--data=${load.json}`, "-H", "content-type: application/json"]),
    // The name is what the certificate is for; the address is the server's.
    ...[`--connect-to=127.0.0.1:${port}`, `${load.scheme}://localhost:${port}${load.path}`],
  ])
  const cpuMicros = cpuOf(pid) - before
  const succeeded = Number(/status codes: (\d+) 2xx/.exec(stdout)?.[1] ?? 0)
  const micros = readFileSync(list, "utf8")
    .trim()
    .split("\n")
    .map((line) => Number(line.split("\t")[2]))
    .sort((a, b) => a - b)
  const at = (share: number): number => micros[Math.floor(micros.length * share)] ?? Number.NaN
  return {
    perSecond: Number(/([\d.]+) req\/s/.exec(stdout)?.[1] ?? Number.NaN),
    cpuMicros,
    p50: at(0.5),
    p99: at(0.99),
    failed: requests - succeeded,
  }
}

const callOf = (message: string): readonly string[] => [
  `--data=${message}`,
  ...["-H", "content-type: application/grpc", "-H", "te: trailers"],
]
