import { hostname } from "node:os"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import type { ControlPorts } from "../../runtime/control/ports.ts"
import { type Control, startControl } from "../../runtime/control/server.ts"
import type { Database } from "../../runtime/store/database.ts"
import { createLog } from "../../runtime/telemetry/log.ts"
import { serve } from "../authz/harness.ts"
import { type Running, sendRaw, startGateway, startUpstream, type Upstream } from "../gateway/harness.ts"
import { openTestDatabase } from "../store/databases.ts"

// The gateway, the engine's and the control listener take, and refuse, the same requests.

const token = "0123456789abcdef0123456789abcdef"
const ports: Record<string, number> = {}
let database: Database
let upstream: Upstream
let gateway: Running
let engine: Awaited<ReturnType<typeof serve>>
let control: Control

beforeAll(async () => {
  upstream = await startUpstream()
  gateway = await startGateway({
    backends: { main: upstream.url },
    routes: [{ method: "*", path: "/{rest*}" }],
  })
  database = await openTestDatabase()
  engine = await serve(database, undefined, { hosts: ["authz.internal", "*.svc.example"] })
  control = await startControl(
    {
      listen: { host: "127.0.0.1", port: 0 },
      token,
      hosts: ["authz.internal", "*.svc.example"],
      log: createLog({ level: "silent" }),
    },
    { metrics: () => "# nothing\n" } as unknown as ControlPorts,
  )
  ports["gateway"] = gateway.port
  ports["engine"] = Number(new URL(engine.base).port)
  ports["control"] = Number(new URL(control.url).port)
})
afterAll(async () => {
  await Promise.all([gateway.close(), engine.listeners.close(), control.close(), upstream.close()])
  await database.close()
})

const host = "Host: localhost\r\n"
const fields = (count: number) => Array.from({ length: count }, (_, at) => `X-${at}: 1\r\n`).join("")

/** What is sent, and the status of the first answer. */
const rows: readonly (readonly [name: string, bytes: string, status: number])[] = [
  ["a plain request", `GET /healthz HTTP/1.1\r\n${host}\r\n`, 200],
  ["HTTP/1.0 without Host", "GET /healthz HTTP/1.0\r\n\r\n", 200],
  ["the absolute form", `GET http://localhost/healthz HTTP/1.1\r\n${host}\r\n`, 200],
  ["TE with other codings", `GET /healthz HTTP/1.1\r\n${host}TE: cow, chunked\r\n\r\n`, 200],
  ["99 fields", `GET /healthz HTTP/1.1\r\n${host}${fields(98)}\r\n`, 200],
  ["two Hosts", `GET /healthz HTTP/1.1\r\n${host}Host: localhost\r\n\r\n`, 400],
  ["two Hosts that differ", `GET /healthz HTTP/1.1\r\n${host}Host: other\r\n\r\n`, 400],
  ["no Host", "GET /healthz HTTP/1.1\r\n\r\n", 400],
  ["an empty Host", "GET /healthz HTTP/1.1\r\nHost:\r\n\r\n", 400],
  ["a Host that is none", "GET /healthz HTTP/1.1\r\nHost: local host\r\n\r\n", 400],
  ["a Host with a user", "GET /healthz HTTP/1.1\r\nHost: a@localhost\r\n\r\n", 400],
  ["an absolute form of another host", `GET http://other/healthz HTTP/1.1\r\n${host}\r\n`, 400],
  ["a target that is not a path", `GET healthz HTTP/1.1\r\n${host}\r\n`, 400],
  ["*", `OPTIONS * HTTP/1.1\r\n${host}\r\n`, 400],
  ["2,500 fields", `GET /healthz HTTP/1.1\r\n${host}${fields(2_500)}\r\n`, 431],
  ["101 fields", `GET /healthz HTTP/1.1\r\n${host}${fields(100)}\r\n`, 431],
  ["a field of 20 KB", `GET /healthz HTTP/1.1\r\n${host}X-A: ${"a".repeat(20_000)}\r\n\r\n`, 431],
  ["HTTP/0.9 without a version", "GET /healthz\r\n\r\n", 505],
  ["HTTP/0.9", `GET /healthz HTTP/0.9\r\n${host}\r\n`, 505],
  ["HTTP/2.0", `GET /healthz HTTP/2.0\r\n${host}\r\n`, 505],
  ["the preface of HTTP/2", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 400],
  [
    "a coding before chunked",
    `POST /x HTTP/1.1\r\n${host}Transfer-Encoding: cow, chunked\r\n\r\n0\r\n\r\n`,
    501,
  ],
  [
    "two codings",
    `POST /x HTTP/1.1\r\n${host}Transfer-Encoding: gzip\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`,
    501,
  ],
  ["chunked twice", `POST /x HTTP/1.1\r\n${host}Transfer-Encoding: chunked, chunked\r\n\r\n0\r\n\r\n`, 400],
  ["chunked in HTTP/1.0", `POST /x HTTP/1.0\r\n${host}Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n`, 400],
  ["two lengths", `POST /x HTTP/1.1\r\n${host}Content-Length: 0\r\nContent-Length: 0\r\n\r\n`, 400],
  ["a length with a sign", `POST /x HTTP/1.1\r\n${host}Content-Length: +0\r\n\r\n`, 400],
  [
    "a length beside chunks",
    `POST /x HTTP/1.1\r\n${host}Content-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`,
    400,
  ],
  ["two Authorizations", `GET /healthz HTTP/1.1\r\n${host}Authorization: a\r\nAuthorization: b\r\n\r\n`, 400],
  ["an unknown expectation", `GET /healthz HTTP/1.1\r\n${host}Expect: tea\r\n\r\n`, 417],
  ["TRACE", `TRACE /healthz HTTP/1.1\r\n${host}\r\n`, 405],
  ["CONNECT", `CONNECT localhost:1 HTTP/1.1\r\n${host}\r\n`, 405],
  ["a folded field", `GET /healthz HTTP/1.1\r\n${host}X-A: a\r\n b\r\n\r\n`, 400],
  ["a blank before the colon", `GET /healthz HTTP/1.1\r\n${host}X-A : a\r\n\r\n`, 400],
  ["LF alone", "GET /healthz HTTP/1.1\nHost: localhost\n\n", 400],
  ["a NUL", `GET /healthz HTTP/1.1\r\n${host}X-A: \0\r\n\r\n`, 400],
  ["a target of 20,000 characters", `GET /${"a".repeat(16_384)} HTTP/1.1\r\n${host}\r\n`, 431],
]

describe.each(["gateway", "engine", "control"])("the %s listener", (which) => {
  test.each(rows)("answers %s as the others do", async (_, bytes, status) => {
    const answer = await sendRaw(ports[which] as number, bytes, 60)
    expect([status, answer.text.slice(0, 300)]).toEqual([
      answer.status,
      expect.stringMatching(/^HTTP\/1\.1 /),
    ])
    // A refusal says why, in the listener's own form.
    if (status !== 200) expect(answer.text).toMatch(/"(code|type)":"/)
  })

  test("says 100 Continue, and takes the body", async () => {
    const head = `POST /stores/x/check HTTP/1.1\r\n${host}Expect: 100-continue\r\nContent-Length: 2\r\n\r\n`
    const answer = await sendRaw(ports[which] as number, `${head}{}`, 60)
    // The gateway has a backend that reads it; the engine finds no question in it; operators without a token are not heard.
    expect(answer.status).toBe({ gateway: 200, engine: 400, control: 401 }[which])
    expect(answer.text.startsWith("HTTP/1.1 100 ")).toBe(which !== "control")
  })
})

/** Host, and whether the listener is meant by it. */
const names: readonly (readonly [host: string, own: boolean])[] = [
  ["localhost", true],
  ["LOCALHOST:8080", true],
  ["localhost.", true],
  ["a.localhost", true],
  ["127.0.0.1", true],
  ["127.0.0.1:1", true],
  ["127.9.9.9", true],
  ["[::1]:8080", true],
  ["authz.internal", true],
  ["Authz.Internal:8080", true],
  ["a.svc.example", true],
  ["a.b.svc.example:80", true],
  ["192.0.2.7", true],
  ["evil.example", false],
  ["evil.example:8080", false],
  ["localhost.evil.example", false],
  ["127.0.0.1.evil.example", false],
  ["evillocalhost", false],
  ["svc.example", false],
  ["evil-svc.example", false],
  ["x.authz.internal", false],
  ["203.0.113.9.evil.example", false],
  // No name, so no DNS answer that somebody could have changed: a pod's, a Service's, a load balancer's.
  ["203.0.113.9", true],
  ["203.0.113.9:8080", true],
  ["[2001:db8::1]:8080", true],
  [hostname(), true],
  [`${hostname()}:8080`.toUpperCase(), true],
]

describe.each([
  ["engine", ["/healthz", "/stores/acme/changes", "/.well-known/authzen-configuration/acme", "/nowhere"]],
  ["control", ["/healthz", "/readyz", "/metrics", "/v1/status", "/authz/stores", "/nowhere"]],
])("the %s listener", (which, paths) => {
  test.each(names)("asked as %s: %s", async (name, own) => {
    for (const path of own ? ["/healthz"] : paths) {
      const answer = await sendRaw(
        ports[which] as number,
        `GET ${path} HTTP/1.1\r\nHost: ${name}\r\n\r\n`,
        60,
      )
      expect([path, answer.status]).toEqual([path, own ? 200 : 421])
      if (!own) expect(answer.text).toContain("SALLYPORT_HOSTS")
    }
  })
})

test("metadata of AuthZEN is never of another's name", async () => {
  const path = "/.well-known/authzen-configuration/acme"
  const ask = (name: string) =>
    sendRaw(ports["engine"] as number, `GET ${path} HTTP/1.1\r\nHost: ${name}\r\n\r\n`, 60)
  expect((await ask("evil.example")).status).toBe(421)
  const reached = `"policy_decision_point":"${engine.base}/acme"`
  for (const name of ["localhost", "authz.internal:9", "a.svc.example", "203.0.113.9", "localhost:1"])
    expect((await ask(name)).text).toContain(reached)
})
