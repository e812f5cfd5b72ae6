import { createHmac } from "node:crypto"
import { afterEach, beforeEach, expect, test } from "vitest"
import { startThrowAwayRedis, type ThrowAwayRedis } from "../support/throw-away-redis.ts"
import { until } from "../support/until.ts"
import { type Running, startGateway } from "./harness.ts"
import type { StepDraft } from "./plan-builder.ts"

let redis: ThrowAwayRedis
const running: Running[] = []

beforeEach(async () => {
  redis = await startThrowAwayRedis()
})

afterEach(async () => {
  await Promise.all(running.splice(0).map((each) => each.close()))
  await redis.stop()
})

const key = "a secret of a partner"
const guarded: StepDraft = {
  kind: "validate-hmac",
  caller: "partner",
  secrets: [{ secret: "key" }],
  ...{ key: "text", algorithm: "sha256", signature: { header: "x-sign", encoding: "hex" }, signed: ["body"] },
  replay: { seconds: 60 },
  status: 401,
}
const answer: StepDraft = { kind: "respond", status: 200, headers: [], media: null }

async function start(): Promise<Running> {
  const gateway = await startGateway(
    {
      secrets: { redis_url: { env: "REDIS_URL" }, key: { env: "KEY" } },
      shared: { redis: "redis_url", waitMs: 2000, tls: { insecure: false } },
      routes: [{ method: "POST", path: "/a", backend: null, inbound: [guarded, answer] }],
    },
    { environment: { REDIS_URL: redis.url, KEY: key } },
  )
  running.push(gateway)
  await until(() => isShared(gateway))
  return gateway
}

const isShared = ({ gateway }: Running) => gateway.state().shared?.away === undefined

async function ask({ url }: Running, body: string): Promise<string | number> {
  const headers = { "x-sign": createHmac("sha256", key).update(body).digest("hex") }
  const response = await fetch(`${url}/a`, { method: "POST", body, headers })
  return response.status === 200
    ? 200
    : (((await response.json()) as { type: string }).type.split(":").at(-1) ?? "")
}

test("processes with one Redis remember accepted requests together, and refuse while it is away", async () => {
  const [one, two] = [await start(), await start()]
  expect(await ask(one, "1")).toBe(200)
  expect(await ask(two, "1")).toBe("signature-replayed")
  const both = await Promise.all([ask(one, "2"), ask(two, "2")])
  expect(both.sort()).toEqual([200, "signature-replayed"])
  await redis.stop()
  await until(() => !isShared(one))
  expect(await ask(one, "3")).toBe("limits-unavailable")
  redis = await startThrowAwayRedis([], redis.port)
  await until(() => isShared(one))
  expect(await ask(one, "4")).toBe(200)
})
