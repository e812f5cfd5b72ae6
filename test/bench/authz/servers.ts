import { type ChildProcess, fork } from "node:child_process"
import { once } from "node:events"
import { createServer } from "node:http"
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
export function serveBare(): void {
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
