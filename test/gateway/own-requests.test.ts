import { gzipSync } from "node:zlib"
import { afterEach, describe, expect, test } from "vitest"
import { until } from "../support/until.ts"
import { inFrontOf, post, set } from "./content.ts"
import { type Answering, sendRaw, startGateway, startUpstream } from "./harness.ts"
import { cel, closeAll, closers, parts, start } from "./one-route.ts"
import { forwardTo, type StepDraft } from "./plan-builder.ts"

afterEach(closeAll)

describe("retry, parallel", () => {
  const retry = (test: string, times: number): StepDraft => ({
    kind: "retry",
    test: { lang: "cel", text: test, type: "bool" },
    times,
    intervalSeconds: 0,
    fastFirst: true,
    steps: [forwardTo("main")],
  })

  test("until the condition does not hold any more, with the body each time", async () => {
    let asked = 0
    const { running, upstream } = await inFrontOf(
      (request, response) => {
        asked += 1
        request
          .resume()
          .on("end", () =>
            response.writeHead(asked < 3 ? 503 : 200, { "content-length": 5 }).end(`try ${asked}`),
          )
      },
      { backendSteps: [retry("response.status == 503", 5)] },
    )
    const answer = await sendRaw(running.port, post('{"n":1}'), 60)
    expect([answer.status, answer.body, asked]).toEqual([200, "try 3", 3])
    expect(upstream.requests.map(({ body }) => body)).toEqual(['{"n":1}', '{"n":1}', '{"n":1}'])
  })

  test("not more often than said; what is not a failure is not repeated", async () => {
    let asked = 0
    const { get } = await inFrontOf(
      (_, response) => {
        asked += 1
        response.writeHead(503).end()
      },
      { backendSteps: [retry("response.status == 503", 2)] },
    )
    expect((await get()).status).toBe(503)
    expect(asked).toBe(3)
  })

  test("no answer at all: again for what may be asked twice, once for what may not", async () => {
    let asked = 0
    const broken: Answering = (request) => {
      asked += 1
      request.socket.destroy()
    }
    const { running, get } = await inFrontOf(broken, { backendSteps: [retry("response.status == 503", 2)] })
    expect((await get()).status).toBe(502)
    expect(asked).toBeGreaterThanOrEqual(3)
    asked = 0
    expect((await sendRaw(running.port, post("{}"), 60)).status).toBe(502)
    expect(asked).toBe(1)
  })

  test("all branches, or the first that ends well", async () => {
    const fails: StepDraft = { kind: "respond", status: 418, headers: [], media: null }
    const all = await start({
      inbound: [
        { kind: "parallel", until: "all", branches: [[set("a", "1")], [set("b", "2")]] },
        set("c", "var.a + var.b"),
      ],
    })
    expect((await all.get()).status).toBe(200)
    const answers = await start({
      inbound: [{ kind: "parallel", until: "all", branches: [[set("a", "1")], [fails]] }],
    })
    expect((await answers.get()).status).toBe(418)
    const any = await start({
      inbound: [{ kind: "parallel", until: "any", branches: [[set("a", "var.missing")], [set("b", "2")]] }],
    })
    expect((await any.get()).status).toBe(200)
    const none = await start({
      inbound: [{ kind: "parallel", until: "any", branches: [[set("a", "var.missing")]] }],
    })
    expect((await none.get()).status).toBe(400)
  })
})

describe("requests of our own", () => {
  const send = (more: object): StepDraft => ({
    kind: "send-request",
    mode: "new",
    headers: [],
    media: null,
    timeoutSeconds: 5,
    ignoreError: false,
    wait: true,
    variable: "reply",
    ...more,
  })

  test("the response is in a variable, and can be the answer", async () => {
    const other = await startUpstream((request, response) => {
      response.setHeader("x-from", "other")
      response.writeHead(201, { "content-type": "application/json", "content-encoding": "gzip" })
      response.end(
        gzipSync(
          JSON.stringify({ url: request.url, auth: request.headers.authorization, method: request.method }),
        ),
      )
    })
    closers.push(() => other.close())
    const url = {
      text: [
        `${other.url}/who/`,
        ...parts(cel("path.id + '/../x'")),
        "?v=",
        ...parts(cel("request.query('v')")),
      ],
    }
    const authentication = { scheme: "basic" as const, user: "gw", password: "pass" }
    const { get } = await start({
      inbound: [
        send({ url, method: "PUT", authentication, body: { text: "x" }, media: "text/plain" }),
        tellRequest("x-status", "string(var.reply.status) + var.reply.headers['x-from']"),
        {
          kind: "respond",
          from: "reply",
          headers: [{ name: "x-new", action: "set", values: ["1"] }],
          media: null,
        },
      ],
    })
    const answer = await get("/a/7?v=a%26b%20c")
    expect(answer.status, answer.text).toBe(201)
    expect(JSON.parse(answer.body)).toEqual({
      url: "/who/7%2F..%2Fx?v=a%26b%20c",
      auth: `Basic ${Buffer.from("gw:pass").toString("base64")}`,
      method: "PUT",
    })
    expect(answer.headers.get("x-new")).toBe("1")
    expect(answer.headers.get("content-encoding")).toBeUndefined()
  })

  function tellRequest(name: string, text: string): StepDraft {
    return { kind: "set-header", message: "request", action: "set", name, values: [cel(text)] }
  }

  test("a copy has the caller's method, fields and body", async () => {
    const { running, upstream } = await start({
      inbound: [send({ mode: "copy", url: "http://127.0.0.1:1", ignoreError: true })],
    })
    const copying = await start({ inbound: [send({ mode: "copy", url: `${upstream.url}/copy` })] })
    await sendRaw(copying.running.port, post('{"n":1}', "application/json", "X-Own: 1\r\n"), 60)
    expect(upstream.requests[0]).toMatchObject({
      method: "POST",
      url: "/copy",
      body: '{"n":1}',
      headers: { "x-own": "1" },
    })
    expect((await sendRaw(running.port, post("{}"), 60)).status).toBe(200)
  })

  test("no answer: 502, too late: 504, too large: 502; with ignore-error null", async () => {
    const slow = await startUpstream(() => undefined)
    const large = await startUpstream((_, response) => response.end(Buffer.alloc(11_000_000)))
    closers.push(
      () => slow.close(),
      () => large.close(),
    )
    const status = async (more: object) => (await (await start({ inbound: [send(more)] })).get()).status
    expect(await status({ url: "http://127.0.0.1:1/" })).toBe(502)
    expect(await status({ url: slow.url, timeoutSeconds: 1 })).toBe(504)
    expect(await status({ url: large.url })).toBe(502)
    const { get, upstream } = await start({
      inbound: [
        send({ url: "http://127.0.0.1:1/", ignoreError: true }),
        tellRequest("x-null", "string(var.reply == null)"),
      ],
    })
    expect((await get()).status).toBe(200)
    expect(upstream.requests[0]?.headers["x-null"]).toBe("true")
  })

  test("a request nobody waits for cannot fail", async () => {
    const { get, upstream } = await start({ inbound: [send({ url: "http://127.0.0.1:1/", wait: false })] })
    expect((await get()).status).toBe(200)
    const told = await start({
      inbound: [send({ url: `${upstream.url}/told`, wait: false, method: "POST" })],
    })
    await told.get()
    await until(() => upstream.requests.some(({ url }) => url === "/told"))
  })

  test.each(["file:///etc/passwd", "http://user:pw@127.0.0.1/", "http://a b/", "//x"])(
    "%s is no URL to ask",
    async (url) => {
      const { get } = await start({ inbound: [send({ url: cel("request.header('x-url')") })] })
      expect((await get("/a/7", `X-Url: ${url}\r\n`)).status).toBe(400)
    },
  )

  test("redirections are not followed", async () => {
    const other = await startUpstream((_, response) =>
      response.writeHead(302, { location: "http://127.0.0.1:1/" }).end(),
    )
    closers.push(() => other.close())
    const { get, upstream } = await start({
      inbound: [send({ url: other.url }), tellRequest("x-status", "string(var.reply.status)")],
    })
    expect((await get()).status).toBe(200)
    expect(upstream.requests[0]?.headers["x-status"]).toBe("302")
  })
})

describe("the backend a step chooses", () => {
  test("by name, by what a request says, by weight, by URL", async () => {
    const other = await startUpstream((request, response) => response.end(`other ${request.url}`))
    closers.push(() => other.close())
    const draft = { backends: {} as Record<string, string> }
    const gateway = async (target: unknown) => {
      const main = await startUpstream((_, response) => response.end("main"))
      const running = await startGateway({
        ...draft,
        backends: { main: main.url, other: other.url },
        routes: [{ path: "/a/{id}", inbound: [{ kind: "set-backend", target } as StepDraft] }],
      })
      closers.push(
        () => running.close(),
        () => main.close(),
      )
      return async (headers = "") =>
        (await sendRaw(running.port, `GET /a/7 HTTP/1.1\r\nHost: gw\r\n${headers}\r\n`, 60)).body
    }
    expect(await (await gateway({ backend: "other" }))()).toBe("other /a/7")
    const byHeader = await gateway({
      by: cel("request.header('x-canary')"),
      cases: [{ value: "yes", backend: "other" }],
      otherwise: null,
    })
    expect([await byHeader("X-Canary: yes\r\n"), await byHeader()]).toEqual(["other /a/7", "main"])
    const sticky = await gateway({
      weighted: [
        { backend: "main", weight: 1 },
        { backend: "other", weight: 1 },
      ],
      key: cel("request.header('x-user')"),
    })
    const seen = new Set<string>()
    for (let user = 0; user < 20; user += 1) {
      const first = await sticky(`X-User: u${user}\r\n`)
      expect(await sticky(`X-User: u${user}\r\n`)).toBe(first)
      seen.add(first)
    }
    expect(seen.size).toBe(2)
    const byUrl = await gateway({
      url: { text: [`${other.url}/base/`, ...parts(cel("path.id"))] },
      raw: false,
    })
    expect(await byUrl()).toBe("other /base/7/a/7")
  })

  test("a request does not decide the host unless it is said", async () => {
    await expect(
      start({ inbound: [{ kind: "set-backend", target: { url: cel("request.header('x')"), raw: false } }] }),
    ).rejects.toThrow(/must not choose the host/)
    const { get } = await start({
      inbound: [
        {
          kind: "set-backend",
          target: {
            url: { text: ["http://", ...parts(cel("request.header('x')")), ".invalid/"] },
            raw: true,
          },
        },
      ],
    })
    expect((await get("/a/7", "X: evil.example/\r\n")).status).toBe(400)
  })
})
