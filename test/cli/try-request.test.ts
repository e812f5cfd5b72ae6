import { expect, test } from "vitest"
import { exampleFolder, run } from "./run.ts"

const request = ["try", "request", "GET", "/v1/orders/1", "--as", "ann"] as const

test("tries a request with a token and a tuple, without a server", async () => {
  const cwd = exampleFolder()
  const words = ["--claim", "scope=orders.read", "--tuple", "user:ann owner order:1", "--time", "2030-01-31"]
  const { code, out } = await run({ cwd }, ...request, ...words)
  expect(code).toBe(0)
  expect(out).toMatch(/^GET \/v1\/orders\/1 as ann: 200\n {2}content-length: 0\n {2}x-gateway: sallyport\n/)
  expect(out).toContain("\nroute    GET /v1/orders/{id}\n  ok     deprecation  gateway.conf:")
  expect(out).toContain("backend  orders_v1 got GET /orders/1 and responded 200\n")
  expect(out).toContain("x-user-id: ann\n")
  expect(out).toContain('limit    99 of 100 left in 60 s for claim:"ann"\n')
  expect(out).toContain("decision allowed: user:ann has viewer on order:1\n")
  const json = JSON.parse((await run({ cwd }, ...request, ...words, "--json")).out)
  expect(json).toMatchObject({
    ...{ response: { status: 200 }, route: "GET /v1/orders/{id}", sent: [{ backend: "orders_v1" }] },
    decisions: [{ allowed: true, explanation: { allowed: true } }],
  })
})

test("with the callers and backends of tests", async () => {
  const cwd = exampleFolder()
  const given = ["--given", "models/tests/acme.gw.yaml"]
  const { out } = await run({ cwd }, ...request, ...given)
  expect(out).toContain('{"id":1,"item":"lamp"}')
  const refused = await run({ cwd }, "try", "request", "PUT", "/v1/orders/1", "--as", "bob", ...given)
  expect(refused.out).toMatch(/^PUT \/v1\/orders\/1 as bob: 403 \(forbidden\)\n/)
  expect(refused.out).toMatch(/\n {2}STOP {3}require {2}gateway\.conf:\d+\n/)
})

test("by a declared subscription, and where no route matches", async () => {
  const cwd = exampleFolder()
  const partner = await run({ cwd }, "try", "request", "GET", "/catalog/items", "--as", "acme_ci")
  expect(partner.out).toContain("quota    99999 of 100000 left")
  const lost = await run({ cwd }, "try", "request", "GET", "/nowhere")
  expect(lost.out).toMatch(/^GET \/nowhere: 404 \(not-found, OperationNotFound\)\n[\s\S]*\nroute {4}none\n$/)
})
