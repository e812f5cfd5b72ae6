import { createHmac } from "node:crypto"
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { Agent, createServer, request, type Server } from "node:http"
import type { AddressInfo } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, beforeAll, expect, test } from "vitest"
import { run } from "../cli/run.ts"
import { eventually, freePorts, type SallyportProcess, start } from "../e2e/sallyport-process.ts"
import { createDatabase, describePostgres, type TestDatabase } from "../postgres.ts"

// What stays in `sallyport serve` after collection, against the number of requests, as fast as they are answered.
// What is bounded (cache, counters, tokens that were verified) fills to its bound; after that nothing may grow. Measured: until the cache is full at 80,000 requests the heap goes from 35 to 46 MiB and
// buffers from 6 to 46; at 180,000 they are 47 and 46.

const requestsMax = Number(process.env["SALLYPORT_SOAK_REQUESTS"] ?? 180_000)
const samplesMax = 18
const mebibyte = 1024 ** 2
const controlToken = "a-token-for-the-soak-of-the-gateway"
const secret = "a-secret-of-thirty-two-bytes-or-more"
/** In the process that is measured: collects, and writes what is left. */
const hook = `
import { isMainThread } from "node:worker_threads"
import { setFlagsFromString } from "node:v8"
import { runInNewContext } from "node:vm"
import { renameSync, writeFileSync } from "node:fs"
if (isMainThread && process.env.SOAK_FILE) {
  setFlagsFromString("--expose-gc")
  const collect = runInNewContext("gc")
  process.on("SIGUSR2", async () => {
    for (let at = 0; at < 5; at += 1) { collect(); await new Promise((done) => setTimeout(done, 100)) }
    writeFileSync(process.env.SOAK_FILE + ".new", JSON.stringify(process.memoryUsage()))
    renameSync(process.env.SOAK_FILE + ".new", process.env.SOAK_FILE)
  })
}
`

/** MiB after collection. */
interface Sample {
  readonly requests: number
  readonly heap: number
  readonly buffers: number
  readonly cache: number
  readonly resident: number
}

interface Asked {
  readonly method: string
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string
  readonly status: number
}

describePostgres("a soak of mixed traffic", () => {
  let folder = ""
  let database: TestDatabase
  let backend: Server
  let served: SallyportProcess
  let ports: readonly number[] = []
  const agent = new Agent({ keepAlive: true, maxSockets: 32 })

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), "sallyport-soak-"))
    database = await createDatabase()
    ports = await freePorts(3)
    backend = createServer((asked, answer) => {
      asked.resume().once("end", () => {
        // The larger ones fill the cache before half of the requests are over.
        const words = "something that is kept ".repeat(asked.url?.startsWith("/large/") === true ? 80 : 12)
        const body = JSON.stringify({ path: asked.url, words })
        answer.writeHead(200, {
          "content-type": "application/json",
          "content-length": Buffer.byteLength(body),
        })
        answer.end(body)
      })
    })
    await new Promise<void>((resolve) => backend.listen(0, "127.0.0.1", resolve))
    writeFileSync(join(folder, "hook.mjs"), hook)
    writeFileSync(join(folder, "gateway.conf"), configuration(ports, (backend.address() as AddressInfo).port))
    writeFileSync(join(folder, "soak.fga"), model)
    const env = {
      SALLYPORT_DATABASE_URL: database.url,
      SALLYPORT_CONTROL_TOKEN: controlToken,
      SALLYPORT_CONTROL_LISTEN: `127.0.0.1:${ports[2]}`,
      SALLYPORT_CONTROL_URL: `http://127.0.0.1:${ports[2]}`,
      SOAK_SECRET: secret,
      SOAK_FILE: join(folder, "memory.json"),
      NODE_OPTIONS: `--import=${join(folder, "hook.mjs")}`,
    }
    const { NODE_OPTIONS: _, SOAK_FILE: __, ...plain } = env
    expect(await run({ cwd: folder, env: plain }, "migrate")).toMatchObject({ code: 0, err: "" })
    served = start(folder, env, "serve")
    await eventually(() => fetch(`http://127.0.0.1:${ports[2]}/healthz`))
    expect(await run({ cwd: folder, env: plain }, "apply", "--yes", "--allow", "opens")).toMatchObject({
      code: 0,
      err: "",
    })
    await eventually(async () => ((await fetch(`http://127.0.0.1:${ports[2]}/readyz`)).ok ? true : undefined))
  })

  afterAll(async () => {
    agent.destroy()
    await served?.stop("SIGKILL")
    backend?.close()
    await database?.drop()
    rmSync(folder, { recursive: true, force: true })
  })

  /** Status of the answer, which is read to its end. */
  function ask({ method, path, headers, body }: Asked): Promise<number> {
    return new Promise((resolve, reject) => {
      request({ agent, host: "127.0.0.1", port: ports[0], method, path, headers }, (answer) => {
        answer.resume().once("end", () => resolve(answer.statusCode ?? 0))
      })
        .once("error", reject)
        .end(body)
    })
  }

  async function measure(requests: number): Promise<Sample> {
    const file = join(folder, "memory.json")
    rmSync(file, { force: true })
    served.child.kill("SIGUSR2")
    const found = await eventually(async () => JSON.parse(readFileSync(file, "utf8")) as NodeJS.MemoryUsage)
    const metrics = await (
      await fetch(`http://127.0.0.1:${ports[2]}/metrics`, {
        headers: { authorization: `Bearer ${controlToken}` },
      })
    ).text()
    const cache = Number(/^sallyport_cache_bytes (\S+)$/m.exec(metrics)?.[1] ?? Number.NaN)
    const [heap, buffers, resident] = [found.heapUsed, found.arrayBuffers, found.rss].map(
      (bytes) => Math.round((bytes / mebibyte) * 10) / 10,
    ) as [number, number, number]
    return { requests, heap, buffers, resident, cache: Math.round((cache / mebibyte) * 10) / 10 }
  }

  test("what stays after collection levels off when what is bounded is full", async () => {
    const samples: Sample[] = [await measure(0)]
    const wrong = new Map<string, number>()
    let next = 0
    const untilSent = async (end: number): Promise<void> => {
      while (next < end) {
        const asked = requestOf(next)
        next += 1
        const status = await ask(asked)
        const what = `${asked.method} ${asked.path.split("/")[1]} ${status}`
        if (status !== asked.status) wrong.set(what, (wrong.get(what) ?? 0) + 1)
      }
    }
    for (let at = 1; at <= samplesMax; at += 1) {
      const end = Math.round((requestsMax / samplesMax) * at)
      await Promise.all(Array.from({ length: 32 }, () => untilSent(end)))
      samples.push(await measure(end))
      console.log(JSON.stringify(samples.at(-1)))
    }
    expect(Object.fromEntries(wrong)).toEqual({})
    const full = samples.filter(({ cache }) => cache > 63)
    expect(full.length, "the cache was full for a third of the time").toBeGreaterThan(samplesMax / 3)
    const most = (of: readonly Sample[], key: "heap" | "buffers") => Math.max(...of.map((each) => each[key]))
    const half = Math.ceil(full.length / 2)
    for (const key of ["heap", "buffers"] as const)
      expect(most(full.slice(half), key), key).toBeLessThan(most(full.slice(0, half), key) + 2)
  })
})

const model = `model
  schema 1.1
type user
type order
  relations
    define viewer: [user, user:*]
`

function configuration(ports: readonly number[], backend: number): string {
  return `gateway soak { listen 127.0.0.1:${ports[0]}; trust 127.0.0.1 }
authz { listen 127.0.0.1:${ports[1]}; store acme { model "soak.fga" } }
secret signing = env(SOAK_SECRET)
issuer acme { key secret signing; issuer "https://id.example"; audience soak }
backend main { url "http://127.0.0.1:${backend}" }
api plain { path "/plain"; backend main; auth none; GET "/{id}" }
api kept { path "/kept"; backend "http://127.0.0.1:${backend}/large"; auth none; cache response 2h; GET "/{id}" }
api limited { path "/limited"; backend main; auth none; limit 1000 per 1h by ip; GET "/{id}" { outbound { header set "X-Ip" "\${request.ip}" } } }
api guarded { path "/guarded"; backend main; auth jwt acme; GET "/{id}"; GET "/{id}/seen" { require viewer of "order:\${path.id}" for "user:\${jwt.sub}" } }
api changed { path "/changed"; backend main; auth none; POST "/{id}" { inbound { body set json ({"id": path.id, "was": request.body}) }; outbound { body replace "something" with "else" } } }
`
}

/** Mixed, and never the same twice where something is kept by it: paths, addresses, tokens. */
function requestOf(at: number): Asked {
  const get = (path: string, status: number, headers: Asked["headers"] = {}): Asked => ({
    ...{ method: "GET", path, status },
    headers: { host: "gw", ...headers },
  })
  // Callers come again: four thousand are far below the 100,000 that a limit holds on their own.
  const address = `10.0.${(at >> 8) & 15}.${at & 255}`
  switch (at % 10) {
    case 0:
    case 1:
      return get(`/plain/${at}`, 200)
    case 2:
    case 3:
    case 4:
      return get(`/kept/${at}`, 200)
    case 5:
      return get(`/limited/${at}`, 200, { "x-forwarded-for": address })
    case 6:
      return get(`/guarded/${at}`, 200, { authorization: `Bearer ${tokenOf(`user${at}`)}` })
    case 7:
      return get(`/guarded/${at}/seen`, 403, { authorization: `Bearer ${tokenOf(`user${at}`)}` })
    case 8: {
      const body = JSON.stringify({ n: at })
      const headers = {
        host: "gw",
        "content-type": "application/json",
        "content-length": String(body.length),
      }
      return { method: "POST", path: `/changed/${at}`, headers, body, status: 200 }
    }
    default:
      return at % 20 === 9 ? get(`/nowhere/${at}`, 404) : get(`/guarded/${at}`, 401)
  }
}

function tokenOf(sub: string): string {
  const part = (value: object) => Buffer.from(JSON.stringify(value)).toString("base64url")
  const exp = Math.floor(Date.now() / 1_000) + 7_200
  const signed = `${part({ alg: "HS256" })}.${part({ iss: "https://id.example", aud: "soak", sub, exp })}`
  return `${signed}.${createHmac("sha256", secret).update(signed).digest("base64url")}`
}
