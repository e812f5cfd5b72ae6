import { afterEach, describe, expect, it } from "vitest"
import { sendRaw, startUpstream } from "./harness.ts"
import { closeAll, issuers, jwt, start, tokenOf, verifier } from "./one-route.ts"
import type { RouteDraft, StepDraft } from "./plan-builder.ts"

afterEach(closeAll)

const cors = (more: object = {}): StepDraft => ({
  kind: "cors",
  origins: ["https://app.example", "https://*.wild.example"],
  methods: ["GET", "PUT"],
  headers: ["authorization", "x-a"],
  expose: ["x-b"],
  credentials: true,
  maxAgeSeconds: 600,
  terminateUnmatched: true,
  ...more,
})

const preflight = (port: number, origin: string, method: string, more = "") =>
  sendRaw(
    port,
    `OPTIONS /a/7 HTTP/1.1\r\nHost: gw\r\nOrigin: ${origin}\r\nAccess-Control-Request-Method: ${method}\r\n${more}\r\n`,
    60,
  )
const actual = (port: number, origin: string, more = "") =>
  sendRaw(port, `GET /a/7 HTTP/1.1\r\nHost: gw\r\nOrigin: ${origin}\r\n${more}\r\n`, 60)

const guarded = (step: StepDraft): Partial<RouteDraft> => ({
  method: "GET",
  inbound: [step, jwt],
  outbound: [step],
})

describe("preflights", () => {
  it("are answered before everything else, though the path has no OPTIONS", async () => {
    const { running, upstream } = await start(guarded(cors()), { issuers }, verifier)
    const answer = await preflight(
      running.port,
      "https://app.example",
      "GET",
      "Access-Control-Request-Headers: x-a\r\n",
    )
    expect(answer.status).toBe(204)
    expect(Object.fromEntries(answer.headers)).toMatchObject({
      "access-control-allow-origin": "https://app.example",
      "access-control-allow-methods": "GET, PUT",
      "access-control-allow-headers": "authorization, x-a",
      "access-control-allow-credentials": "true",
      "access-control-max-age": "600",
      vary: "Origin, Access-Control-Request-Method, Access-Control-Request-Headers",
    })
    expect(upstream.requests).toEqual([])
  })

  it.each<[string, string, number, boolean]>([
    ["https://app.example", "GET", 204, true],
    ["https://x.wild.example", "GET", 204, true],
    ["https://x.y.wild.example", "GET", 204, true],
    ["https://wild.example", "GET", 200, false],
    ["https://evil-wild.example", "GET", 200, false],
    ["https://a@x.wild.example", "GET", 200, false],
    ["http://x.wild.example", "GET", 200, false],
    ["https://app.example.evil.test", "GET", 200, false],
    ["https://APP.example", "GET", 200, false],
    ["null", "GET", 200, false],
  ])("from %s for %s: %s, allowed %s", async (origin, method, status, allowed) => {
    const { running } = await start(guarded(cors()), { issuers }, verifier)
    const answer = await preflight(running.port, origin, method)
    expect([answer.status, answer.headers.has("access-control-allow-origin")]).toEqual([status, allowed])
  })

  it("for another method, or to a route without cors, are what they are without it", async () => {
    const { running } = await start(guarded(cors()), { issuers }, verifier)
    expect((await preflight(running.port, "https://app.example", "DELETE")).status).toBe(405)
    const without = await start({ method: "GET", inbound: [jwt] }, { issuers }, verifier)
    expect((await preflight(without.running.port, "https://app.example", "GET")).status).toBe(405)
  })

  it("go on where the plan says so", async () => {
    const { running } = await start(guarded(cors({ terminateUnmatched: false })), { issuers }, verifier)
    expect((await preflight(running.port, "https://evil.example", "GET")).status).toBe(405)
  })

  it("are answered by the API's own operation for OPTIONS", async () => {
    const upstream = await startUpstream()
    const { running } = await start(
      {},
      {
        backends: { main: upstream.url },
        issuers,
        routes: [
          { method: "GET", path: "/a/{id}", ...guarded(cors()) },
          {
            method: "OPTIONS",
            path: "/a/{id}",
            inbound: [{ kind: "respond", status: 299, headers: [], media: null }],
            backend: null,
          },
        ],
      },
      verifier,
    )
    expect((await preflight(running.port, "https://app.example", "GET")).status).toBe(299)
    await upstream.close()
  })

  it("echo what is asked for where everything is allowed, if it is made of tokens", async () => {
    const step = cors({
      origins: ["*"],
      methods: ["*"],
      headers: ["*"],
      credentials: false,
      maxAgeSeconds: 0,
    })
    const { running } = await start(guarded(step), { issuers }, verifier)
    const answer = await preflight(
      running.port,
      "https://any.example",
      "GET",
      "Access-Control-Request-Headers: X-A, X-B\r\n",
    )
    expect(answer.headers.get("access-control-allow-origin")).toBe("*")
    expect(answer.headers.get("access-control-allow-methods")).toBe("GET")
    expect(answer.headers.get("access-control-allow-headers")).toBe("X-A, X-B")
    const odd = await preflight(
      running.port,
      "https://any.example",
      "GET",
      "Access-Control-Request-Headers: <x>\r\n",
    )
    expect(odd.headers.has("access-control-allow-headers")).toBe(false)
  })
})

describe("answers", () => {
  it("say that the page may read them, refusals too; the response of the backend about sharing is gone", async () => {
    const upstream = await startUpstream((request, response) => {
      request.resume()
      response.writeHead(200, { "access-control-allow-origin": "*", "content-length": "0" }).end()
    })
    const { running } = await start(guarded(cors()), { issuers, backends: { main: upstream.url } }, verifier)
    const good = await actual(running.port, "https://app.example", tokenOf({ scope: "read" }))
    expect([good.status, good.headers.get("access-control-allow-origin")]).toEqual([
      200,
      "https://app.example",
    ])
    expect(good.headers.get("access-control-expose-headers")).toBe("x-b")
    const refused = await actual(running.port, "https://app.example")
    expect([refused.status, refused.headers.get("access-control-allow-origin")]).toEqual([
      401,
      "https://app.example",
    ])
    expect(refused.headers.get("vary")).toBe("Origin")
    const other = await actual(running.port, "https://evil.example", tokenOf({ scope: "read" }))
    expect([other.status, other.headers.has("access-control-allow-origin")]).toEqual([200, false])
    expect(other.headers.get("vary")).toBe("Origin")
    await upstream.close()
  })
})
