import { brotliCompressSync, deflateSync, gunzipSync, gzipSync } from "node:zlib"
import { afterEach, describe, expect, test } from "vitest"
import { inFrontOf, post, set, tell, value } from "./content.ts"
import { type Answering, sendRaw } from "./harness.ts"
import { cel, closeAll, start } from "./one-route.ts"
import type { StepDraft } from "./plan-builder.ts"

afterEach(closeAll)

describe("what expressions read", () => {
  test("bodies as JSON and text, cookies, reason, variables", async () => {
    const { running, upstream } = await start({
      inbound: [
        set("n", "request.body.n + 1.0"),
        set("list", "['a', request.cookie('c'), request.cookie('none')]"),
        {
          kind: "set-header",
          message: "request",
          action: "set",
          name: "x-n",
          values: [cel("string(var.n) + var.list[1] + var.list[2] + string(size(request.text))")],
        },
      ],
      outbound: [
        tell(
          "x-reason",
          "response.reason + ' ' + response.body.method + ' ' + string(response.text.contains('POST'))",
        ),
      ],
    })
    const answer = await sendRaw(
      running.port,
      post('{"n":41}', "application/json", "Cookie: a=1; c=two\r\n"),
      60,
    )
    expect(answer.status, answer.text).toBe(200)
    expect(upstream.requests[0]?.headers["x-n"]).toBe("42two8")
    expect(upstream.requests[0]?.body).toBe('{"n":41}')
    expect(answer.headers.get("x-reason")).toBe("OK POST true")
  })

  test("all lines of a header, all parameters of a name", async () => {
    const { get } = await start({
      outbound: [
        tell("x-many", "request.headers('X-A').join('|') + ' ' + string(size(request.headers('X-None')))"),
        tell("x-query", "request.queries('q').join('|') + ' ' + string(size(request.queries('none')))"),
        tell("x-host", "string(request.headers('host') == [request.header('host')])"),
        tell(
          "x-answer",
          "response.headers('X-None').join(',') + string(size(response.headers('content-type')))",
        ),
      ],
    })
    const { headers } = await get("/a/7?q=1&Q=a%20b&p=2", "X-A: 1\r\nX-a: 2\r\n")
    expect(headers.get("x-many")).toBe("1|2 0")
    expect(headers.get("x-query")).toBe("1|a b 0")
    expect(headers.get("x-host")).toBe("true")
    expect(headers.get("x-answer")).toBe("1")
  })

  test("a body is written of as much JSON as may be read, and no more, however often it holds what was read", async () => {
    const limits = { limits: { jsonValuesMax: 1_000, bufferBytesMax: 100_000 } }
    const list = JSON.stringify(Array.from({ length: 900 }, () => "x".repeat(50)))
    for (const [text, status] of [
      ["{'is': request.body}", 200],
      ["[request.body, request.body, request.body]", 500],
    ] as const) {
      const step: StepDraft = {
        kind: "set-body",
        message: "request",
        media: "application/json",
        content: { value: { lang: "cel", text, type: "dyn" } },
      }
      const { running } = await start({ inbound: [step] }, limits)
      expect((await sendRaw(running.port, post(list), 60)).status, text).toBe(status)
      if (status === 500) expect(running.log.at(-1)?.cause).toContain("the value is too large for JSON")
    }
  })

  test("JSON of more values than are read is refused before it is read", async () => {
    const limits = { limits: { jsonValuesMax: 1_000 } }
    const list = (count: number) => JSON.stringify(Array.from({ length: count }, () => ',[{:"'))
    const { running } = await start({ inbound: [set("n", "size(request.body)")] }, limits)
    expect((await sendRaw(running.port, post(list(999)), 60)).status).toBe(200)
    expect((await sendRaw(running.port, post(list(1_000)), 60)).status).toBe(413)
    expect(running.log.at(-1)?.cause).toBe(
      "the body of the request is JSON of more than 1000 values and names (`limits { json-values }`)",
    )
    for (const [count, status] of [
      [999, 200],
      [1_000, 502],
    ] as const) {
      const { get } = await inFrontOf(
        (_, response) => response.end(list(count)),
        { outbound: [set("n", "size(response.body)")] },
        limits,
      )
      expect((await get()).status).toBe(status)
    }
  })

  test("a body that is no JSON is the sender's fault", async () => {
    const { running } = await start({ inbound: [set("n", "request.body.n")] })
    expect((await sendRaw(running.port, post("{"), 60)).status).toBe(400)
    const { get } = await inFrontOf((_, response) => response.end("no json"), {
      outbound: [tell("x", "response.body.n")],
    })
    expect((await get()).status).toBe(502)
  })

  test("a variable nobody set has no value", async () => {
    const { get } = await start({ inbound: [set("a", "var.b")] })
    expect((await get()).status).toBe(400)
  })
})

describe("set-header, set-query, set-method, set-status, rewrite", () => {
  test("several values are one list, or lines where the field is none", async () => {
    const { get, upstream } = await start({
      inbound: [
        { kind: "set-header", message: "request", action: "set", name: "x-list", values: ["a", "b"] },
        {
          kind: "set-header",
          message: "request",
          action: "set",
          name: { text: cel("'X-' + path.id") },
          values: ["seven"],
        },
        { kind: "set-query", action: "append", name: "q", values: ["2", "3"] },
        { kind: "set-query", action: "default", name: "q", values: ["no"] },
        { kind: "set-query", action: "default", name: "d", values: ["yes"] },
        { kind: "set-method", method: "PATCH" },
        { kind: "rewrite", path: "/new?q=0&z=1", raw: false, keepQuery: true },
      ],
      outbound: [
        {
          kind: "set-header",
          message: "response",
          action: "set",
          name: "set-cookie",
          values: ["a=1", "b=2"],
        },
        { kind: "set-status", status: 299, reason: "Fine" },
      ],
    })
    const answer = await get("/a/7?q=1&k=%20")
    const [seen] = upstream.requests
    expect(seen?.method).toBe("PATCH")
    expect(seen?.url).toBe("/new?q=0&z=1&k=%20&d=yes")
    expect(seen?.headers).toMatchObject({ "x-list": "a, b", "x-7": "seven" })
    expect(answer.text.match(/^set-cookie: .*$/gim)).toEqual(["set-cookie: a=1", "set-cookie: b=2"])
    expect(answer.text.split("\r\n")[0]).toBe("HTTP/1.1 299 Fine")
  })

  test.each<[string, StepDraft]>([
    [
      "a header's name with a blank",
      {
        kind: "set-header",
        message: "request",
        action: "set",
        name: { text: cel("request.query('v')") },
        values: ["x"],
      },
    ],
    ["a method of another kind", { kind: "set-method", method: cel("request.query('v')") }],
    [
      "a raw path that leaves",
      { kind: "rewrite", path: cel("'/x/../' + request.query('v')"), raw: true, keepQuery: true },
    ],
  ])("%s is refused", async (_, step) => {
    const { get, upstream } = await start({ inbound: [step] })
    expect((await get("/a/7?v=a%20b")).status).toBe(400)
    expect(upstream.requests).toEqual([])
  })

  test("a header's name that belongs to the connection is refused", async () => {
    const { get } = await start({
      inbound: [
        {
          kind: "set-header",
          message: "request",
          action: "set",
          name: { text: cel("request.query('v')") },
          values: ["x"],
        },
      ],
    })
    expect((await get("/a/7?v=transfer-encoding")).status).toBe(400)
  })

  test("a raw path may bring segments and a query; the client's query can be left out", async () => {
    const { get, upstream } = await start({
      inbound: [
        { kind: "rewrite", path: cel("'/x/y?a=' + request.query('v')"), raw: true, keepQuery: false },
      ],
    })
    expect((await get("/a/7?v=b")).status).toBe(200)
    expect(upstream.requests[0]?.url).toBe("/x/y?a=b")
  })
})

describe("bodies", () => {
  const codings: [string, (text: string) => Buffer][] = [
    ["gzip", (text) => gzipSync(text)],
    ["br", (text) => brotliCompressSync(text)],
    ["deflate", (text) => deflateSync(text)],
    ["identity", (text) => Buffer.from(text)],
  ]
  const replace = (to: string): StepDraft => ({ kind: "find-replace", message: "response", from: "old", to })
  const content = '{"a":"old, old"}'

  test("a text that the caller brings is found in no more time than it takes to read both", async () => {
    const half = "a".repeat(4_000)
    const part = `${half}b${half}`
    const answer: Answering = (_, response) => response.end(`${"a".repeat(3_000_000)}${part}é`)
    const { get } = await inFrontOf(answer, {
      outbound: [{ ...replace("new"), from: cel('request.header("X-Part")') } as StepDraft],
    })
    const before = process.cpuUsage()
    const { body } = await get(`X-Part: ${part}\r\n`)
    expect(body.length).toBeLessThan(3_000_100)
    expect(body.endsWith("anewé") || body.endsWith("anew\u00c3\u00a9")).toBe(true)
    // Three seconds for each look at it, before. Of this process: how busy the machine is does not count.
    expect(process.cpuUsage(before).user / 1_000).toBeLessThan(2_000)
  })

  for (const [coding, encode] of codings) {
    for (const chunked of [true, false]) {
      test(`${coding}, ${chunked ? "chunked" : "with its length"}: changed is whole and honest, unchanged is as it came`, async () => {
        const bytes = encode(content)
        const answer: Answering = (_, response) => {
          response.setHeader("content-type", "application/json")
          response.setHeader("etag", '"one"')
          if (coding !== "identity") response.setHeader("content-encoding", coding)
          if (!chunked) response.setHeader("content-length", bytes.length)
          response.write(bytes.subarray(0, 5))
          response.end(bytes.subarray(5))
        }
        const changed = await inFrontOf(answer, { outbound: [replace("new")] })
        const first = await changed.get()
        expect(first.body).toBe('{"a":"new, new"}')
        expect(first.headers.get("content-length")).toBe("16")
        expect(first.headers.get("content-encoding")).toBeUndefined()
        expect(first.headers.get("etag")).toBeUndefined()
        const same = await inFrontOf(answer, {
          outbound: [{ ...replace("new"), from: "nothing" } as StepDraft],
        })
        const second = await same.get()
        expect(second.headers.get("etag")).toBe('"one"')
        expect(second.headers.get("content-encoding")).toBe(coding === "identity" ? undefined : coding)
        const head = await changed.get("", "HEAD")
        expect([head.status, head.body]).toEqual([200, ""])
        for (const name of ["content-length", "content-encoding", "etag"])
          expect(head.headers.get(name), name).toBeUndefined()
      })
    }
  }

  test.each([204, 304])("%i stays without a body", async (status) => {
    const { get } = await inFrontOf((_, response) => response.writeHead(status).end(), {
      outbound: [replace("new")],
    })
    const answer = await get()
    expect([answer.status, answer.body]).toEqual([status, ""])
  })

  test("a coded request is read, changed and sent without its coding", async () => {
    const { running, upstream } = await start({
      inbound: [{ kind: "find-replace", message: "request", from: "old", to: "new" }],
    })
    const bytes = gzipSync(content)
    const head = `POST /a/7 HTTP/1.1\r\nHost: gw\r\nContent-Encoding: gzip\r\nContent-Length: ${bytes.length}\r\n\r\n`
    const answer = await sendRaw(running.port, Buffer.concat([Buffer.from(head), bytes]), 60)
    expect(answer.status, answer.text).toBe(200)
    expect(upstream.requests[0]?.body).toBe('{"a":"new, new"}')
    expect(upstream.requests[0]?.headers["content-encoding"]).toBeUndefined()
    expect(gunzipSync(bytes).toString()).toBe(content)
  })

  test("more than may be held: 413 for the request, 502 for the response", async () => {
    const limits = { limits: { bufferBytesMax: 1_000 } }
    const large = JSON.stringify({ a: "x".repeat(2_000) })
    const inbound = await start({ inbound: [set("n", "request.body.a")] }, limits)
    expect((await sendRaw(inbound.running.port, post(large), 60)).status).toBe(413)
    const outbound = await inFrontOf(
      (_, response) => response.end(large),
      { outbound: [replace("new")] },
      limits,
    )
    expect((await outbound.get()).status).toBe(502)
    const untouched = await inFrontOf((_, response) => response.end(large), {}, limits)
    expect((await untouched.get()).body).toBe(large)
  })

  test("a large XML body is read for a template as a small one is", async () => {
    const liquid = "{{ body.o.i | size }} {{ body.o.i.last.n }} {{ body.o.Who }}"
    const { running, upstream } = await start({
      inbound: [{ kind: "set-body", message: "request", media: null, content: { liquid } }],
    })
    const xml = (count: number, end = "") =>
      post(
        `<x:o xmlns:x="urn:x">${'<i n="1"/>'.repeat(count)}<i n="2"/><x:Who>me</x:Who></x:o>${end}`,
        "text/xml",
      )
    for (const count of [10, 5_000]) {
      expect((await sendRaw(running.port, xml(count), 60)).status).toBe(200)
      expect(upstream.requests.at(-1)?.body).toBe(`${count + 1} 2 me`)
      expect((await sendRaw(running.port, xml(count, "<"), 60)).status).toBe(400)
    }
    expect((await sendRaw(running.port, xml(40_000), 60)).status).toBe(400)
    expect(running.log.at(-1)?.cause).toContain("has more than 60000 elements and strings")
  })

  test("liquid, values, bytes", async () => {
    const { running, upstream } = await start({
      inbound: [
        set("who", "'ann'"),
        {
          kind: "set-body",
          message: "request",
          media: "application/xml",
          content: {
            liquid:
              "<o id='{{ context.Request.MatchedParameters.id }}' by='{{ context.Variables.who | Upcase }}'>{% for i in body.items %}<i>{{ i.n }}</i>{% endfor %}{% for p in context.Request.MatchedParameters %}{{ p.Key }}={{ p.Value }}{% endfor %}{% for h in context.Request.Headers %}{% if h.Key == 'X-Tag' %}{{ h.Value }}{% endif %}{% endfor %}</o>",
          },
        },
      ],
      outbound: [
        {
          kind: "set-body",
          message: "response",
          media: "application/json",
          content: { value: value("{'n': [1, 2u, 'x']}").expression },
        },
      ],
    })
    const answer = await sendRaw(
      running.port,
      post('{"items":[{"n":1},{"n":2}]}', undefined, "x-tag: t\r\n"),
      60,
    )
    expect(upstream.requests[0]?.body).toBe("<o id='7' by='ANN'><i>1</i><i>2</i>id=7t</o>")
    expect(upstream.requests[0]?.headers["content-type"]).toBe("application/xml")
    expect(JSON.parse(answer.body)).toEqual({ n: [1, 2, "x"] })
  })

  test("XML to JSON and back, and what is neither", async () => {
    const toJson: StepDraft = {
      kind: "xml-to-json",
      message: "request",
      style: "direct",
      apply: "content-type",
      considerAccept: false,
      alwaysArray: false,
    }
    const toXml: StepDraft = {
      kind: "json-to-xml",
      message: "response",
      apply: "always",
      considerAccept: true,
      parseDates: false,
      namespaceSeparator: "_",
    }
    const { running, upstream } = await start({ inbound: [toJson], outbound: [toXml] })
    const xml = await sendRaw(
      running.port,
      post("<a x='1'><b>2</b></a>", "text/xml", "Accept: application/xml\r\n"),
      60,
    )
    expect(JSON.parse(upstream.requests[0]?.body ?? "")).toEqual({ a: { "@x": "1", b: "2" } })
    expect(xml.headers.get("content-type")).toBe("application/xml")
    expect(xml.body).toContain("<method>POST</method>")
    const json = await sendRaw(running.port, post("<a/>", "text/plain", "Accept: application/json\r\n"), 60)
    expect(upstream.requests[1]?.body).toBe("<a/>")
    expect(json.headers.get("content-type")).toBe("application/json")
    expect((await sendRaw(running.port, post("<a>", "text/xml"), 60)).status).toBe(400)
  })
})
