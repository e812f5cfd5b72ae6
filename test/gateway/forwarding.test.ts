import { afterAll, beforeAll, expect, test } from "vitest"
import { createMemoryLimiter } from "../../runtime/limits/memory.ts"
import { until } from "../support/until.ts"
import { type Running, startGateway, startUpstream, type Upstream } from "./harness.ts"

let upstream: Upstream
let running: Running

beforeAll(async () => {
  upstream = await startUpstream()
  running = await startGateway({
    backends: { main: upstream.url },
    routes: [{ method: "*", path: "/echo/{rest*}", stripPrefix: "/echo" }],
  })
})

afterAll(async () => {
  await running.close()
  await upstream.close()
})

test("a request goes to the backend and its answer comes back", async () => {
  const answer = await fetch(`${running.url}/echo/a/b?x=1&y=%20`)
  expect(answer.status).toBe(200)
  const seen = (await answer.json()) as { method: string; url: string; headers: Record<string, string> }
  expect(seen).toMatchObject({ method: "GET", url: "/a/b?x=1&y=%20" })
  expect(seen.headers["host"]).toBe(new URL(upstream.url).host)
})

test("a body goes through", async () => {
  const answer = await fetch(`${running.url}/echo/x`, { method: "POST", body: "hello" })
  expect(await answer.json()).toMatchObject({ method: "POST", url: "/x", body: "hello" })
})

test("an unknown path is 404 as a problem", async () => {
  const answer = await fetch(`${running.url}/nothing`)
  expect(answer.status).toBe(404)
  expect(answer.headers.get("content-type")).toBe("application/problem+json")
  expect(await answer.json()).toMatchObject({ type: "urn:sallyport:problem:not-found", status: 404 })
})

test("what a trusted proxy says is believed and passed on, rebuilt", async () => {
  const trusting = await startGateway({
    trust: ["127.0.0.1", "10.0.0.0/8"],
    backends: { main: upstream.url },
    routes: [{ path: "/a" }],
  })
  const answer = await fetch(`${trusting.url}/a`, {
    headers: {
      "x-forwarded-for": "6.6.6.6, 9.9.9.9, 10.1.1.1",
      "x-forwarded-proto": "http, https",
      "x-forwarded-host": "api.example",
      "x-request-id": "from-the-edge.1",
      forwarded: "for=6.6.6.6",
      "x-real-ip": "6.6.6.6",
      via: "1.1 edge",
    },
  })
  const { headers } = (await answer.json()) as { headers: Record<string, string> }
  expect(headers).toMatchObject({
    "x-forwarded-for": "6.6.6.6, 9.9.9.9, 10.1.1.1, 127.0.0.1",
    "x-forwarded-proto": "https",
    "x-forwarded-host": "api.example",
    "x-request-id": "from-the-edge.1",
    via: "1.1 edge, 1.1 test",
  })
  expect(headers["forwarded"]).toBeUndefined()
  expect(headers["x-real-ip"]).toBeUndefined()
  expect(answer.headers.get("x-request-id")).toBe("from-the-edge.1")
  await until(() => trusting.log.length === 1)
  expect(trusting.log[0]).toMatchObject({
    id: "from-the-edge.1",
    ip: "9.9.9.9",
    route: "GET /a",
    status: 200,
    aborted: false,
  })
  await trusting.close()
})

test("the paths of a backend and of its requests are joined", async () => {
  const rows: [base: string, strip: string, path: string, seen: string][] = [
    ["", "", "/a/x", "/a/x"],
    ["/", "/a", "/a/x", "/x"],
    ["", "/a", "/a", "/"],
    ["", "/a", "/a/", "/"],
    ["/base", "/a", "/a/x/", "/base/x/"],
    ["/base/", "/a", "/a", "/base"],
    ["/base", "/a/", "/a/x?q=1", "/base/x?q=1"],
    ["", "/a", "/a?q=%20", "/?q=%20"],
  ]
  for (const [base, stripPrefix, path, seen] of rows) {
    const one = await startGateway({
      backends: { main: upstream.url + base },
      routes: [{ path: "/a/{rest*}", stripPrefix }],
    })
    const { url } = (await (await fetch(one.url + path)).json()) as { url: string }
    expect(url, `${base} ${stripPrefix} ${path}`).toBe(seen)
    await one.close()
  }
})

test("a mistake of ours fails one request with 500 and its reason in the log", async () => {
  const broken = await startGateway(
    {
      backends: { main: upstream.url },
      routes: [
        { path: "/a" },
        {
          path: "/b",
          inbound: [
            { kind: "rate-limit", counter: "c", callsMax: 1, periodSeconds: 1, keys: [{ by: "ip" }] },
          ],
        },
      ],
    },
    {
      limiter: Object.assign(createMemoryLimiter(), {
        take: () => {
          throw new TypeError("a mistake")
        },
      }),
    },
  )
  const answer = await fetch(`${broken.url}/b`)
  expect(answer.status).toBe(500)
  expect(await answer.text()).not.toContain("mistake")
  await until(() => broken.log.length === 1)
  expect(broken.log[0]?.cause).toContain("a mistake")
  expect((await fetch(`${broken.url}/a`)).status).toBe(200)
  await broken.close()
})
