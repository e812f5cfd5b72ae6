import { afterAll, beforeAll, expect, test } from "vitest"
import { type SampleBackends, startSampleBackends } from "../../runtime/dev/sample-backends.ts"

const anyPorts = { host: "127.0.0.1", ordersPort: 0, catalogPort: 0 }

let backends: SampleBackends

beforeAll(async () => {
  backends = await startSampleBackends(anyPorts)
})

afterAll(() => backends.close())

async function get(url: string, init?: RequestInit) {
  const response = await fetch(url, init)
  const text = await response.text()
  return {
    status: response.status,
    headers: response.headers,
    body: text === "" ? undefined : JSON.parse(text),
  }
}

test("an order tells what it is, who answered, and the request as it came", async () => {
  const { status, body } = await get(`${backends.ordersUrl}/1?a=b`, { headers: { "x-user-id": "ann" } })
  expect(status).toBe(200)
  expect(body).toMatchObject({
    id: "1",
    item: "lantern",
    backend: "orders-v1",
    request: { method: "GET", path: "/1?a=b", headers: { "x-user-id": "ann" } },
  })
})

test("a path with the API's prefix and one without lead to the same", async () => {
  for (const path of ["/2", "/orders/2"])
    expect((await get(backends.ordersUrl + path)).body).toMatchObject({ id: "2" })
  for (const path of ["/items", "/catalog/items"])
    expect((await get(backends.catalogUrl + path)).body.items).toHaveLength(3)
  for (const path of ["/", "/orders", "/orders/"])
    expect((await get(backends.catalogUrl + path)).body.items[0]).toMatchObject({
      id: "1",
      lines: [{ sku: "lantern" }],
    })
})

test("below /echo any method and path is answered with the request", async () => {
  for (const url of [backends.ordersUrl, backends.catalogUrl])
    expect(await get(`${url}/echo/a/b?c=d`, { method: "PATCH", body: "x" })).toMatchObject({
      status: 200,
      body: { request: { method: "PATCH", path: "/echo/a/b?c=d" } },
    })
  expect((await get(`${backends.ordersUrl}/echoes/1`)).status).toBe(404)
})

test("things can be made, changed and removed", async () => {
  const send = (method: string, value: unknown) => ({ method, body: JSON.stringify(value) })
  const made = await get(backends.ordersUrl, send("POST", { item: "flint", id: "99" }))
  expect([made.status, made.headers.get("location"), made.body.id]).toEqual([201, "/4", "4"])
  expect((await get(`${backends.ordersUrl}/4`, send("PUT", { item: "steel" }))).body).toMatchObject({
    id: "4",
    item: "steel",
  })
  expect((await get(`${backends.ordersUrl}/4`, { method: "DELETE" })).status).toBe(204)
  expect((await get(`${backends.ordersUrl}/4`)).status).toBe(404)
})

test("what is wrong with a request is said", async () => {
  const post = (body: string) => get(backends.ordersUrl, { method: "POST", body })
  for (const body of ["", "{", "[]", "1", "null"]) expect((await post(body)).status).toBe(400)
  expect((await post(`{"a":"${"x".repeat(1024 * 1024)}"}`)).status).toBe(413)
  expect(await get(`${backends.ordersUrl}/1`, { method: "PATCH" })).toMatchObject({ status: 405 })
  for (const path of ["/nobody", "/1/2", "/1/stream/3", "/%ff", "/constructor"])
    expect((await get(backends.ordersUrl + path)).status).toBe(404)
  expect((await get(`${backends.ordersUrl}/healthz`)).status).toBe(200)
})

test("a stream comes event by event, and ends when the reader goes", async () => {
  const response = await fetch(`${backends.ordersUrl}/1/stream?count=3&everyMs=20`)
  expect(response.headers.get("content-type")).toBe("text/event-stream")
  const chunks: string[] = []
  for await (const chunk of response.body as AsyncIterable<Uint8Array>)
    chunks.push(Buffer.from(chunk).toString())
  expect(chunks.length).toBeGreaterThan(1)
  expect(chunks.join("").match(/^id: \d+$/gm)).toEqual(["id: 1", "id: 2", "id: 3"])
  const aborted = new AbortController()
  const endless = await fetch(`${backends.ordersUrl}/stream?count=3600`, { signal: aborted.signal })
  aborted.abort()
  await expect(endless.text()).rejects.toThrow()
})

test("a port in use is said, and nothing keeps running", async () => {
  const port = Number(new URL(backends.catalogUrl).port)
  await expect(startSampleBackends({ ...anyPorts, catalogPort: port })).rejects.toMatchObject({
    message: `the sample backend of the catalog cannot listen on 127.0.0.1:${port}: the address is in use`,
  })
})
