import { mkdtempSync, rmSync } from "node:fs"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, afterEach, beforeAll, expect, it, test } from "vitest"
import type { RefusalAnswer } from "../../runtime/control/api.ts"
import { explainOffline } from "../../runtime/gateway/explain/explain-offline.ts"
import type {
  ExplainedStep,
  RequestExplanation,
  RequestQuestion,
} from "../../runtime/gateway/explain/request-explanation.ts"
import { folderWith, run } from "../cli/run.ts"
import { compiled } from "../diff/compiled.ts"
import { createMigratedDatabase, describePostgres } from "../postgres.ts"
import { Authority } from "../support/certificates.ts"
import { author, control, freePorts, type Ports, planOf, start } from "./project.ts"

const text = (base: string) => `
gateway test { listen 127.0.0.1:1 }
secret gateway_secret = env(GATEWAY_SECRET)
secret ann_password = env(ANN_PASSWORD)
introspection partner { url "${base}/introspect"; client "gateway" secret gateway_secret; cache 1m }
users staff { user ann ann_password }
token stock { url "${base}/token"; client "gateway" secret gateway_secret }
backend plain { url "${base}" }
backend named { url "${base}"; authenticate basic "gateway" gateway_secret }
backend tokened { url "${base}"; authenticate token stock }
api opaque {
  path "/opaque"
  auth introspection partner { claim scope has "read" }
  GET "/{id}" { inbound { header set "X-Who" "\${jwt.sub}" }; backend plain }
}
api listed { path "/listed"; auth basic staff; GET "/" { backend named } }
api shown {
  path "/shown"
  auth none
  GET "/basic" { inbound { authenticate basic "me" gateway_secret }; backend plain }
  GET "/token" { inbound { authenticate token stock }; backend plain }
  GET "/backend" { backend tokened }
  GET "/nobody" { backend plain }
  GET "/query" { inbound { query set "code" gateway_secret }; backend plain }
  GET "/socket" { websocket { expire-with-token; close-when-removed; idle 10m }; backend plain }
  GET "/closed" { websocket off; backend plain }
}
`

const environment = { GATEWAY_SECRET: "s3cret-of-ours", ANN_PASSWORD: "pass-of-ann" }

const offline = (
  question: Partial<RequestQuestion>,
  project = text("http://127.0.0.1:2"),
  folder = process.cwd(),
) =>
  explainOffline(
    compiled({ "gateway.conf": project }),
    {
      ...{ method: "GET", target: "/", host: "localhost", ip: "127.0.0.1", headers: [], body: undefined },
      ...question,
    },
    { environment, folder },
  )

function stepsOf({ sections }: RequestExplanation): readonly ExplainedStep[] {
  return sections.flatMap(({ steps }) => steps)
}

const basic = (user: string, password: string): [string, string] => [
  "Authorization",
  `Basic ${Buffer.from(`${user}:${password}`).toString("base64")}`,
]

test("a secret in the query for the backend is shown by its name", async () => {
  const { verdict } = await offline({ target: "/shown/query?a=1" })
  expect(verdict).toMatchObject({ kind: "forwarded", path: "/query?a=1&code=[secret gateway_secret]" })
})

test("nobody is asked about an opaque token: what would follow is said, and what reads its claims is not known", async () => {
  const explained = await offline({ target: "/opaque/1", token: "tok-1" })
  expect(explained.verdict).toMatchObject({ kind: "forwarded", backend: "plain" })
  expect(explained.verdict?.assuming).toHaveLength(2)
  expect(explained.verdict?.assuming[0]).toMatch(
    /^`introspect` \(gateway\.conf:\d+\) continues: `partner` is not called here/,
  )
  const states = stepsOf(explained).map(({ step, state }) => `${step.kind} ${state}`)
  expect(states.slice(0, 2)).toEqual(["introspect unknown", "set-header unknown"])
  expect((await offline({ target: "/opaque/1" })).verdict).toMatchObject({
    ...{ kind: "answered", status: 401, by: { kind: "introspect" }, cause: "no token" },
  })
  expect((await offline({ target: "/opaque/1", token: "with blank" })).verdict).toMatchObject({ status: 401 })
})

test("a caller who was named has an opaque token that counts, with the claims that were said", async () => {
  const named = await offline({ target: "/opaque/1", claims: { sub: "ann", scope: "read" } })
  expect(named.verdict).toMatchObject({ kind: "forwarded", assuming: [] })
  const lacking = await offline({ target: "/opaque/1", claims: { sub: "ann", scope: "write" } })
  expect(lacking.verdict).toMatchObject({ status: 403, by: { kind: "introspect" } })
  const only = await offline({ target: "/opaque/1", claims: { sub: "ann" } })
  expect(only.verdict?.assuming).toEqual([expect.stringContaining("assumed to have the required claims")])
})

test("user and password are judged here, and of a caller who was named whether there is such a user", async () => {
  const right = await offline({ target: "/listed", headers: [basic("ann", "pass-of-ann")] })
  expect(right.verdict).toMatchObject({ kind: "forwarded", backend: "named", assuming: [] })
  const wrong = await offline({ target: "/listed", headers: [basic("ann", "wrong")] })
  expect(wrong.verdict).toMatchObject({ status: 401, by: { kind: "basic-auth" } })
  expect((await offline({ target: "/listed", claims: { sub: "ann" } })).verdict).toMatchObject({
    ...{ kind: "forwarded", assuming: [] },
  })
  expect((await offline({ target: "/listed", claims: { sub: "bob" } })).verdict).toMatchObject({
    ...{ status: 401, cause: "user or password is wrong" },
  })
})

test("a client certificate is assumed for a caller who was named, and missing otherwise", async () => {
  const folder = mkdtempSync(join(tmpdir(), "explain-certificates-"))
  new Authority(folder).sign("own", ["own.example"])
  const project = `
    gateway test { listen 127.0.0.1:1 { tls { certificate own; client-certificate request { ca file("ca.pem") } } } }
    certificate own { cert file("own.pem"); key file("own.key") }
    api certified { path "/certified"; auth certificate { subject "CN=orders" }; GET "/" { backend "http://127.0.0.1:2" } }
  `
  expect((await offline({ target: "/certified" }, project, folder)).verdict).toMatchObject({
    ...{ status: 401, by: { kind: "validate-certificate" } },
    cause: "the client presented no certificate on its connection",
  })
  const named = await offline({ target: "/certified", claims: { sub: "CN=orders" } }, project, folder)
  expect(named.verdict).toMatchObject({ kind: "forwarded" })
  expect(named.verdict?.assuming).toEqual([expect.stringContaining("`auth certificate` accepts")])
  rmSync(folder, { recursive: true })
})

test("who the backend takes us for is said, and no secret", async () => {
  const notes = async (target: string) => {
    const explained = await offline({ target, headers: [basic("ann", "pass-of-ann")] })
    expect(JSON.stringify(explained)).not.toMatch(/s3cret-of-ours|pass-of-ann/)
    expect(explained.verdict).toMatchObject({ kind: "forwarded" })
    const said = stepsOf(explained).flatMap(({ notes: all }) => all)
    return { said, assuming: explained.verdict?.assuming }
  }
  expect(await notes("/shown/basic")).toEqual({
    said: ["the backend gets user `me` with a password"],
    assuming: [],
  })
  const token = "the backend gets a token of client `stock`, which is not requested here"
  expect(await notes("/shown/token")).toEqual({
    said: [token],
    assuming: [expect.stringMatching(/^`authenticate` \(gateway\.conf:\d+\) continues: the backend gets/)],
  })
  expect((await notes("/listed")).said).toEqual(["`named` gets a user with a password"])
  expect((await notes("/shown/backend")).said).toEqual([
    "`tokened` gets a token of client `stock`, which is not requested here",
  ])
  expect((await notes("/shown/nobody")).said).toEqual([])
})

test("a WebSocket is what its headers make one: what ends it is said, and what refuses it", async () => {
  const cwd = folderWith({ "gateway.conf": text("http://127.0.0.1:2") })
  const words = (path: string, ...more: string[]) =>
    run({ cwd, env: environment }, "explain", "request", "GET", path, ...more, "--config", "gateway.conf")
  const opened = await words("/shown/socket", "--websocket")
  expect(opened.out).toContain(
    "the request asks for a WebSocket: 101 opens a tunnel, any other response is passed on",
  )
  expect(opened.out).toContain("the tunnel ends with the token it was opened with")
  expect(opened.out).toContain("the tunnel ends when the plan no longer has the route")
  expect(opened.out).toContain("the tunnel ends after 600 s without a byte")
  const plain = await words("/shown/socket")
  expect(plain.out).toContain("The request goes to backend plain")
  expect(plain.out).not.toContain("WebSocket")
  expect((await words("/shown/nobody", "--websocket")).out).not.toContain("the tunnel ends")
  expect((await words("/shown/closed", "--websocket")).out).toContain("The response is 501 not-implemented")
  const half = await words(
    "/shown/socket",
    "--header",
    "Connection: Upgrade",
    "--header",
    "Upgrade: websocket",
  )
  expect(half.out).toContain(
    "The response is 400 invalid-request, from the gateway: the upgrade is not a WebSocket upgrade",
  )
  const post = await run({ cwd }, "explain", "request", "POST", "/shown/socket", "--websocket")
  expect(post.err).toContain("a WebSocket request has the method GET")
})

const stops: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const stop of stops.splice(0).reverse()) await stop()
})

let asked = 0
const endpoint = createServer((request, response) => {
  asked += 1
  request.resume()
  response.setHeader("content-type", "application/json")
  response.end(JSON.stringify({ active: true, sub: "ann", scope: "write" }))
})
beforeAll(() => new Promise<void>((done) => endpoint.listen(0, "127.0.0.1", done)))
afterAll(() => new Promise((done) => endpoint.close(done)))

async function running(): Promise<Ports> {
  const { url, drop } = await createMigratedDatabase()
  stops.push(drop)
  const ports = await freePorts()
  const runtime = await start(url, ports, {
    env: { ...environment, ANN_KEY: "a".repeat(40), BOB_KEY: "b".repeat(40) },
  })
  stops.push(() => runtime.close())
  const own = text(`http://127.0.0.1:${(endpoint.address() as AddressInfo).port}`)
  const applied = await runtime.apply(planOf(ports, "hello", own.replace(/^gateway .*$/m, "")), author)
  expect(applied).toMatchObject({ kind: "done" })
  return ports
}

describePostgres("of a running process", () => {
  it("nobody is asked, what was said before counts, and a refusal tells what was seen", async () => {
    const ports = await running()
    const ask = async () => {
      const question = { method: "GET", target: "/opaque/1", token: "tok-1" }
      const { status, body } = await control(ports, "POST", "/v1/explain-request", question)
      expect(status).toBe(200)
      return body as unknown as RequestExplanation
    }
    const before = await ask()
    expect(before.verdict).toMatchObject({ kind: "forwarded" })
    expect(before.verdict?.assuming[0]).toContain("`partner` is not called here")
    expect(asked).toBe(0)

    const headers = { authorization: "Bearer tok-1" }
    const refused = await fetch(`http://127.0.0.1:${ports.gateway}/opaque/1`, { headers })
    expect(refused.status).toBe(403)
    expect(asked).toBe(1)
    const { request_id: id } = (await refused.json()) as { request_id: string }
    const seen = (await control(ports, "GET", `/v1/refusals/${id}`)).body as unknown as RefusalAnswer
    expect(seen.refusal).toMatchObject({
      ...{ status: 403, problem: "insufficient-scope", answeredBy: { kind: "introspect" } },
      cause: expect.stringMatching(/^gateway\.conf:\d+: the token's claim `[a-z]+` does not meet the rules$/),
    })
    expect(JSON.stringify(seen)).not.toContain("tok-1")

    const after = await ask()
    expect(after.verdict).toMatchObject({ status: 403, by: { kind: "introspect" }, assuming: [] })
    expect(stepsOf(after)[0]?.notes).toEqual(["from the last response of `partner`"])
    expect(asked).toBe(1)
  })
})
