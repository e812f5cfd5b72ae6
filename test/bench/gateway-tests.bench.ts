import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { collectors, mutateGateways, readGateways, runGateways } from "../../compiler/cli/gateway-run.ts"
import { testFolders } from "../../compiler/cli/test-files.ts"
import { Report } from "../../compiler/core/diagnostic.ts"
import type { GatewaySuite } from "../../compiler/gateway-test/gateway-suite.ts"
import { worldOf } from "../../compiler/gateway-test/run-suite.ts"
import { replayRecord } from "../../compiler/replay/replay-record.ts"
import { openInProcess } from "../../runtime/gateway/in-process/in-process-gateway.ts"
import type { Plan } from "../../runtime/plan/plan.ts"
import { markOf } from "../../runtime/record/mark.ts"
import { openRecord } from "../../runtime/record/read-record.ts"
import { lineOf, RecordWriter } from "../../runtime/record/record-writer.ts"
import { questionText, type RecordedRequest } from "../../runtime/record/recorded-request.ts"
import { recordKey } from "../../runtime/record/segment.ts"
import { environment, planOfText, projectText } from "../record/recorded-gateway.ts"

// Tests of the gateway: how long a thousand take, how many mutants a second are tried, and how many requests the door of the gateway in process
// takes, for replays.

const rounds = 3

function print(
  what: string,
  value: number,
  unit: string,
  spread: readonly number[],
  bar: string,
  ok: boolean,
): void {
  const show = (each: number) => each.toFixed(each < 10 ? 2 : 0)
  const [least = 0, most = 0] = [Math.min(...spread), Math.max(...spread)]
  console.log(
    JSON.stringify({
      what,
      value: Number(show(value)),
      unit,
      spread: `${show(least)}–${show(most)}`,
      bar,
      ok,
    }),
  )
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[values.length >> 1] ?? 0
}

/** CPU time and elapsed time of some work, in seconds. */
async function timed(work: () => Promise<void>): Promise<{ readonly cpu: number; readonly wall: number }> {
  const cpu = process.cpuUsage()
  const from = performance.now()
  await work()
  const { user, system } = process.cpuUsage(cpu)
  return { cpu: (user + system) / 1e6, wall: (performance.now() - from) / 1000 }
}

/** The project's own tests. */
async function ownSuites(): Promise<readonly GatewaySuite[]> {
  const cwd = process.cwd()
  const report = new Report()
  const folders = testFolders({ cwd } as Parameters<typeof testFolders>[0], ["models/tests/acme.gw.yaml"])
  const { suites } = await readGateways(folders, cwd, report)
  if (report.blocked) throw new Error(JSON.stringify(report.sorted().map(({ detail }) => detail)))
  return suites
}

/** A thousand tests: those with one request, again and again. */
function thousand(suites: readonly GatewaySuite[]): GatewaySuite[] {
  return suites.map((suite) => {
    const single = suite.tests.filter(({ steps }) => steps.length === 1 && steps[0]?.times === 1)
    return {
      ...suite,
      tests: Array.from({ length: 1_000 }, (_, at) => single[at % single.length] ?? fail("no tests")),
    }
  })
}

function fail(message: string): never {
  throw new Error(message)
}

async function thousandTests(suites: readonly GatewaySuite[]): Promise<void> {
  const many = thousand(suites)
  const found: { readonly cpu: number; readonly wall: number }[] = []
  for (let round = -1; round < rounds; round += 1) {
    const taken = await timed(async () => {
      const [result] = await runGateways(many, new Report(), collectors(many))
      if (result?.passed !== true || result.tests.length !== 1_000) fail("tests fail")
    })
    if (round >= 0) found.push(taken)
  }
  const walls = found.map(({ wall }) => wall)
  const cpus = found.map(({ cpu }) => cpu)
  print("1,000 tests with coverage", median(walls), "s", walls, "≤ 3", median(walls) <= 3)
  print("1,000 tests with coverage, CPU time", median(cpus), "s", cpus, "", true)
}

async function mutants(suites: readonly GatewaySuite[]): Promise<void> {
  const rates: number[] = []
  const cpuRates: number[] = []
  for (let round = -1; round < rounds; round += 1) {
    const cpu = process.cpuUsage()
    const [result] = await mutateGateways(suites, [])
    const { user, system } = process.cpuUsage(cpu)
    if (result === undefined) fail("no mutants")
    if (round < 0) continue
    rates.push((result.mutants / result.ms) * 1000)
    cpuRates.push((result.mutants / (user + system)) * 1e6)
  }
  print("mutants, of the project's own tests", median(rates), "/s", rates, "≥ 50", median(rates) >= 50)
  print("mutants, per CPU second", median(cpuRates), "/s", cpuRates, "", true)
}

async function replay(suites: readonly GatewaySuite[]): Promise<void> {
  const [suite] = suites
  if (suite === undefined) fail("no suite")
  const { given, plan } = suite
  const gateway = await openInProcess(plan, worldOf(given), { environment: {}, folder: process.cwd() })
  const token = gateway.token({
    issuer: "acme",
    claims: { sub: "ann", scope: "orders.read", exp: given.timeMs / 1000 + 86_400 },
  })
  const request = {
    method: "GET",
    target: "/v2/orders/1",
    headers: [["authorization", `Bearer ${token}`]],
  } as const
  const rates: number[] = []
  for (let round = -1; round < rounds; round += 1) {
    const { cpu } = await timed(async () => {
      for (let at = 0; at < 5_000; at += 1) {
        // The limit is 100 a minute.
        if (at % 90 === 0) await gateway.advance(61_000)
        const { response } = await gateway.send(request)
        if (response.status !== 200) fail(`status ${response.status}`)
      }
    })
    if (round >= 0) rates.push(5_000 / cpu)
  }
  gateway.close()
  print(
    "requests of a replay: token, limit, relation, backend; per CPU second",
    median(rates),
    "/s",
    rates,
    "≥ 5000",
    median(rates) >= 5_000,
  )
}

/** Writes a record: two thirds of the requests have tokens of 500 callers, and ask for a relation. */
async function writeRecord(folder: string, requests: number, plan: string): Promise<void> {
  const key = recordKey(environment.TRAFFIC_KEY)
  const counts = { recorded: 0, bytes: 0, dropped: { "queue-full": 0, "write-failed": 0 } }
  const options = { folder, key, bytesMax: 2 ** 30, counts, onChange: fail as (reason?: string) => void }
  const writer = new RecordWriter(options)
  for (let at = 0; at < requests; at += 1) {
    writer.write(
      lineOf(
        recordedAt(at, plan, (text) => markOf(key, text)),
        [],
      ),
    )
    if (at % 1_000 === 999) await new Promise((resolve) => setTimeout(resolve, 20))
  }
  await writer.close()
  if (counts.recorded !== requests) fail(JSON.stringify(counts))
}

function recordedAt(at: number, plan: string, mark: (text: string) => string): RecordedRequest {
  const isOpen = at % 3 === 0
  const [sub, object] = [`user-${at % 500}`, String(at % 10_000)]
  const question = { store: "shop", user: `user:${sub}`, relation: "viewer", object: `order:${object}` }
  const allowed = at % 10 !== 1
  const status = isOpen || allowed ? 200 : 403
  const atMs = Date.UTC(2026, 0, 1) + at * 1_000
  const claims = { iss: "https://own.example", aud: "api", sub, exp: Date.UTC(2027, 0, 1) / 1_000, iat: 1 }
  const response = {
    backend: "orders",
    status: 200,
    headers: [["content-type", "application/json"]] as const,
  }
  return {
    ...{ atMs, plan, method: "GET", host: "shop.example", bodyBytes: 0, ip: "203.0.113.0", wholeIp: false },
    target: isOpen ? `/shop/open?page=${at}` : `/shop/orders/${object}`,
    headers: [
      ["accept", "application/json"],
      ["user-agent", "bench/1"],
    ],
    left: isOpen ? [] : ["header:authorization"],
    caller: mark(isOpen ? "nobody" : sub),
    ...(isOpen ? {} : { claims, claimsLeft: [] }),
    answers: isOpen ? [] : [[mark(questionText(question)), allowed]],
    responses: status === 200 ? [response] : [],
    outcome: {
      route: isOpen ? "GET /shop/open" : "GET /shop/orders/{id}",
      ...{ status, problem: status === 403 ? "forbidden" : null, reason: null },
      by: status === 403 ? ["require", ""] : null,
    },
  }
}

/** Decrypts a record and sends its requests through two plans: those of every route, and those of one that has a third of them. */
async function replayRecorded(): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "sallyport-bench-record-"))
  const requests = 20_000
  const text = projectText({ port: 8000, backend: "http://127.0.0.1:9" })
  const before = planOfText(text)
  const everyRoute = planOfText(text.replace("trust none", "trust none; errors apim"))
  const oneRoute = planOfText(text.replace('"/open" { auth none', '"/open" { auth none; timeout 5s'))
  try {
    await writeRecord(folder, requests, before.digest)
    const every = await rateOf(folder, [before, everyRoute], requests)
    print(
      "recorded requests replayed per CPU second, every route differs",
      ...every,
      "≥ 5000",
      median(every[2]) >= 5_000,
    )
    const one = await rateOf(folder, [before, oneRoute], Math.ceil(requests / 3))
    print("the same, a route with a third of the requests differs", ...one, "≥ 5000", median(one[2]) >= 5_000)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** Requests of a record per CPU second; `sent`: how many of them have to be sent through both plans. */
async function rateOf(
  folder: string,
  [before, after]: readonly [Plan, Plan],
  sent: number,
): Promise<[rate: number, unit: string, rates: number[]]> {
  const rates: number[] = []
  const located = { environment, folder }
  for (let round = -1; round < rounds; round += 1) {
    let all = 0
    const { cpu } = await timed(async () => {
      const record = await openRecord(folder, environment.TRAFFIC_KEY)
      const plans = { before: { plan: before, ...located }, after: { plan: after, ...located } }
      const found = await replayRecord(record, plans)
      if (typeof found === "string" || found.sent !== sent) fail(JSON.stringify(found))
      all = found.recorded.requests
    })
    if (round >= 0) rates.push(all / cpu)
  }
  return [median(rates), "/s", rates]
}

const suites = await ownSuites()
await thousandTests(suites)
await mutants(suites)
await replay(suites)
await replayRecorded()
