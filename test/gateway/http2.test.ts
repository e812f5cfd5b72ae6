import type { ServerResponse } from "node:http"
import { type ClientHttp2Session, constants, sensitiveHeaders } from "node:http2"
import { afterEach, describe, expect, test } from "vitest"
import type { GatewayOptions } from "../../runtime/gateway/gateway.ts"
import { answerOf, askHttp2, http2Session } from "../support/http2-client.ts"
import { until } from "../support/until.ts"
import {
  type Answering,
  type Draft,
  type Running,
  sendRaw,
  startGateway,
  startRawUpstream,
  startUpstream,
  type Upstream,
} from "./harness.ts"
import { closeAll, closers } from "./one-route.ts"
import type { StepDraft } from "./plan-builder.ts"

afterEach(closeAll)

interface Started {
  readonly running: Running
  readonly upstream: Upstream
  readonly session: ClientHttp2Session
}

/** A gateway with HTTP/2 by prior knowledge before a backend, and a connection to it. */
async function start(
  answering?: Answering,
  draft: Partial<Draft> = {},
  options: Partial<GatewayOptions> = {},
): Promise<Started> {
  const upstream = await startUpstream(answering)
  const routes = [{ method: "*", path: "/a/{id}" }]
  const running = await startGateway(
    { http2: true, backends: { main: upstream.url }, routes, ...draft },
    options,
  )
  const session = http2Session(running.port)
  closers.push(
    async () => session.destroy(),
    () => running.close(),
    () => upstream.close(),
  )
  return { running, upstream, session }
}

describe("a request by HTTP/2", () => {
  test("reaches a backend of HTTP/1.1 as one of HTTP/1.1 would", async () => {
    const { running, upstream, session } = await start()
    const headers = {
      ":method": "POST",
      ":path": "/a/7?x=1",
      ":authority": "shop.example:81",
      cookie: ["a=1", "b=2"],
      "x-own": ["1", "2"],
      te: "trailers",
    }
    const answer = await askHttp2(session, headers, "the body")
    expect(answer).toMatchObject({ status: 200, reset: 0 })
    expect(answer.headers).not.toHaveProperty("connection")
    expect(answer.headers["x-request-id"]).toBeDefined()
    // Sent without the table of HPACK, which nothing repeats it from.
    expect(Reflect.get(answer.headers, sensitiveHeaders)).toEqual(["x-request-id"])
    const [seen] = upstream.requests
    expect(seen).toMatchObject({ method: "POST", url: "/a/7?x=1", body: "the body", complete: true })
    expect(seen?.headers).toMatchObject({
      cookie: "a=1; b=2",
      "x-own": "1, 2",
      "x-forwarded-host": "shop.example:81",
      "x-forwarded-for": "127.0.0.1",
      "transfer-encoding": "chunked",
      via: "2.0 test",
    })
    expect(Object.keys(seen?.headers ?? {}).filter((name) => name.startsWith(":"))).toEqual([])
    await until(() => running.log.length === 1)
    expect(running.log[0]).toMatchObject({
      ...{ protocol: "HTTP/2", status: 200, aborted: false },
      bytesReceived: 8,
    })
  })

  test("with a length is sent with that length", async () => {
    const { upstream, session } = await start()
    await askHttp2(session, { ":method": "PUT", ":path": "/a/7", "content-length": "3" }, "abc")
    expect(upstream.requests[0]).toMatchObject({ body: "abc", headers: { "content-length": "3" } })
  })

  test("without a body is sent without one", async () => {
    const { upstream, session } = await start()
    await askHttp2(session, { ":method": "DELETE", ":path": "/a/7" })
    expect(upstream.requests[0]?.headers).not.toHaveProperty("transfer-encoding")
  })

  test("whose empty body ends while a step waits is passed on with it", async () => {
    const other = await startUpstream((_request, response) => {
      setTimeout(() => response.end("waited"), 30)
    })
    closers.push(() => other.close())
    const sent: StepDraft = {
      ...{ kind: "send-request", mode: "new", url: other.url, headers: [], media: null },
      ...{ timeoutSeconds: 5, ignoreError: false, wait: true, variable: "reply" },
    }
    const { upstream, session } = await start(undefined, {
      routes: [{ method: "*", path: "/a/{id}", inbound: [sent] }],
    })
    const answer = await askHttp2(session, { ":method": "POST", ":path": "/a/7" }, Buffer.alloc(0))
    expect(answer).toMatchObject({ status: 200, reset: 0 })
    expect(upstream.requests[0]).toMatchObject({ body: "", complete: true })
  })

  test("on a port with HTTP/1.1, which stays", async () => {
    const { running, session } = await start()
    expect(await askHttp2(session, { ":path": "/a/7" })).toMatchObject({ status: 200 })
    const answer = await sendRaw(running.port, "GET /a/7 HTTP/1.1\r\nHost: a\r\n\r\n")
    expect(answer).toMatchObject({ status: 200 })
    expect(answer.headers.get("x-request-id")).toBeDefined()
  })

  test("gets problems as by HTTP/1.1", async () => {
    const { running, session } = await start()
    const answer = await askHttp2(session, { ":path": "/nowhere" })
    expect(answer).toMatchObject({ status: 404, headers: { "content-type": "application/problem+json" } })
    expect(JSON.parse(answer.body.toString())).toMatchObject({ type: "urn:sallyport:problem:not-found" })
    await until(() => running.log.length === 1)
    expect(running.log[0]).toMatchObject({ problem: "not-found", protocol: "HTTP/2" })
  })

  test.each([
    ["a path without canonical form", { ":path": "/a/../b" }, "invalid-path"],
    ["another Host than `:authority`", { ":path": "/a/7", ":authority": "a", host: "b" }, "invalid-header"],
    ["CONNECT", { ":method": "CONNECT", ":authority": "a:1" }, "method-not-allowed"],
    ["TRACE", { ":method": "TRACE", ":path": "/a/7" }, "method-not-allowed"],
  ])("is refused for %s", async (_, headers, name) => {
    const { session, upstream } = await start()
    const answer = await askHttp2(session, headers)
    expect(JSON.parse(answer.body.toString()).type).toBe(`urn:sallyport:problem:${name}`)
    expect(upstream.requests).toEqual([])
  })

  test("that expects 100-continue gets it before its body is read", async () => {
    const { session, upstream } = await start()
    const stream = session.request({ ":method": "POST", ":path": "/a/7", expect: "100-continue" })
    const answer = answerOf(stream)
    stream.on("continue", () => stream.end("later"))
    expect(await answer).toMatchObject({ status: 200 })
    expect(upstream.requests[0]?.body).toBe("later")
  })

  test("gets fields whose names every object has", async () => {
    const { session } = await start((_request, response) => {
      response.writeHead(200, ["constructor", "built", "__proto__", "first", "X-Own", "1", "x-own", "2"])
      response.end()
    })
    const { headers } = await askHttp2(session, { ":path": "/a/7" })
    expect(headers).toMatchObject({ constructor: "built", "x-own": "1, 2" })
    expect(Object.getOwnPropertyDescriptor(headers, "__proto__")?.value).toBe("first")
  })

  test("of HEAD, and responses without content, have no body", async () => {
    const { session } = await start((request, response) => {
      const status = Number(request.url?.slice(-3))
      response.writeHead(status, status === 200 ? { "content-length": "5" } : {}).end()
    })
    const head = await askHttp2(session, { ":method": "HEAD", ":path": "/a/200" })
    expect(head).toMatchObject({ status: 200, headers: { "content-length": "5" }, reset: 0 })
    for (const status of [204, 304])
      expect(await askHttp2(session, { ":path": `/a/${status}` })).toMatchObject({ status, reset: 0 })
  })
})

describe("bodies by HTTP/2", () => {
  const megabytes = Buffer.alloc(8 * 1024 * 1024, "x")

  test("are streamed both ways at the pace of the slower side", async () => {
    const limits = { bodyBytesMax: 100_000_000 }
    const { session, upstream } = await start(
      (request, response) => {
        request.on("end", () => response.end(megabytes))
      },
      { limits },
    )
    const answers = await Promise.all(
      [1, 2, 3].map(() => askHttp2(session, { ":method": "POST", ":path": "/a/7" }, megabytes)),
    )
    for (const { body, reset } of answers) expect([body.length, reset]).toEqual([megabytes.length, 0])
    for (const { body } of upstream.requests) expect(body.length).toBe(megabytes.length)
  })

  test("a client that does not read holds the backend back", async () => {
    let sent = 0
    const { session } = await start((_request, response) => {
      const more = () => {
        while (sent < megabytes.length) {
          sent += 65_536
          if (!response.write(megabytes.subarray(0, 65_536))) break
        }
        if (sent >= megabytes.length) response.end()
      }
      response.on("drain", more)
      more()
    })
    const stream = session.request({ ":path": "/a/7" })
    await new Promise((resolve) => stream.once("response", resolve))
    // Other requests of the connection are served meanwhile.
    expect(await askHttp2(session, { ":path": "/nowhere" })).toMatchObject({ status: 404 })
    expect(sent).toBeLessThan(megabytes.length)
    expect((await answerOf(stream)).body.length).toBe(megabytes.length)
  })

  test("trailers of the backend are passed on to clients that accept them", async () => {
    const { session } = await start((_request, response) => {
      response.writeHead(200, { trailer: "x-sum" })
      response.write("body")
      response.addTrailers({ "x-sum": "4" })
      response.end()
    })
    const accepted = await askHttp2(session, { ":path": "/a/7", te: "trailers" })
    expect(accepted).toMatchObject({ trailers: { "x-sum": "4" }, reset: 0 })
    expect((await askHttp2(session, { ":path": "/a/7" })).trailers).toEqual({})
  })

  test.each([
    ["of known length", { "content-length": "10" }],
    ["of unknown length", {}],
  ])(
    "a response %s that breaks off ends with RST_STREAM, and the connection continues",
    async (_, fields) => {
      const { session, running } = await start((_request, response) => {
        response.writeHead(200, fields)
        response.write("half", () => response.destroy())
      })
      const answer = await askHttp2(session, { ":path": "/a/7" })
      expect(answer).toMatchObject({ status: 200, reset: constants.NGHTTP2_INTERNAL_ERROR })
      expect(await askHttp2(session, { ":path": "/nowhere" })).toMatchObject({ status: 404 })
      expect(running.log[0]).toMatchObject({ aborted: true })
    },
  )

  test("a response before the end of the request ends the stream without an error", async () => {
    const { session } = await start(undefined, { limits: { bodyBytesMax: 1000 } })
    const stream = session.request({ ":method": "POST", ":path": "/a/7" })
    stream.write(Buffer.alloc(2000))
    const answer = await answerOf(stream)
    expect(answer).toMatchObject({ status: 413, reset: 0 })
    expect(await askHttp2(session, { ":path": "/a/7" })).toMatchObject({ status: 200 })
  })

  test("a client that cancels ends the request to the backend", async () => {
    let gone = false
    const { session, running } = await start((_request, response) => {
      response.on("close", () => {
        gone = true
      })
      response.write("begun")
    })
    const stream = session.request({ ":path": "/a/7" })
    stream.on("error", () => undefined)
    stream.once("data", () => stream.close(constants.NGHTTP2_CANCEL))
    await until(() => gone && running.log.length === 1)
    expect(running.log[0]).toMatchObject({ aborted: true, status: 200 })
  })
})

describe("the end of a connection of HTTP/2", () => {
  test("at the stop of the gateway: clients are told, and requests in progress complete", async () => {
    const held: ServerResponse[] = []
    const { session, running } = await start((_request, response) => held.push(response))
    const answer = askHttp2(session, { ":path": "/a/7" })
    await until(() => held.length === 1)
    const codes: number[] = []
    session.on("goaway", (code) => codes.push(code))
    const closed = running.gateway.close(60_000)
    await until(() => codes.length > 0)
    expect(codes[0]).toBe(constants.NGHTTP2_NO_ERROR)
    held[0]?.end("late")
    expect((await answer).body.toString()).toBe("late")
    await closed
  })

  test("at a changed plan: requests in progress end with the old one, on the same connection", async () => {
    const held: ServerResponse[] = []
    const { session, running } = await start((_request, response) => held.push(response))
    const answer = askHttp2(session, { ":path": "/a/7" })
    await until(() => held.length === 1)
    const { planOf } = await import("./plan-builder.ts")
    await running.gateway.apply(planOf({ port: running.port, http2: true, routes: [] }))
    expect(await askHttp2(session, { ":path": "/a/7" })).toMatchObject({ status: 404 })
    held[0]?.end("old")
    expect((await answer).body.toString()).toBe("old")
  })

  test("after the time that is left, requests in progress are cut", async () => {
    const { session, running } = await start(() => undefined)
    const answer = askHttp2(session, { ":path": "/a/7" })
    await until(() => running.gateway.state().running === 1)
    await running.gateway.close(20)
    expect(await answer).toMatchObject({ status: 0 })
  })

  test("a client that sends nothing after its connection is closed", async () => {
    const { running } = await start(undefined, {}, { patience: { headMs: 50 } })
    const upstream = await startRawUpstream(() => undefined)
    closers.push(() => upstream.close())
    expect(await sendRaw(running.port, "", 60_000)).toMatchObject({ closed: true })
    expect(await sendRaw(running.port, "PRI", 60_000)).toMatchObject({ closed: true })
    expect(await sendRaw(running.port, "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 60_000)).toMatchObject({
      closed: true,
    })
  })
})
