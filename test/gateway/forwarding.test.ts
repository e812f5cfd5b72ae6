import { afterAll, beforeAll, expect, test } from "vitest"
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
