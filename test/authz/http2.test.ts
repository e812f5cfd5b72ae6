import type { ClientHttp2Session } from "node:http2"
import { afterAll, beforeAll, expect, test } from "vitest"
import type { AuthzListeners } from "../../runtime/authz/server.ts"
import { describeDatabase } from "../store/databases.ts"
import { askHttp2, http2Session } from "../support/http2-client.ts"
import { until } from "../support/until.ts"
import { type Served, serve } from "./harness.ts"

describeDatabase("the engine's listener with HTTP/2", (database) => {
  let served: Served & { listeners: AuthzListeners }
  let session: ClientHttp2Session

  beforeAll(async () => {
    served = await serve(database())
    for (const listener of served.listeners.listeners) listener.transport = { h2c: true }
    session = http2Session(Number(new URL(served.base).port))
  })

  afterAll(async () => {
    session.destroy()
    await served.listeners.close()
  })

  const ask = async (method: string, path: string, body?: unknown, headers: Record<string, string> = {}) => {
    const text = body === undefined ? undefined : JSON.stringify(body)
    const answer = await askHttp2(session, { ":method": method, ":path": path, ...headers }, text)
    return { ...answer, json: JSON.parse(answer.body.toString()) }
  }

  test("answers questions as by HTTP/1.1, and several at once", async () => {
    const { json: store } = await ask("POST", "/stores", { name: "by HTTP/2" })
    expect(await served.call("GET", `/stores/${store.id}`)).toMatchObject({ json: { name: "by HTTP/2" } })
    const writes = { tuple_keys: [{ user: "user:ann", relation: "owner", object: "document:1" }] }
    const { json: stores } = await ask("GET", "/stores?name=acme")
    const { id } = stores.stores[0]
    expect(await ask("POST", `/stores/${id}/write`, { writes })).toMatchObject({ status: 200 })
    const tuple_key = { user: "user:ann", relation: "viewer", object: "document:1" }
    const checks = await Promise.all(
      Array.from({ length: 50 }, () => ask("POST", `/stores/${id}/check`, { tuple_key })),
    )
    for (const check of checks) expect(check).toMatchObject({ status: 200, json: { allowed: true } })
    const streamed = await ask("POST", `/stores/${id}/streamed-list-objects`, {
      user: "user:ann",
      relation: "viewer",
      type: "document",
    })
    expect(streamed.json).toEqual({ result: { object: "document:1" } })
  })

  test("refuses what it refuses by HTTP/1.1", async () => {
    expect(await ask("GET", "/nowhere")).toMatchObject({ status: 404, json: { code: "undefined_endpoint" } })
    expect(await ask("GET", "/healthz", undefined, { ":authority": "evil.example" })).toMatchObject({
      status: 421,
    })
    const large = await ask("POST", "/stores", { name: "x".repeat(1_000_000) })
    expect(large).toMatchObject({ status: 413, reset: 0 })
    expect(await ask("GET", "/healthz")).toMatchObject({ status: 200 })
  })

  test("closing ends its connections after their requests", async () => {
    const closed = served.listeners.close(60_000)
    await until(() => session.closed)
    await closed
  })
})
