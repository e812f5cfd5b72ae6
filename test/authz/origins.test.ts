import { afterAll, beforeAll, describe, expect, test } from "vitest"
import type { AuthzCors } from "../../runtime/authz/ports.ts"
import type { Database } from "../../runtime/store/database.ts"
import { openTestDatabase } from "../store/databases.ts"
import { type Served, serve } from "./harness.ts"

const page = "https://console.example.com"

describe("pages of other origins", () => {
  let database: Database
  let served: Served & { listeners: { close(): Promise<void> } }
  let cors: AuthzCors
  beforeAll(async () => {
    database = await openTestDatabase()
    served = await serve(database, 10_000, { cors: () => cors })
  })
  afterAll(async () => {
    await served.listeners.close()
    await database.close()
  })

  const ask = (method: string, headers: Record<string, string>, body?: string) =>
    fetch(`${served.base}/stores`, { method, headers, ...(body === undefined ? {} : { body }) })
  const count = async () =>
    ((await served.call("GET", "/stores?page_size=100")).json.stores as unknown[]).length

  test.each([
    ["none is let in", [], page, undefined],
    ["another one", ["https://other.example.com"], page, undefined],
    ["the same host under another scheme", [page], "http://console.example.com", undefined],
    ["null, as of a local file", [page], "null", undefined],
    ["a part of one", [page], "https://console.example.com.evil.example", undefined],
    ["one of several", ["https://other.example.com", page], page, page],
    ["any", ["*"], page, "*"],
  ])("%s", async (_, origins, origin, allowed) => {
    cors = { origins, headers: ["content-type"] }
    const before = await count()
    // A form of any page may send this without asking first.
    const posted = await ask("POST", { origin, "content-type": "text/plain" }, '{"name": "by a page"}')
    const preflight = await ask("OPTIONS", { origin, "access-control-request-method": "POST" })
    for (const { headers } of [posted, preflight]) {
      expect(headers.get("access-control-allow-origin")).toBe(allowed ?? null)
      expect(headers.get("access-control-allow-credentials")).toBeNull()
      expect(headers.get("vary")).toBe(allowed === page ? "Origin" : null)
    }
    if (allowed === undefined) {
      expect([posted.status, preflight.status]).toEqual([403, 403])
      expect(await posted.json()).toEqual({
        code: "forbidden",
        message:
          "web pages of this origin are not allowed to call the engine; add the origin to `cors` in `authz` of gateway.conf",
      })
      expect(await count()).toBe(before)
      return
    }
    expect([posted.status, preflight.status]).toEqual([201, 204])
    expect(posted.headers.get("access-control-expose-headers")).toContain("X-Request-Id")
    expect(preflight.headers.get("access-control-allow-methods")).toBe("GET, POST, PUT, PATCH, DELETE")
    expect(preflight.headers.get("access-control-allow-headers")).toBe("content-type")
    expect(preflight.headers.get("access-control-max-age")).toBe("600")
  })

  test("any header: those that are asked for are named, because `*` is no Authorization to browsers", async () => {
    cors = { origins: [page], headers: ["*"] }
    const asked = {
      "access-control-request-method": "POST",
      "access-control-request-headers": "authorization,x-a",
    }
    const { status, headers } = await ask("OPTIONS", { origin: page, ...asked })
    expect([status, headers.get("access-control-allow-headers")]).toEqual([204, "authorization,x-a"])
    const nothing = await ask("OPTIONS", { origin: page, "access-control-request-method": "GET" })
    expect([nothing.status, nothing.headers.get("access-control-allow-headers")]).toEqual([204, null])
  })

  test("an error is readable for a page that is let in", async () => {
    cors = { origins: [page], headers: [] }
    const { status, headers } = await ask("POST", { origin: page }, "{")
    expect([status, headers.get("access-control-allow-origin")]).toEqual([400, page])
  })

  test("OPTIONS that is not a preflight leads nowhere; services without an origin are not concerned", async () => {
    cors = { origins: [], headers: [] }
    expect((await ask("OPTIONS", {})).status).toBe(404)
    expect((await ask("GET", {})).status).toBe(200)
  })
})
