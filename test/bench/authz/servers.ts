import { type ChildProcess, fork } from "node:child_process"
import { once } from "node:events"
import { createServer, type OutgoingHttpHeaders } from "node:http"
import { createServer as createCallServer } from "node:http2"
import type { AddressInfo } from "node:net"
import { AuthzApi } from "../../../runtime/authz/api.ts"
import { startAuthz } from "../../../runtime/authz/server.ts"
import { Engine } from "../../../runtime/check/engine.ts"
import { EngineObserver } from "../../../runtime/process/engine-observer.ts"
import { StoreNames } from "../../../runtime/process/store-names.ts"
import { openPostgres } from "../../../runtime/store/postgres.ts"
import { createTupleSource } from "../../../runtime/store/tuple-source.ts"
import { Metrics } from "../../../runtime/telemetry/metrics.ts"

/** A server in a process of its own. */
export interface Running {
  readonly url: string
  readonly pid: number
  /** The port of gRPC; undefined for a server without it. */
  readonly grpcPort?: number | undefined
  /** CPU time it has used, in µs. */
  cpu(): Promise<number>
  stop(): Promise<void>
}

interface Told {
  readonly port: number
  readonly grpcPort?: number | undefined
}

/** `node:http` with nothing but what any JSON service must do: read the body, parse it, answer. */
export function serveBare(callPort?: number): void {
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
  server.listen(0, "127.0.0.1", () => ready((server.address() as AddressInfo).port, callPort))
}

/** A response of gRPC as it was sent: fields of its head, its only message with the prefix, in base64, and its trailers. */
export interface SentCall {
  readonly head: OutgoingHttpHeaders
  readonly message: string
  readonly trailers: OutgoingHttpHeaders
}

/** `serveBare`, and `node:http2` that reads each call and sends one and the same response: what is not Sallyport's in the cost of a call. */
export function serveBareCalls({ head, message, trailers }: SentCall): void {
  const answer = Buffer.from(message, "base64")
  const calls = createCallServer()
  calls.on("stream", (stream) => {
    const chunks: Buffer[] = []
    stream.on("error", () => undefined)
    stream.on("data", (chunk: Buffer) => chunks.push(chunk))
    stream.once("wantTrailers", () => stream.sendTrailers(trailers))
    stream.on("end", () => {
      stream.respond(Buffer.concat(chunks).length > 5 ? head : { ":status": 400 }, { waitForTrailers: true })
      stream.end(answer)
    })
  })
  calls.listen(0, "127.0.0.1", () => serveBare((calls.address() as AddressInfo).port))
}

/** The engine's API on a database, by HTTP and by gRPC, with its metrics as `serve` has them. */
export async function serveAuthz(databaseUrl: string): Promise<void> {
  const database = openPostgres(databaseUrl)
  const engine = new Engine(createTupleSource(database))
  const observer = new EngineObserver(new Metrics(), new StoreNames())
  const api = new AuthzApi({ database, engine, observer })
  const listen = [{ host: "127.0.0.1", port: 0 }]
  const { addresses } = await startAuthz({ api, listen })
  const grpc = await startAuthz({ api, listen, transport: { h2c: true, grpc: true } })
  ready(addresses[0]?.port ?? 0, grpc.addresses[0]?.port)
}

/** From now on the process tells its CPU time whenever it is asked. */
function ready(port: number, grpcPort?: number): void {
  process.on("message", () => {
    const { user, system } = process.cpuUsage()
    process.send?.(user + system)
  })
  process.send?.({ port, grpcPort } satisfies Told)
}

/** Starts `file` with these arguments; it must come to `serveBare` or `serveAuthz`. */
export async function startServer(file: string, ...args: string[]): Promise<Running> {
  const child = fork(file, args)
  const [told] = (await once(child, "message")) as [Told]
  return {
    url: `http://127.0.0.1:${told.port}`,
    pid: child.pid ?? 0,
    grpcPort: told.grpcPort,
    async cpu() {
      child.send("cpu")
      const [micros] = (await once(child, "message")) as [number]
      return micros
    },
    stop: () => ended(child),
  }
}

async function ended(child: ChildProcess): Promise<void> {
  const closed = once(child, "close")
  child.kill()
  await closed
}
