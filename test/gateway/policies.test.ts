import { afterEach, describe, expect, test } from "vitest"
import { CheckError, type CheckRequest } from "../../runtime/check/ports.ts"
import type { GatewayOptions } from "../../runtime/gateway/gateway.ts"
import type { TokenVerifier } from "../../runtime/identity/verifier.ts"
import type { Text } from "../../runtime/plan/text.ts"
import {
  type Draft,
  type RawAnswer,
  type Running,
  sendRaw,
  startGateway,
  startUpstream,
  type Upstream,
  until,
} from "./harness.ts"
import type { RouteDraft, StepDraft } from "./plan-builder.ts"

const closers: (() => Promise<void>)[] = []

afterEach(async () => {
  for (const close of closers.splice(0)) await close()
})

async function start(
  route: Partial<RouteDraft>,
  draft: Partial<Draft> = {},
  options: Partial<GatewayOptions> = {},
): Promise<{
  running: Running
  upstream: Upstream
  get: (path?: string, headers?: string) => Promise<RawAnswer>
}> {
  const upstream = await startUpstream()
  const running = await startGateway(
    { backends: { main: upstream.url }, routes: [{ method: "*", path: "/a/{id}", ...route }], ...draft },
    options,
  )
  closers.push(
    () => running.close(),
    () => upstream.close(),
  )
  const get = (path = "/a/7", headers = "") =>
    sendRaw(running.port, `GET ${path} HTTP/1.1\r\nHost: gw:81\r\n${headers}\r\n`, 60)
  return { running, upstream, get }
}

const cel = (text: string): Text => ({ text: [{ expression: { lang: "cel", text, type: "string" } }] })
const header = (name: string, value: Text, action: "set" | "append" | "default" = "set"): StepDraft => ({
  kind: "set-header",
  message: "request",
  action,
  name,
  value,
})

/** A verifier whose tokens are JSON claims in base64url; `late` makes it answer later, `away` not at all. */
function fakeVerifier(): TokenVerifier {
  return {
    verify(token) {
      if (token === "away") return { kind: "unavailable", retryAfterSeconds: 7 }
      const verification = readToken(token)
      return token.length % 2 === 0 ? verification : Promise.resolve(verification)
    },
    state: () => ({ ready: true, lastError: undefined }),
    close: () => undefined,
  }
}

function readToken(token: string): ReturnType<TokenVerifier["verify"]> & { kind: string } {
  try {
    return {
      kind: "verified",
      claims: JSON.parse(Buffer.from(token, "base64url").toString()) as Record<string, unknown>,
    }
  } catch {
    return { kind: "invalid", reason: 'the token is "not" one' }
  }
}

const tokenOf = (claims: object) =>
  `Authorization: Bearer ${Buffer.from(JSON.stringify(claims)).toString("base64url")}\r\n`
const issuers: NonNullable<Draft["issuers"]> = {
  acme: {
    source: { discovery: "http://127.0.0.1:1" },
    audiences: ["a"],
    clockSkewSeconds: 0,
    algorithms: ["RS256"],
    claims: null,
  },
}
const jwt: StepDraft = {
  kind: "validate-jwt",
  issuer: "acme",
  header: "authorization",
  claims: [{ claim: "scope", test: "has-any", values: ["read"] }],
  status: 401,
}
const key: StepDraft = {
  kind: "validate-key",
  api: "main",
  header: "x-key",
  query: "key",
  status: 401,
  forward: false,
}
const keyDraft: Partial<Draft> = {
  issuers,
  secrets: { k: { env: "K", default: "right" }, other: { env: "O", default: "elsewhere" } },
  products: { all: { apis: ["main"] }, none: { apis: [] } },
  subscriptions: {
    ann: { scope: { product: "all" }, key: "k" },
    bob: { scope: { product: "none" }, key: "other" },
  },
}
const verifier = { createVerifier: fakeVerifier }

describe("validate-jwt", () => {
  const rows: [string, string, number, string | undefined][] = [
    ["no token", "", 401, "Bearer"],
    ["a good token", tokenOf({ sub: "ann", scope: "write read" }), 200, undefined],
    [
      "a token without the scope",
      tokenOf({ sub: "ann", scope: "readable" }),
      403,
      'Bearer error="insufficient_scope", scope="read"',
    ],
    [
      "rubbish",
      "Authorization: Bearer x\r\n",
      401,
      `Bearer error="invalid_token", error_description="the token is 'not' one"`,
    ],
    ["another scheme", "Authorization: Basic eDp5\r\n", 401, "Bearer"],
    ["a lower-case scheme", tokenOf({ scope: "read" }).replace("Bearer", "bearer"), 200, undefined],
    [
      "two blanks",
      "Authorization: Bearer  x\r\n",
      401,
      `Bearer error="invalid_token", error_description="the header is not of the form 'Bearer token'"`,
    ],
    [
      "a tab",
      "Authorization: Bearer\tx\r\n",
      401,
      `Bearer error="invalid_token", error_description="the header is not of the form 'Bearer token'"`,
    ],
  ]
  test.each(rows)("%s", async (_name, headers, status, challenge) => {
    const { get, upstream } = await start({ inbound: [jwt] }, { issuers }, verifier)
    const answer = await get("/a/7", headers)
    expect(answer.status).toBe(status)
    if (challenge !== undefined)
      expect(answer.headers.get("www-authenticate")?.replaceAll("`", "'")).toBe(challenge)
    expect(upstream.requests.length).toBe(status === 200 ? 1 : 0)
  })

  test("keys that are not to be had: 503 with Retry-After", async () => {
    const { get } = await start({ inbound: [jwt] }, { issuers }, verifier)
    const answer = await get("/a/7", "Authorization: Bearer away\r\n")
    expect(answer.status).toBe(503)
    expect(answer.headers.get("retry-after")).toBe("7")
  })
})

describe("any-of", () => {
  const both: StepDraft = { kind: "any-of", steps: [jwt, key] }
  const rows: [string, string, string, number][] = [
    ["neither", "/a/7", "", 401],
    ["the token", "/a/7", tokenOf({ scope: "read" }), 200],
    ["the key", "/a/7", "X-Key: right\r\n", 200],
    ["the key in the query", "/a/7?key=right", "", 200],
    ["a bad token and a good key", "/a/7", `${tokenOf({ scope: "none" })}X-Key: right\r\n`, 200],
    ["a bad token", "/a/7", tokenOf({ scope: "none" }), 403],
    ["a bad key", "/a/7", "X-Key: wrong\r\n", 401],
    ["a key of another product", "/a/7", "X-Key: elsewhere\r\n", 401],
    ["keys away and a good key", "/a/7", "Authorization: Bearer away\r\nX-Key: right\r\n", 200],
    ["keys away", "/a/7", "Authorization: Bearer away\r\n", 503],
    [
      "a good token beside a key that is not looked at",
      "/a/7?key=x&b=1",
      `${tokenOf({ scope: "read" })}X-Key: x\r\n`,
      200,
    ],
  ]
  test.each(rows)("%s", async (_name, path, headers, status) => {
    const { get, upstream } = await start({ inbound: [both] }, keyDraft, verifier)
    expect((await get(path, headers)).status).toBe(status)
    for (const seen of upstream.requests) {
      expect(seen.headers["x-key"]).toBeUndefined()
      expect(seen.url).not.toContain("key=")
    }
  })
})

test("rate-limit: N calls pass, the next is 429 with what is left; keys are apart; callers without any key share one", async () => {
  const limit: StepDraft = {
    kind: "rate-limit",
    counter: "c",
    callsMax: 2,
    periodSeconds: 60,
    keys: [{ by: "claim", claim: "sub" }, { by: "ip" }],
  }
  const { get } = await start({ inbound: [{ kind: "any-of", steps: [jwt, key] }, limit] }, keyDraft, verifier)
  const ann = tokenOf({ sub: "ann", scope: "read" })
  for (const remaining of [1, 0]) {
    const passed = await get("/a/7", ann)
    expect(passed.status).toBe(200)
    expect(passed.headers.get("ratelimit")).toMatch(new RegExp(`^"60s";r=${remaining};t=\\d+$`))
  }
  const refused = await get("/a/7", ann)
  expect(refused.status).toBe(429)
  expect(Number(refused.headers.get("retry-after"))).toBeGreaterThanOrEqual(1)
  expect(refused.headers.get("ratelimit-policy")).toBe('"60s";q=2;w=60')
  expect((await get("/a/7", tokenOf({ sub: "bob", scope: "read" }))).status).toBe(200)
  for (const status of [200, 200, 429]) expect((await get("/a/7", "X-Key: right\r\n")).status).toBe(status)
})

describe("require", () => {
  const require_: StepDraft = {
    kind: "require",
    store: "acme",
    relation: "viewer",
    object: { text: ["order:", ...parts(cel("path.id"))] },
    user: { text: ["user:", ...parts(cel("jwt.sub"))] },
  }
  const asked: CheckRequest[] = []
  const options: Partial<GatewayOptions> = {
    ...verifier,
    authorizerOf: () => ({
      check(_store, request) {
        asked.push(request)
        if (request.object === "order:away")
          throw new CheckError("unavailable", "the database at 10.0.0.1 is away")
        if (request.object === "order:odd") return Promise.reject(new CheckError("validation_error", "odd"))
        if (request.object === "order:bug") return Promise.reject(new TypeError("boom"))
        const answer = { allowed: request.user === "user:ann" && request.object === "order:1", revision: 42 }
        return request.object === "order:1" ? Promise.resolve(answer) : answer
      },
    }),
  }
  const rows: [string, string, number, number][] = [
    ["/a/1", "ann", 200, 1],
    ["/a/1", "bob", 403, 1],
    ["/a/2", "ann", 403, 1],
    ["/a/away", "ann", 503, 1],
    ["/a/odd", "ann", 400, 1],
    ["/a/bug", "ann", 503, 1],
    ["/a/a:b", "ann", 400, 0],
    ["/a/*", "ann", 400, 0],
    ["/a/a%23b", "ann", 400, 0],
    ["/a/a%20b", "ann", 400, 0],
    ["/a/1", "ann#viewer", 400, 0],
    ["/a/1", "*", 400, 0],
    ["/a/1", "a b", 400, 0],
    ["/a/1", "a\u00a0b", 400, 0],
    ["/a/1", "a\u2028b", 400, 0],
    ["/a/1", "team:x", 400, 0],
    ["/a/1", "", 400, 0],
  ]
  test.each(rows)("%s as %j → %i", async (path, sub, status, questions) => {
    asked.length = 0
    const { get, running, upstream } = await start(
      { inbound: [jwt, require_] },
      { issuers, stores: ["acme"] },
      options,
    )
    const answer = await get(path, tokenOf({ sub, scope: "read" }))
    expect(answer.status).toBe(status)
    expect(asked.length).toBe(questions)
    expect(upstream.requests.length).toBe(status === 200 ? 1 : 0)
    expect(answer.body).not.toMatch(/10\.0\.0\.1|boom/)
    await until(() => running.log.length === 1)
    if (status === 403)
      expect(running.log[0]?.decision).toEqual({
        store: "acme",
        user: `user:${sub}`,
        relation: "viewer",
        object: `order:${path.slice(3)}`,
        allowed: false,
        revision: 42,
      })
    expect(running.log[0]?.id).toBe(answer.headers.get("x-request-id"))
  })
})

function parts(text: Text): Exclude<Text, string>["text"] {
  return typeof text === "string" ? [text] : text.text
}

test("headers, query, path, host and body of the request, in the order of the file", async () => {
  const { get, upstream } = await start(
    {
      inbound: [
        header("x-id", cel("path.id")),
        header(
          "x-copy",
          cel("request.header('X-Id') + request.header('none') + '/' + request.host + '/' + request.method"),
        ),
        header("x-value", { text: ["<", { value: "edge" }, "-", ...parts(cel("edge")), ">"] }),
        header("accept", "b", "append"),
        header("x-default", "mine", "default"),
        { kind: "set-header", message: "request", action: "remove", name: "x-gone" },
        { kind: "set-query", action: "set", name: "q", value: cel("query.a + '&b=2'") },
        { kind: "set-query", action: "remove", name: "a" },
        { kind: "rewrite", path: { text: ["/new/", ...parts(cel("path.id")), "/x"] } },
        { kind: "set-host", host: { preserve: true } },
        {
          kind: "set-body",
          message: "request",
          media: "json",
          body: {
            text: [
              '{"id":"',
              { expression: { lang: "cel", text: "path.id", type: "string" }, as: "json-string" },
              '","n":',
              { expression: { lang: "cel", text: "1 + 1", type: "int" }, as: "json-value" },
              "}",
            ],
          },
        },
      ],
    },
    { values: { edge: { text: "edge-1" } } },
  )
  const answer = await get("/a/q%22%C3%A9?a=1%26&z=9", "X-Gone: 1\r\nx-default: theirs\r\nAccept: a\r\n")
  expect(answer.status, answer.text).toBe(200)
  const [seen] = upstream.requests
  expect(seen?.url).toBe("/new/q%22%C3%A9/x?z=9&q=1%26%26b%3D2")
  expect(seen?.headers).toMatchObject({
    "x-value": "<edge-1-edge-1>",
    accept: "a, b",
    "x-default": "theirs",
    host: "gw:81",
    "content-type": "application/json",
  })
  expect(Buffer.from(seen?.headers["x-id"] as string, "latin1").toString()).toBe('q"é')
  expect(Buffer.from(seen?.headers["x-copy"] as string, "latin1").toString()).toBe('q"é/gw/GET')
  expect(seen?.headers["x-gone"]).toBeUndefined()
  expect(JSON.parse(Buffer.from(seen?.body ?? "", "latin1").toString())).toEqual({ id: 'q"é', n: 2 })
})

test("outbound: headers, when on the status, a new body", async () => {
  const { get } = await start({
    outbound: [
      {
        kind: "set-header",
        message: "response",
        action: "set",
        name: "x-status",
        value: cel("string(response.status)"),
      },
      { kind: "set-header", message: "response", action: "remove", name: "content-type" },
      {
        kind: "when",
        test: "response.status == 200 && path.id == '7'",
        matched: [
          {
            kind: "set-body",
            message: "response",
            media: "text",
            body: { text: ["id ", ...parts(cel("request.id"))] },
          },
        ],
        otherwise: [
          {
            kind: "respond",
            status: 418,
            headers: [{ name: "x-short", value: "yes" }],
            body: { media: "text", text: "no" },
          },
        ],
      },
    ],
  })
  const seven = await get("/a/7")
  expect(seven.headers.get("x-status")).toBe("200")
  expect(seven.body).toBe(`id ${seven.headers.get("x-request-id")}`)
  expect(seven.headers.get("content-type")).toBe("text/plain; charset=utf-8")
  const eight = await get("/a/8")
  expect(eight.status).toBe(418)
  expect(eight.body).toBe("no")
  expect(eight.headers.get("x-short")).toBe("yes")
  expect((await get("/a/7")).status).toBe(200)
})

test("respond answers without a backend, to HEAD without the body", async () => {
  const { running, get } = await start({
    backend: null,
    inbound: [
      {
        kind: "respond",
        status: 203,
        headers: [],
        body: {
          media: "json",
          text: {
            text: [
              '{"state":',
              { expression: { lang: "cel", text: "gateway.state", type: "string" }, as: "json-value" },
              "}",
            ],
          },
        },
      },
    ],
  })
  const answer = await get()
  expect(answer.status).toBe(203)
  expect(JSON.parse(answer.body)).toEqual({ state: "serving" })
  const head = await sendRaw(running.port, "HEAD /a/1 HTTP/1.1\r\nHost: gw\r\n\r\n", 60)
  expect([head.status, head.body, head.headers.get("content-length")]).toEqual([
    203,
    "",
    String(answer.body.length),
  ])
})

test("deprecation and sunset on every answer, 410 from the day on", async () => {
  const step = (closed: boolean): StepDraft => ({
    kind: "deprecation",
    deprecated: true,
    sunset: "2030-01-01",
    closed,
  })
  for (const [closed, now, status] of [
    [false, "2031-01-01", 200],
    [true, "2029-12-31T23:59:59Z", 200],
    [true, "2030-01-01", 410],
  ] as const) {
    const { get } = await start({ inbound: [step(closed)] }, {}, { now: () => Date.parse(now) })
    const answer = await get()
    expect(answer.status).toBe(status)
    expect(answer.headers.get("deprecation")).toBe("@0")
    expect(answer.headers.get("sunset")).toBe("Tue, 01 Jan 2030 00:00:00 GMT")
  }
})

test("an expression without a value fails the request, says nothing to the client and its place to the log", async () => {
  const { get, running, upstream } = await start(
    { inbound: [{ kind: "when", test: "query.missing == 'x'", matched: [] }] },
    { origins: { "routes.* /a/{id}": "gateway.conf:41" } },
  )
  const answer = await get()
  expect(answer.status).toBe(500)
  expect(answer.body).not.toContain("missing")
  expect(upstream.requests.length).toBe(0)
  await until(() => running.log.length === 1)
  expect(running.log[0]?.cause).toMatch(/^gateway\.conf:41: .*missing/)
})

test("on-error steps run over the problem", async () => {
  const { get, running } = await start(
    {
      inbound: [key],
      onError: [
        {
          kind: "set-header",
          message: "response",
          action: "set",
          name: "x-failed",
          value: cel("string(response.status)"),
        },
        {
          kind: "when",
          test: "response.status == 401",
          matched: [{ kind: "respond", status: 404, headers: [] }],
        },
      ],
    },
    keyDraft,
    verifier,
  )
  const hidden = await get()
  expect([hidden.status, hidden.body]).toEqual([404, ""])
  await until(() => running.log.length === 1)
  expect(running.log[0]).toMatchObject({ status: 404, problem: "unauthorized" })
  const twice = await get("/a/7", "X-Key: right\r\nX-Key: right\r\n")
  expect([twice.status, twice.headers.get("x-failed")]).toEqual([400, "400"])
})

describe("nothing a request carries becomes a header, a line or another path", () => {
  const values = [
    "a%0d%0aX-Evil:%201",
    "a%0aX-Evil:1",
    "a%00b",
    "a%0db",
    "%C2%85",
    "%F0%9F%98%80",
    "x".repeat(12_000),
    "a%09b",
    "../../x",
    "%2e%2e",
    "a/b",
    "",
    "a%3fb%23c",
    "a%2525",
  ]
  const places: [string, StepDraft[], "inbound" | "outbound"][] = [
    ["header", [header("x-out", cel("request.query('v')"))], "inbound"],
    [
      "answer",
      [
        {
          kind: "set-header",
          message: "response",
          action: "set",
          name: "x-out",
          value: cel("request.query('v')"),
        },
      ],
      "outbound",
    ],
    ["query", [{ kind: "set-query", action: "set", name: "w", value: cel("request.query('v')") }], "inbound"],
    [
      "rewrite",
      [{ kind: "rewrite", path: { text: ["/r/", ...parts(cel("request.query('v')")), "/end"] } }],
      "inbound",
    ],
    ["host", [{ kind: "set-host", host: cel("request.query('v')") }], "inbound"],
    [
      "respond",
      [{ kind: "respond", status: 200, headers: [{ name: "location", value: cel("request.query('v')") }] }],
      "inbound",
    ],
  ]
  test.each(places)("%s", async (name, steps, section) => {
    const { get, upstream } = await start({ [section]: steps })
    for (const value of values) {
      upstream.requests.length = 0
      const answer = await get(`/a/7?v=${value}`)
      expect([200, 400, 431, 502], `${value} ${answer.text}`).toContain(answer.status)
      expect(answer.headers.get("x-evil")).toBeUndefined()
      expect(answer.text.split("HTTP/1.1").length).toBe(2)
      for (const seen of upstream.requests) {
        expect(seen.headers["x-evil"]).toBeUndefined()
        if (name === "rewrite") expect(seen.url).toMatch(/^\/r\/[^/]+\/end\?/)
        expect(seen.url.split("?")[0]).not.toMatch(/\.\.|[^\x21-\x7e]/)
      }
    }
  })
})
