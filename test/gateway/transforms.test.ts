import { afterEach, describe, expect, test } from "vitest"
import { until } from "../support/until.ts"
import { inFrontOf } from "./content.ts"
import { sendRaw } from "./harness.ts"
import { cel, closeAll, header, key, keyDraft, parts, start, verifier } from "./one-route.ts"
import type { StepDraft } from "./plan-builder.ts"

afterEach(closeAll)

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
        { kind: "set-header", message: "request", action: "remove", name: "x-gone", values: [] },
        { kind: "set-query", action: "set", name: "q", values: [cel("query.a + '&b=2'")] },
        { kind: "set-query", action: "remove", name: "a", values: [] },
        {
          kind: "rewrite",
          path: { text: ["/new/", ...parts(cel("path.id")), "/x"] },
          raw: false,
          keepQuery: true,
        },
        { kind: "set-host", host: { preserve: true } },
        {
          kind: "set-body",
          message: "request",
          media: "application/json",
          content: {
            text: {
              text: [
                '{"id":"',
                { expression: { lang: "cel", text: "path.id", type: "string" }, as: "json-string" },
                '","n":',
                { expression: { lang: "cel", text: "1 + 1", type: "int" }, as: "json-value" },
                "}",
              ],
            },
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
        values: [cel("string(response.status)")],
      },
      { kind: "set-header", message: "response", action: "remove", name: "content-type", values: [] },
      {
        kind: "when",
        test: "response.status == 200 && path.id == '7'",
        matched: [
          {
            kind: "set-body",
            message: "response",
            media: "text/plain; charset=utf-8",
            content: { text: { text: ["id ", ...parts(cel("request.id"))] } },
          },
        ],
        otherwise: [
          {
            kind: "respond",
            status: 418,
            headers: [{ name: "x-short", action: "set", values: ["yes"] }],
            media: "text/plain",
            body: { text: "no" },
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
        media: "application/json",
        body: {
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

test("an expression that finds nothing in the request fails it, says nothing to the client and its place to the log", async () => {
  const { get, running, upstream } = await start(
    { inbound: [{ kind: "when", test: "query.missing == 'x'", matched: [] }] },
    { origins: { "routes.* /a/{id}": "gateway.conf:41" } },
  )
  const answer = await get()
  expect(answer.status).toBe(400)
  expect(answer.body).not.toContain("missing")
  expect(upstream.requests.length).toBe(0)
  await until(() => running.log.length === 1)
  expect(running.log[0]?.cause).toMatch(/^gateway\.conf:41: .*missing/)
})

test("an expression that finds nothing in the answer of the backend is not a fault of the client", async () => {
  const { get } = await start({
    outbound: [{ kind: "when", test: "int(response.header('X-Missing')) == 1", matched: [] }],
  })
  const { status, body } = await get()
  expect([status, JSON.parse(body).type]).toEqual([500, "urn:sallyport:problem:internal-error"])
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
          values: [cel("string(response.status)")],
        },
        {
          kind: "when",
          test: "response.status == 401",
          matched: [{ kind: "respond", status: 404, headers: [], media: null }],
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

test.each([
  [204, undefined, false],
  [205, "0", false],
  [304, undefined, false],
  [203, "2", true],
])(
  "an answer whose status becomes %d says of its content what is true of that",
  async (status, length, hasType) => {
    const { get } = await inFrontOf(
      (_, response) => {
        response.writeHead(200, { "content-length": 2, "content-type": "text/plain" }).end("ok")
      },
      { outbound: [{ kind: "set-status", status }] },
    )
    const { headers, body } = await get()
    expect([headers.get("content-length"), headers.has("content-type"), body]).toEqual([
      length,
      hasType,
      hasType ? "ok" : "",
    ])
  },
)

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
          values: [cel("request.query('v')")],
        },
      ],
      "outbound",
    ],
    [
      "query",
      [{ kind: "set-query", action: "set", name: "w", values: [cel("request.query('v')")] }],
      "inbound",
    ],
    [
      "rewrite",
      [
        {
          kind: "rewrite",
          path: { text: ["/r/", ...parts(cel("request.query('v')")), "/end"] },
          raw: false,
          keepQuery: true,
        },
      ],
      "inbound",
    ],
    ["host", [{ kind: "set-host", host: cel("request.query('v')") }], "inbound"],
    [
      "respond",
      [
        {
          kind: "respond",
          status: 200,
          headers: [{ name: "location", action: "set", values: [cel("request.query('v')")] }],
          media: null,
        },
      ],
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

test("expressions know when the request came and what time it is, and get new ids", async () => {
  const body = 'request.time <= now && now - request.time < duration("1h") && uuid() != uuid()'
  const { get } = await start({
    backend: null,
    inbound: [
      { kind: "respond", status: 200, headers: [], media: null, body: { text: { text: parts(cel(body)) } } },
    ],
  })
  expect((await get("/a/7")).body).toBe("true")
})
