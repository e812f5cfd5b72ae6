import { readdirSync, readFileSync } from "node:fs"
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest"
import {
  type RawAnswer,
  type Running,
  sendRaw,
  startGateway,
  startUpstream,
  type Upstream,
} from "./harness.ts"

/** One row of test/cases/gateway-http: bytes to the gateway, what it answers and what the backend sees. */
interface HttpCase {
  name: string
  send: string
  status: number[]
  /** How many requests reach the backend; null: as many as it likes. */
  hits: number | null
  /** Fields the backend must not, must, and must exactly see. */
  absent?: string[]
  has?: string[]
  present?: Record<string, string>
  notEqual?: Record<string, string>
  body?: string
  url?: string
  allow?: string
}

let upstream: Upstream
let running: Running

beforeAll(async () => {
  upstream = await startUpstream()
  running = await startGateway({
    secrets: { key: { env: "KEY", default: "right" } },
    products: { all: { apis: ["main"] } },
    subscriptions: { ann: { scope: { product: "all" }, key: "key" } },
    backends: { main: upstream.url },
    routes: [
      { method: "*", path: "/open/{rest*}", stripPrefix: "/open" },
      {
        path: "/secure/{rest*}",
        stripPrefix: "/secure",
        inbound: [
          {
            kind: "validate-key",
            api: "main",
            header: "ocp-apim-subscription-key",
            query: "subscription-key",
            status: 401,
            forward: false,
          },
        ],
      },
    ],
  })
})

afterAll(async () => {
  await running.close()
  await upstream.close()
})

beforeEach(() => {
  upstream.requests.length = 0
})

const folder = new URL("../cases/gateway-http/", import.meta.url)

for (const file of readdirSync(folder)) {
  const cases = JSON.parse(readFileSync(new URL(file, folder), "utf8")) as HttpCase[]
  describe(file, () => {
    test.each(cases)("$name", async (row) => {
      const answer = await sendRaw(running.port, row.send, 60, row.hits === 2 ? 250 : undefined)
      expect(row.status, answer.text).toContain(answer.status)
      if (row.hits !== null) expect(upstream.requests.length).toBe(row.hits)
      checkAnswer(answer, row)
      await checkLog(answer)
      checkSeen(row)
    })
  })
}

function checkAnswer(answer: RawAnswer, row: HttpCase): void {
  if (answer.status >= 400) {
    expect(answer.headers.get("content-type")).toBe("application/problem+json")
    const problem = JSON.parse(answer.body.split("\r\n")[0] ?? "") as Record<string, unknown>
    expect(problem).toMatchObject({ status: answer.status, request_id: answer.headers.get("x-request-id") })
    expect(String(problem["type"])).toMatch(/^urn:sallyport:problem:/)
  }
  if (row.allow !== undefined) expect(answer.headers.get("allow")).toBe(row.allow)
}

/** Whatever was refused, wherever: its request id leads to a line of the log, which says from where. */
async function checkLog({ status, headers }: RawAnswer): Promise<void> {
  if (status < 400) return
  const id = headers.get("x-request-id")
  await expect
    .poll(() => running.log.find((line) => line.id === id))
    .toMatchObject({ status, ip: "127.0.0.1" })
}

function checkSeen(row: HttpCase): void {
  const [seen] = upstream.requests
  if (seen === undefined) return
  const names = seen.rawHeaders.filter((_, at) => at % 2 === 0).map((name) => name.toLowerCase())
  for (const name of row.absent ?? []) expect(names).not.toContain(name)
  for (const name of row.has ?? []) expect(names).toContain(name)
  expect(new Set(names.filter((name) => name !== "cookie")).size).toBe(
    names.filter((name) => name !== "cookie").length,
  )
  for (const [name, value] of Object.entries(row.present ?? {})) expect(seen.headers[name]).toBe(value)
  for (const [name, value] of Object.entries(row.notEqual ?? {})) expect(seen.headers[name]).not.toBe(value)
  if (row.body !== undefined) expect(seen.body).toBe(row.body)
  if (row.url !== undefined) expect(seen.url).toBe(row.url)
}
