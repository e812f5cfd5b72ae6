import { type ChildProcess, fork } from "node:child_process"
import { once } from "node:events"
import { readFileSync } from "node:fs"
import { createServer, type IncomingMessage, type ServerResponse } from "node:http"
import proxy from "@fastify/http-proxy"
import { fastify } from "fastify"
import { Pool } from "undici"
import { startRuntime } from "../../../runtime/main.ts"
import type { Plan } from "../../../runtime/plan/plan.ts"
import type { Runtime } from "../../../runtime/process/settings.ts"
import { createLog } from "../../../runtime/telemetry/log.ts"

/** A server in a process of its own. */
export interface Running {
  readonly port: number
  readonly pid: number
  stop(): Promise<void>
}

/** What a role is started with. */
export interface Settings {
  readonly port: number
  readonly backendPort: number
  readonly folder: string
  /** File of the plan, for the gateway. */
  readonly plan?: string
  readonly databaseUrl?: string
}

/** How many bytes go each way when streams are measured. */
export const streamBytes = 1024 ** 3

export type Role = (settings: Settings) => Promise<void>

/** What can be started: each in a process of its own. */
const roles: Readonly<Record<string, Role>> = {
  backend,
  bare,
  undici,
  gateway,
}

async function backend({ port, folder }: Settings): Promise<void> {
  const items = Array.from({ length: 20 }, (_, id) => ({ id, name: `item ${id}`, price: 12.5 }))
  const body = JSON.stringify({ items }).padEnd(1024)
  const issuer = `http://127.0.0.1:${port}`
  const known: Readonly<Record<string, string>> = {
    "/.well-known/openid-configuration": JSON.stringify({ issuer, jwks_uri: `${issuer}/keys` }),
    "/keys": readFileSync(`${folder}/keys.json`, "utf8"),
  }
  const server = createServer((request, response) => {
    if (request.url === "/stream") stream(request, response)
    else answer(request, response, known[request.url ?? ""] ?? body)
  })
  server.keepAliveTimeout = 60_000
  await listening(server, port)
}

/** Answers when the request has been read. */
function answer(request: IncomingMessage, response: ServerResponse, body: string): void {
  const send = () => {
    response.writeHead(200, {
      "content-type": "application/json",
      "content-length": Buffer.byteLength(body),
    })
    response.end(body)
  }
  if (request.method === "GET") send()
  else request.resume().once("end", send)
}

/** Takes whatever comes and says how much it was, or sends as fast as it is read. */
function stream(request: IncomingMessage, response: ServerResponse): void {
  if (request.method === "POST") {
    let received = 0
    request.on("data", (chunk: Buffer) => {
      received += chunk.length
    })
    request.once("end", () => response.end(String(received)))
    return
  }
  const chunk = Buffer.alloc(64 * 1024)
  let left = streamBytes / chunk.length
  response.writeHead(200, { "content-length": streamBytes })
  const more = () => {
    while (left > 0) {
      left -= 1
      if (!response.write(chunk)) break
    }
    if (left === 0) response.end()
    else response.once("drain", more)
  }
  more()
}

async function bare({ port, backendPort }: Settings): Promise<void> {
  const server = fastify()
  await server.register(proxy, {
    upstream: `http://127.0.0.1:${backendPort}`,
    prefix: "/plain",
    rewritePrefix: "/",
  })
  await server.listen({ port, host: "127.0.0.1" })
}

/** `node:http` and undici's `stream`, as one would write it in an hour: nothing is checked, hop-by-hop fields are copied. */
async function undici({ port, backendPort }: Settings): Promise<void> {
  const pool = new Pool(`http://127.0.0.1:${backendPort}`)
  const server = createServer((request, response) => {
    const { host: _host, connection: _connection, ...headers } = request.headers
    const options = {
      path: (request.url ?? "").slice("/plain".length),
      method: "GET",
      headers,
      opaque: response,
    } as const
    pool
      .stream(options, ({ statusCode, headers: answered }) => response.writeHead(statusCode, answered))
      .catch(() => response.destroy())
  })
  await listening(server, port)
}

/** The product as `serve` starts it, with metrics and usage and without an access log: the peers write none either. */
export async function openGateway({ plan, databaseUrl, folder }: Settings): Promise<Runtime> {
  return startRuntime({
    database: { url: databaseUrl ?? "" },
    // The engine's listener takes the tuples.
    roles: ["gateway", "authz"],
    control: undefined,
    plan: JSON.parse(readFileSync(plan ?? "", "utf8")) as Plan,
    env: {},
    cwd: folder,
    version: "bench",
    log: createLog({ level: "warn" }),
    accessLog: false,
    migrate: true,
  })
}

async function gateway(settings: Settings): Promise<void> {
  const runtime = await openGateway(settings)
  await runtime.seed("acme", [{ user: "user:ann", relation: "viewer", object: "order:7" }])
}

async function listening(server: ReturnType<typeof createServer>, port: number): Promise<void> {
  await new Promise<void>((resolve) => server.listen(port, "127.0.0.1", resolve))
}

/** Runs a role in this process, one of `more` or of those above; it tells its parent when it is ready. */
export async function play(
  role: string,
  settings: Settings,
  more: Readonly<Record<string, Role>> = {},
): Promise<void> {
  await { ...roles, ...more }[role]?.(settings)
  process.send?.("ready")
}

/** Starts `file`, which must come to `play`, with a role. */
export async function startRole(file: string, role: string, settings: Settings): Promise<Running> {
  const child = fork(file, [role, JSON.stringify(settings)], { stdio: ["ignore", 2, 2, "ipc"] })
  await new Promise<void>((resolve, reject) => {
    child.once("message", () => resolve())
    child.once("exit", (code) => reject(new Error(`${role} ended with ${code}`)))
  })
  return runningOf(child, settings.port)
}

/** A process that was started as a server on this port. */
export function runningOf(child: ChildProcess, port: number): Running {
  const { pid } = child
  if (pid === undefined) throw new Error("the process did not start")
  return {
    port,
    pid,
    stop: async () => {
      if (child.exitCode !== null) return
      const closed = once(child, "close")
      child.kill("SIGKILL")
      await closed
    },
  }
}
