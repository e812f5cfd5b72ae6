import { X509Certificate } from "node:crypto"
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { createServer, type Server, type ServerResponse } from "node:http"
import { connect as connectHttp2 } from "node:http2"
import { availableParallelism, tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { connect, type TLSSocket } from "node:tls"
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest"
import { coresForUs } from "../../compiler/cli/supervised.ts"
import { run } from "../cli/run.ts"
import { eventually, type SallyportProcess } from "../e2e/sallyport-process.ts"
import { describePostgres } from "../postgres.ts"
import { Authority, getSecured } from "../support/certificates.ts"
import { freePort } from "../support/free-port.ts"
import { askHttp2 } from "../support/http2-client.ts"
import { Responder } from "../support/responder.ts"
import { machine, workersOf } from "./machine.ts"

describePostgres("serve --workers 2", () => {
  const here = machine()
  let serving: SallyportProcess
  let backend: Server
  /** Called with each response of the backend, which ends it. */
  let atBackend: (response: ServerResponse) => void = (response) => void response.end("backend")

  const configured = (answer: string, more = "") => `
gateway shop { listen 127.0.0.1:${here.ports[0]}; trust none }
authz { listen 127.0.0.1:${here.ports[1]}; store acme { model "acme.fga" } }
secret ann_key = env(ANN_KEY)
subscription ann { api metered; key ann_key }
api status { path "/status"; auth none; GET "/" { respond 200 { body text "${answer}" } } }
api slow { path "/slow"; auth none; backend "http://127.0.0.1:${here.ports[3]}"; GET "/" { concurrency 2 by "all" } }
api limited { path "/limited"; auth none; limit 10 per 1h by ip; GET "/" { respond 200 } }
api metered { path "/metered"; auth subscription; quota 7 calls per 1d by subscription; GET "/" { respond 200 } }
${more}`
  const statuses = async (path: string, calls: number, headers: Record<string, string> = {}) => {
    // A connection for each, so that the system gives them to different workers.
    const close = { connection: "close" }
    const all = Array.from({ length: calls }, () => here.gateway(path, { headers: { ...close, ...headers } }))
    return (await Promise.all(all)).map(({ status }) => status)
  }
  const count = (statuses: readonly number[], wanted: number) =>
    statuses.filter((status) => status === wanted).length
  const answers = async () =>
    (
      await Promise.all(Array.from({ length: 40 }, () => here.gateway("/status").then((each) => each.text())))
    ).sort()

  beforeAll(async () => {
    backend = createServer((_, response) => atBackend(response))
    await new Promise<void>((resolve) => backend.listen(here.ports[3], "127.0.0.1", resolve))
    here.writeFile(
      "acme.fga",
      "model\n  schema 1.1\ntype user\ntype order\n  relations\n    define viewer: [user]\n",
    )
    here.write(configured("one"))
    serving = here.serve("--workers", "2")
    await serving.printed(/"started"/)
  })

  afterAll(() => {
    backend.closeAllConnections()
    backend.close()
  })

  test("apply swaps the plan on all workers before it replies; each reports to the fleet", async () => {
    expect(await here.sallyport("apply", "--yes", "--allow", "opens", "--wait", "60s")).toMatchObject({
      code: 0,
      out: expect.stringContaining("All 3 processes serve it."),
    })
    expect(new Set(await answers())).toEqual(new Set(["one"]))
    await here.ready()
    expect((await fetch(`http://127.0.0.1:${here.ports[2]}/startupz`)).status).toBe(200)
    const { processes, traffic } = await here.status()
    expect(processes.map(({ roles }) => roles.join()).sort()).toEqual([
      "control,portal",
      ...Array(2).fill("gateway,authz"),
    ])
    expect(processes.find(({ roles }) => roles.includes("control"))?.pid).toBe(serving.child.pid)
    expect(traffic).toMatchObject({ requests: 0, backends: {} })
  })

  test("a limit of 10 lets exactly 10 of 40 requests pass, and metrics are summed", async () => {
    const found = await statuses("/limited", 40)
    expect([count(found, 200), count(found, 429)]).toEqual([10, 30])
    const series = (status: string) =>
      `sallyport_requests_total{api="limited",version="",route="GET /limited",status="${status}"}`
    expect(await here.metric(series("2xx"))).toBe(10)
    expect(await here.metric(series("4xx"))).toBe(30)
    expect(await here.metric("sallyport_limit_keys")).toBe(1)
    expect(await here.metric(`sallyport_workers{state="serving"}`)).toBe(2)
  })

  test("the console sees the traffic, routes, log and refusals of all workers", async () => {
    const authorization = `Bearer ${here.env["SALLYPORT_CONTROL_TOKEN"]}`
    const ask = (path: string) =>
      fetch(`http://127.0.0.1:${here.ports[2]}${path}`, { headers: { authorization } })
    const stream = (await ask("/v1/events?topics=log&route=/limited")).body?.pipeThrough(
      new TextDecoderStream(),
    )
    let text = ""
    const asking = setInterval(() => void statuses("/limited", 4), 100)
    for await (const part of stream ?? []) {
      text += part
      if (text.split("event: log").length > 10) break
    }
    clearInterval(asking)
    expect(text).toContain('"path":"/limited"')
    const json = async (path: string) => (await (await ask(path)).json()) as Record<string, never[]>
    await expect.poll(async () => (await json("/v1/traffic"))["points"]?.length).toBeGreaterThan(0)
    const { routes } = await json("/v1/routes?text=limited")
    expect(routes).toMatchObject([{ counts: { requests: [0, 0, 10, 0, expect.any(Number), 0] } }])
    const { refusals } = await json("/v1/refusals")
    expect(refusals?.[0]).toMatchObject({ status: 429, route: "GET /limited" })
  })

  test("a quota of 7 lets exactly 7 of 30 requests pass, and usage counts each once", async () => {
    const found = await statuses("/metered", 30, { "x-api-key": "key-of-ann" })
    expect([count(found, 200), count(found, 403)]).toEqual([7, 23])
    const usage = await here.sallyport("usage", "--json")
    expect(usage.code).toBe(0)
    expect(usage.out).toContain("30")
  })

  test("concurrency holds over workers, and a killed worker gives its slots back", async () => {
    const held: ServerResponse[] = []
    atBackend = (response) => void held.push(response)
    const running = [here.gateway("/slow"), here.gateway("/slow")]
    const outcomes = Promise.allSettled(running)
    await expect.poll(() => held.length).toBe(2)
    expect(new Set(await statuses("/slow", 8))).toEqual(new Set([429]))
    const before = await workersOf(here, 2)
    // A request that is in progress in one worker ends with it; those of others go on.
    for (const pid of before) process.kill(pid, "SIGKILL")
    expect((await outcomes).map(({ status }) => status)).toEqual(["rejected", "rejected"])
    const after = await eventually(async () => {
      const now = await workersOf(here, 2)
      return now.some((pid) => before.includes(pid)) ? undefined : now
    })
    expect(after).toHaveLength(2)
    atBackend = (response) => void response.end("backend")
    await eventually(async () => ((await here.gateway("/slow")).status === 200 ? true : undefined))
    expect(await here.metric("sallyport_workers_replaced_total")).toBe(2)
    // What the ended workers had counted stays in the sums, and limits go on.
    expect(
      await here.metric(
        `sallyport_requests_total{api="limited",version="",route="GET /limited",status="2xx"}`,
      ),
    ).toBe(10)
    expect(new Set(await statuses("/limited", 8))).toEqual(new Set([429]))
    expect(new Set(await answers())).toEqual(new Set(["one"]))
  })

  test("one worker is killed while others answer: only its own requests fail", async () => {
    const held: ServerResponse[] = []
    atBackend = (response) => void held.push(response)
    const [pid] = await workersOf(here, 2)
    const running = Array.from({ length: 2 }, () => here.gateway("/slow").then((each) => each.text()))
    const outcomes = Promise.allSettled(running)
    await expect.poll(() => held.length).toBe(2)
    process.kill(pid as number, "SIGKILL")
    for (const response of held) response.end("backend")
    const lost = (await outcomes).filter(({ status }) => status === "rejected").length
    // The kernel chose who accepted them.
    expect(lost).toBeLessThanOrEqual(2)
    atBackend = (response) => void response.end("backend")
    await here.ready()
    expect(new Set(await answers())).toEqual(new Set(["one"]))
    await workersOf(here, 2)
  })

  test("apply while requests arrive: none fails, and each gets the old or the new plan", async () => {
    let over = false
    const seen = new Set<string>()
    const load = Array.from({ length: 4 }, async () => {
      while (!over) {
        const response = await here.gateway("/status")
        seen.add(`${response.status} ${await response.text()}`)
      }
    })
    here.write(configured("two"))
    expect(await here.sallyport("apply", "--yes", "--allow", "opens", "--wait", "60s")).toMatchObject({
      code: 0,
    })
    expect(new Set(await answers())).toEqual(new Set(["two"]))
    over = true
    await Promise.all(load)
    expect([...seen].sort()).toEqual(["200 one", "200 two"])
  })

  test("a plan that workers cannot run is refused, and all keep the previous one", async () => {
    here.write(
      configured(
        "three",
        'secret other = env(NOT_SET)\napi other { path "/other"; auth subscription; GET "/" { respond 200 } }\nsubscription bob { api other; key other }',
      ),
    )
    const refused = await here.sallyport("apply", "--yes", "--allow", "opens", "--no-wait")
    expect(refused).toMatchObject({ code: 1, err: expect.stringContaining("NOT_SET") })
    // Each worker refuses for the same reason, which is shown once.
    expect(refused.err.match(/NOT_SET/g)).toHaveLength(1)
    expect(new Set(await answers())).toEqual(new Set(["two"]))
    here.write(configured("two"))
  })

  test("the engine, explanations and refusals are those of any worker", async () => {
    expect(
      await here.sallyport("tuple", "write", "user:ann", "viewer", "order:1", "--store", "acme"),
    ).toMatchObject({ code: 0 })
    expect(await here.sallyport("check", "user:ann", "viewer", "order:1", "--store", "acme")).toMatchObject({
      code: 0,
    })
    expect(await here.sallyport("explain", "request", "GET", "/status")).toMatchObject({
      code: 0,
      out: expect.stringContaining("route GET /status"),
    })
    const refused = await here.gateway("/limited", { headers: { connection: "close" } })
    expect(refused.status).toBe(429)
    const id = refused.headers.get("x-request-id") as string
    expect(await here.sallyport("explain", "request", "--id", id)).toMatchObject({
      code: 0,
      out: expect.stringContaining("limit"),
    })
  })

  test("HTTPS is served by all workers, also after its files changed, and operators reach the engine", async () => {
    const authority = new Authority(here.folder)
    const responder = new Responder(here.folder)
    onTestFinished(() => responder.close())
    const more = [`authorityInfoAccess=OCSP;URI:${await responder.start()}`]
    const { cert } = authority.sign("own", ["own.example"], { days: 5, more, withChain: true })
    responder.saying = { serials: { [new X509Certificate(readFileSync(cert)).serialNumber]: "V" } }
    const plain = configured("plain")
    const secured = plain.replaceAll(/listen (127\.0\.0\.1:\d+)/g, "listen $1 { tls { certificate own } }")
    const apply = async (text: string) => {
      here.write(text)
      expect(await here.sallyport("apply", "--yes", "--allow", "opens", "--wait", "60s")).toMatchObject({
        code: 0,
      })
    }
    await apply(`${secured}\ncertificate own { cert file("own.pem"); key file("own.key") }`)
    const shown = async () => {
      const all = Array.from({ length: 20 }, () => getSecured(here.ports[0], "/status", authority.pem))
      const answers = await Promise.all(all)
      expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]))
      return [...new Set(answers.map(({ certificate }) => certificate))]
    }
    const [before, ...others] = await shown()
    expect(others).toEqual([])
    expect(await resumedOf(here.ports[0], authority.pem, 12)).toBe(12)
    await eventually(async () => {
      const stapled = await Promise.all(
        Array.from({ length: 12 }, () => isStapled(here.ports[0], authority.pem)),
      )
      return stapled.every((each) => each) ? true : undefined
    })
    expect(responder.requests).toBe(1)
    expect(await answersByHttp2(here.ports[0], authority.pem)).toEqual(new Set([200]))
    const stores = await fetch(`${here.env["SALLYPORT_CONTROL_URL"]}/authz/stores`, {
      headers: { authorization: `Bearer ${here.env["SALLYPORT_CONTROL_TOKEN"]}` },
    })
    expect(stores.status).toBe(200)
    const { warnings } = await here.status()
    expect(warnings.filter((each) => each.startsWith("certificate own"))).toHaveLength(1)
    authority.sign("own", ["own.example"])
    await eventually(async () => {
      const now = await shown()
      return now.length === 1 && now[0] !== before ? true : undefined
    })
    await apply(plain)
    expect((await here.gateway("/status")).status).toBe(200)
  })

  test("the control listeners of a plan are the parent's, and stay while a worker is replaced", async () => {
    new Authority(here.folder).sign("ops", ["localhost"])
    const port = await freePort()
    const secured = `certificate ops { cert file("ops.pem"); key file("ops.key") }
control { listen 127.0.0.1:${port} { tls { certificate ops } } }`
    here.write(configured("operated", secured))
    expect((await here.sallyport("apply", "--yes", "--allow", "opens", "--wait", "60s")).code).toBe(0)
    const there = ["--control", `https://localhost:${port}`, "--ca", "ca.pem"]
    expect((await here.sallyport("whoami", ...there)).out).toContain("the shared control token")
    const [worker = 0] = await workersOf(here, 2)
    process.kill(worker, "SIGKILL")
    // All requests go through, while the worker is replaced.
    const codes = await Promise.all(
      Array.from({ length: 5 }, async () => (await here.sallyport("status", ...there)).code),
    )
    expect(codes).toEqual(Array(5).fill(0))
    await eventually(async () => ((await workersOf(here, 2)).includes(worker) ? undefined : true))
    here.write(configured("operated again"))
    expect((await here.sallyport("apply", "--yes", "--allow", "opens", "--wait", "60s")).code).toBe(0)
    await expect.poll(async () => (await here.sallyport("whoami", ...there)).err).toContain("ECONNREFUSED")
  })

  test("when it is stopped, requests in progress are completed and all workers end", async () => {
    const held: ServerResponse[] = []
    atBackend = (response) => void held.push(response)
    const pids = await workersOf(here, 2)
    const running = here.gateway("/slow").then((each) => each.text())
    await expect.poll(() => held.length).toBe(1)
    const stopped = serving.stop()
    await eventually(() =>
      here.gateway("/status").then(
        () => undefined,
        () => true,
      ),
    )
    held[0]?.end("completed")
    expect(await running).toBe("completed")
    expect(await stopped).toBe(0)
    for (const pid of pids) expect(() => process.kill(pid, 0)).toThrow("ESRCH")
    expect(serving.output.err).toBe("")
    // Each line of the log is whole, although three processes wrote it.
    for (const line of serving.output.out.trim().split("\n")) expect(() => JSON.parse(line)).not.toThrow()
  })
})

/** How many of further connections resume the TLS session of a first one. The system gives them to any worker. */
async function resumedOf(port: number, ca: string, connections: number): Promise<number> {
  // With TLS 1.2, the ticket comes with the handshake.
  const options = { port, ca, host: "127.0.0.1", servername: "own.example", maxVersion: "TLSv1.2" } as const
  const opened = (session?: Buffer) =>
    new Promise<TLSSocket>((resolve, reject) => {
      const socket = connect({ ...options, session }, () => resolve(socket)).once("error", reject)
    })
  const first = await opened()
  const session = first.getSession()
  const sockets = await Promise.all(Array.from({ length: connections }, () => opened(session)))
  const resumed = sockets.filter((socket) => socket.isSessionReused()).length
  for (const socket of [first, ...sockets]) socket.destroy()
  return resumed
}

/** Whether the handshake of a new connection contains an OCSP response. */
function isStapled(port: number, ca: string): Promise<boolean> {
  return new Promise((resolve, reject) => {
    const options = { port, ca, host: "127.0.0.1", servername: "own.example", requestOCSP: true } as const
    const socket = connect(options).once("error", reject)
    socket.once("OCSPResponse", (response: Buffer | null) => {
      resolve((response?.length ?? 0) > 0)
      socket.destroy()
    })
  })
}

/** The statuses of ten connections with three requests each at once. */
async function answersByHttp2(port: number, ca: string): Promise<Set<number>> {
  const all = Array.from({ length: 10 }, async () => {
    const session = connectHttp2(`https://127.0.0.1:${port}`, { ca, servername: "own.example" })
    const asked = () => askHttp2(session, { ":path": "/status", ":authority": "own.example" })
    const answers = await Promise.all([asked(), asked(), asked()])
    session.destroy()
    return answers.map(({ status }) => status)
  })
  return new Set((await Promise.all(all)).flat())
}

test("workers need PostgreSQL, and a number of them", async () => {
  const folder = mkdtempSync(join(tmpdir(), "sallyport-workers-"))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const env = { SALLYPORT_CONTROL_TOKEN: "a-token-for-the-tests-of-workers" }
  expect(await run({ cwd: folder, env }, "serve", "--workers", "2")).toMatchObject({
    code: 1,
    err: `error: workers need PostgreSQL: the embedded database belongs to one process
help: Set SALLYPORT_DATABASE_URL to a PostgreSQL server, or omit --workers.
`,
  })
  for (const words of ["0", "many", "1000"])
    expect(await run({ cwd: folder, env }, "serve", "--workers", words)).toMatchObject({
      code: 1,
      err: expect.stringContaining("--workers is not a number of processes"),
    })
})

test("the number of cores respects a container's limit of CPU time", async () => {
  const file = join(mkdtempSync(join(tmpdir(), "sallyport-cores-")), "cpu.max")
  onTestFinished(() => rmSync(dirname(file), { recursive: true, force: true }))
  const all = availableParallelism()
  expect(await coresForUs(file)).toBe(all)
  writeFileSync(file, "max 100000\n")
  expect(await coresForUs(file)).toBe(all)
  writeFileSync(file, "150000 100000\n")
  expect(await coresForUs(file)).toBe(Math.min(2, all))
  writeFileSync(file, "50000 100000\n")
  expect(await coresForUs(file)).toBe(1)
})
