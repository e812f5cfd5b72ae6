import { afterEach, expect, it } from "vitest"
import type { RejectedRequest } from "../../runtime/authz/ports.ts"
import { Engine } from "../../runtime/check/engine.ts"
import { createVerifier } from "../../runtime/identity/issuer.ts"
import { EngineAccess } from "../../runtime/process/engine-access.ts"
import { EngineListeners } from "../../runtime/process/engine-listeners.ts"
import { RefusalLog } from "../../runtime/process/open-engine.ts"
import { createTupleSource } from "../../runtime/store/tuple-source.ts"
import { createLog } from "../../runtime/telemetry/log.ts"
import { openTestDatabase } from "../store/databases.ts"
import { freePorts, planOfEngine } from "./project.ts"

const stops: (() => unknown)[] = []
afterEach(async () => {
  for (const stop of stops.splice(0).reverse()) await stop()
})

// biome-ignore lint/suspicious/noExplicitAny: lines of a log.
function lined(): { lines: () => any[]; log: ReturnType<typeof createLog> } {
  const texts: string[] = []
  const log = createLog({ stream: { write: (text: string) => void texts.push(text) } })
  return { lines: () => texts.map((text) => JSON.parse(text)), log }
}

it("says who was not let in, and where, but no credential", async () => {
  const database = await openTestDatabase()
  stops.push(() => database.close())
  const engine = new Engine(createTupleSource(database))
  stops.push(() => engine.close())
  const { log, lines } = lined()
  const refusals = new RefusalLog(log)
  const environment = { KEY: "the-key-of-a-reader" }
  const access = new EngineAccess({ createVerifier, environment, folder: ".", onReload: () => undefined })
  const onRefusal = (refusal: RejectedRequest) => refusals.refused(refusal)
  const listeners = new EngineListeners({ database, engine, onRefusal }, access, () => undefined)
  stops.push(() => listeners.close(0))
  const ports = await freePorts()
  const plan = planOfEngine(ports, "secret reader = env(KEY)", "auth key reader { read acme }")
  ;(await listeners.prepare(plan)).activate()
  const ask = async (path: string, headers: Record<string, string>) => {
    const answer = await fetch(`http://127.0.0.1:${ports.authz}${path}`, { headers })
    return [answer.status, answer.headers.get("x-request-id")]
  }
  const bearer = (key: string) => ({ authorization: `Bearer ${key}` })
  const asked = [
    await ask("/stores?name=x", {}),
    await ask("/stores", bearer("a-wrong-key-of-nobody")),
    await ask("/stores/other", bearer("the-key-of-a-reader")),
    await ask("/healthz", { origin: "https://elsewhere.example" }),
  ]
  expect(asked.map(([status]) => status)).toEqual([401, 401, 403, 403])
  const line = { level: "warn", msg: "the engine refused a caller", client: "127.0.0.1", method: "GET" }
  const stores = { ...line, path: "/stores" }
  expect(lines()).toMatchObject([
    { ...stores, code: "bearer_token_missing", request_id: asked[0]?.[1] },
    { ...stores, code: "unauthenticated", request_id: asked[1]?.[1] },
    { ...line, path: "/stores/other", code: "forbidden", caller: "reader", request_id: asked[2]?.[1] },
    { ...line, code: "forbidden", path: "/healthz", reason: expect.stringContaining("origin") },
  ])
  expect(JSON.stringify(lines())).not.toMatch(/the-key-of|a-wrong-key/)
})

it("counts those beyond the rate", () => {
  let now = 0
  const { log, lines } = lined()
  const refusals = new RefusalLog(log, () => now)
  const refusal: RejectedRequest = {
    code: "unauthenticated",
    message: "unauthenticated",
    caller: undefined,
    client: "10.0.0.1",
    method: "POST",
    path: "/stores/acme/check",
    requestId: "1",
  }
  for (let count = 0; count < 500; count++) refusals.refused(refusal)
  expect(lines()).toHaveLength(10)
  now += 1_000
  refusals.refused({ ...refusal, path: `/${"x".repeat(5_000)}` })
  expect(lines()).toHaveLength(11)
  expect(lines()[10]).toMatchObject({ skipped: 490, path: `/${"x".repeat(199)}` })
})
