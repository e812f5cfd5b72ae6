/**
 * The gateway with everything on against bare @fastify/http-proxy, before the same backend: token (cached), subscription key, rate limit, two
 * headers, relation check, access log line counted. Each server is a process of its own; rounds alternate; medians.
 */

import { type ChildProcess, execFile, fork } from "node:child_process"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { createServer } from "node:http"
import { createRequire } from "node:module"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { promisify } from "node:util"
import proxy from "@fastify/http-proxy"
import { fastify } from "fastify"
import { exportJWK, generateKeyPair, SignJWT } from "jose"
import { Engine } from "../../runtime/check/engine.ts"
import { loadModel } from "../../runtime/check/loaded-model.ts"
import type { TupleSource } from "../../runtime/check/ports.ts"
import { createGateway } from "../../runtime/gateway/gateway.ts"
import { createVerifier } from "../../runtime/identity/issuer.ts"
import { createKeyTable } from "../../runtime/identity/keys.ts"
import { createMemoryLimiter } from "../../runtime/limits/memory.ts"
import { authorizerOf } from "../gateway/authorizer.ts"
import { freePort } from "../gateway/harness.ts"
import { planOf, type RouteDraft } from "../gateway/plan-builder.ts"

const rounds = Number(process.env["BENCH_ROUNDS"] ?? 9)
const seconds = Number(process.env["BENCH_SECONDS"] ?? 2)
const connections = 32

const roles: Record<string, (settings: Settings) => Promise<void>> = { backend, bare, gateway }

interface Settings {
  readonly port: number
  readonly backendPort: number
  readonly folder: string
}

interface Measured {
  readonly requestsPerSecond: number
  readonly cpuMicros: number
  readonly failed: number
}

async function backend({ port }: Settings): Promise<void> {
  const body = JSON.stringify({
    items: Array.from({ length: 20 }, (_, id) => ({ id, name: `item ${id}`, price: 12.5 })),
  }).padEnd(1024)
  const server = createServer((_request, response) => {
    response.writeHead(200, { "content-type": "application/json", "content-length": Buffer.byteLength(body) })
    response.end(body)
  })
  server.keepAliveTimeout = 60_000
  await new Promise<void>((resolve) => server.listen(port, "127.0.0.1", resolve))
}

async function bare({ port, backendPort }: Settings): Promise<void> {
  const server = fastify()
  await server.register(proxy, {
    upstream: `http://127.0.0.1:${backendPort}`,
    prefix: "/v1/orders",
    rewritePrefix: "/",
  })
  await server.listen({ port, host: "127.0.0.1" })
}

async function gateway({ port, backendPort, folder }: Settings): Promise<void> {
  let logged = 0
  const plan = planOf({ port, ...everythingOn(backendPort) })
  const engine = new Engine(oneTuple)
  const [model] = Object.values(plan.plan.models).map(loadModel)
  if (model === undefined) throw new Error("the plan has no model")
  const running = createGateway({
    createVerifier: (settings) => createVerifier(settings),
    createKeyTable,
    limiter: createMemoryLimiter(),
    authorizerOf: () => authorizerOf((store, request) => engine.check(store, model, request)),
    observer: {
      finished: () => {
        logged += 1
      },
    },
    environment: {},
    folder,
  })
  process.on("beforeExit", () => console.error(logged))
  await running.apply(plan)
}

/** A store of one tuple, held in memory: the engine's own cost and no database's. */
const oneTuple: TupleSource = {
  revision: async () => 1,
  load: async (_storeId, onBatch) => {
    onBatch([["order:7", "viewer", "user:ann", "", "", ""]])
    return 1
  },
  pages: async (_storeId, keys) => ({ revision: 1, pages: keys.map(() => []) }),
  changes: async () => [],
  stood: async () => [],
  list: async () => 1,
}

function everythingOn(backendPort: number): Omit<Parameters<typeof planOf>[0], "port"> {
  return {
    stores: ["acme"],
    secrets: { key: { env: "KEY", default: "secret-key" } },
    products: { partner: { apis: ["main"] } },
    subscriptions: { ci: { scope: { product: "partner" }, key: "key" } },
    issuers: {
      acme: {
        source: { keys: { file: "keys.json" }, issuer: "https://issuer.example" },
        audiences: ["orders-api"],
        clockSkewSeconds: 30,
        algorithms: ["RS256"],
        claims: null,
      },
    },
    backends: { main: `http://127.0.0.1:${backendPort}` },
    routes: [route()],
  }
}

function route(): RouteDraft {
  const claim = (text: string) => ({ expression: { lang: "cel", text, type: "string" } }) as const
  return {
    path: "/v1/orders/{id}",
    stripPrefix: "/v1/orders",
    inbound: [
      {
        kind: "validate-jwt",
        issuers: ["acme"],
        from: { header: "authorization", scheme: "Bearer" },
        requireExpiration: true,
        status: 401,
        claimStatus: 403,
        claims: [{ claim: "scope", test: "has-any", values: ["orders.read"] }],
      },
      {
        kind: "validate-key",
        api: "main",
        header: "ocp-apim-subscription-key",
        query: "subscription-key",
        status: 401,
        forward: false,
      },
      {
        kind: "rate-limit",
        counter: "main",
        callsMax: 1_000_000_000,
        periodSeconds: 60,
        keys: [{ by: "subscription" }, { by: "ip" }],
      },
      {
        kind: "require",
        store: "acme",
        relation: "viewer",
        object: { text: ["order:", claim("path.id")] },
        user: { text: ["user:", claim("jwt.sub")] },
      },
      {
        kind: "set-header",
        message: "request",
        action: "set",
        name: "x-user-id",
        values: [{ text: [claim("jwt.sub")] }],
      },
    ],
    outbound: [
      { kind: "set-header", message: "response", action: "set", name: "x-gateway", values: ["edge"] },
    ],
  }
}

/** Signs a token and leaves the key set in the folder. */
async function tokenOf(folder: string): Promise<string> {
  const { publicKey, privateKey } = await generateKeyPair("RS256", { extractable: true })
  writeFileSync(
    join(folder, "keys.json"),
    JSON.stringify({ keys: [{ ...(await exportJWK(publicKey)), kid: "1", alg: "RS256", use: "sig" }] }),
  )
  return new SignJWT({ scope: "orders.read", sub: "ann" })
    .setProtectedHeader({ alg: "RS256", kid: "1" })
    .setIssuer("https://issuer.example")
    .setAudience("orders-api")
    .setIssuedAt()
    .setExpirationTime("2h")
    .sign(privateKey)
}

async function startRole(role: string, settings: Settings): Promise<ChildProcess> {
  const child = fork(process.argv[1] as string, [role, JSON.stringify(settings)], {
    stdio: ["ignore", "inherit", "inherit", "ipc"],
  })
  await new Promise<void>((resolve, reject) => {
    child.once("message", () => resolve())
    child.once("exit", (code) => reject(new Error(`${role} ended with ${code}`)))
  })
  return child
}

function cpuOf(child: ChildProcess): Promise<number> {
  return new Promise((resolve) => {
    child.once("message", (micros) => resolve(Number(micros)))
    child.send("cpu")
  })
}

const cannon = createRequire(import.meta.url).resolve("autocannon/autocannon.js")

async function measure(
  child: ChildProcess,
  port: number,
  headers: string[],
  forSeconds: number,
): Promise<Measured> {
  const before = await cpuOf(child)
  const options = [
    "-c",
    String(connections),
    "-d",
    String(forSeconds),
    "-j",
    "-n",
    ...headers.flatMap((line) => ["-H", line]),
  ]
  const { stdout } = await promisify(execFile)(process.execPath, [
    cannon,
    ...options,
    `http://127.0.0.1:${port}/v1/orders/7`,
  ])
  const result = JSON.parse(stdout) as { "2xx": number; non2xx: number; errors: number; duration: number }
  const requests = result["2xx"]
  return {
    requestsPerSecond: requests / result.duration,
    cpuMicros: ((await cpuOf(child)) - before) / requests,
    failed: result.non2xx + result.errors,
  }
}

async function bench(): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "sallyport-bench-"))
  const token = await tokenOf(folder)
  const backendPort = await freePort()
  const [barePort, gatewayPort] = [await freePort(), await freePort()]
  const children = [
    await startRole("backend", { port: backendPort, backendPort, folder }),
    await startRole("bare", { port: barePort, backendPort, folder }),
    await startRole("gateway", { port: gatewayPort, backendPort, folder }),
  ] as const
  const headers = [`authorization=Bearer ${token}`, "ocp-apim-subscription-key=secret-key"]
  const results: { bare: Measured; gateway: Measured }[] = []
  try {
    for (let round = -1; round < rounds; round += 1) {
      const forSeconds = round < 0 ? 2 : seconds
      const pair = {
        bare: await measure(children[1], barePort, headers, forSeconds),
        gateway: await measure(children[2], gatewayPort, headers, forSeconds),
      }
      console.error(JSON.stringify(pair))
      if (round >= 0) results.push(pair)
    }
  } finally {
    for (const child of children) child.kill()
    rmSync(folder, { recursive: true })
  }
  if (results.some(({ bare, gateway }) => bare.failed + gateway.failed > 0))
    throw new Error("some requests failed")
  report(results)
}

function report(results: readonly { bare: Measured; gateway: Measured }[]): void {
  const throughput = results.map(({ bare, gateway }) => gateway.requestsPerSecond / bare.requestsPerSecond)
  const cpu = results.map(({ bare, gateway }) => gateway.cpuMicros / bare.cpuMicros)
  row(
    "gateway, everything on ÷ bare @fastify/http-proxy, throughput",
    throughput,
    "≥ 1.2",
    (value) => value >= 1.2,
  )
  row(
    "gateway, everything on ÷ bare @fastify/http-proxy, CPU per request",
    cpu,
    "≤ 0.8",
    (value) => value <= 0.8,
  )
  const micros = results.map(({ gateway }) => gateway.cpuMicros)
  console.log(
    JSON.stringify({
      what: "gateway, everything on, CPU per request",
      value: Math.round(median(micros)),
      unit: "µs",
      spread: spread(micros, 0),
    }),
  )
}

function row(what: string, values: number[], bar: string, good: (value: number) => boolean): void {
  const value = Number(median(values).toFixed(2))
  console.log(JSON.stringify({ what, value, unit: "×", spread: spread(values, 2), bar, ok: good(value) }))
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] as number
}

function spread(values: readonly number[], digits: number): string {
  return `${Math.min(...values).toFixed(digits)}–${Math.max(...values).toFixed(digits)}`
}

const [role, settings] = process.argv.slice(2)
if (role === undefined) await bench()
else {
  await roles[role]?.(JSON.parse(settings as string) as Settings)
  process.on("message", (word) => {
    if (word === "exit") process.exit()
    const { user, system } = process.cpuUsage()
    process.send?.(user + system)
  })
  process.send?.("ready")
}
