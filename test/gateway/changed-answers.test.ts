import { runInNewContext } from "node:vm"
import { brotliCompressSync, gzipSync } from "node:zlib"
import { afterEach, describe, expect, test } from "vitest"
import { inFrontOf, set } from "./content.ts"
import { type Answering, startGateway, startUpstream } from "./harness.ts"
import { closeAll, closers } from "./one-route.ts"
import type { StepDraft } from "./plan-builder.ts"

afterEach(closeAll)

const masked: StepDraft = { kind: "mask-urls", message: "response", headers: false }
const replaced: StepDraft = { kind: "find-replace", message: "response", from: "sesame", to: "…" }
const padded: StepDraft = { kind: "jsonp", callback: "q" }

/** An answer that names its own address, coded or not. */
function selfNaming(encode: (text: string) => Buffer, headers: object): Answering {
  return (request, response) => {
    const bytes = encode(`{"self":"http://127.0.0.1:${request.socket.localPort}/a/7"}`)
    response.writeHead(200, {
      "content-type": "application/json",
      "content-length": bytes.length,
      etag: '"one"',
      "accept-ranges": "bytes",
      "content-digest": "sha-256=:AA==:",
      "content-md5": "AA==",
      ...headers,
    })
    response.end(request.method === "HEAD" ? undefined : bytes)
  }
}

describe("answers that are changed are whole and honest", () => {
  test.each([
    ["gzip", gzipSync],
    ["br", brotliCompressSync],
  ] as const)("%s", async (coding, encode) => {
    const answer = selfNaming((text) => encode(text), { "content-encoding": coding })
    const { get } = await inFrontOf(answer, { outbound: [masked] })
    const found = await get()
    expect(found.body).toBe('{"self":"http://gw:81/a/7"}')
    expect(found.headers.get("content-length")).toBe(String(found.body.length))
    const head = await get("", "HEAD")
    for (const name of ["content-encoding", "etag", "accept-ranges", "content-digest", "content-md5"])
      expect([found.headers.get(name), head.headers.get(name)], name).toEqual([undefined, undefined])
    expect(head.headers.get("content-length")).toBeUndefined()
    const { running } = await inFrontOf(answer, { outbound: [padded] })
    const script = await fetch(`http://127.0.0.1:${running.port}/a/7?q=show`)
    expect(await script.text()).toMatch(/^\/\*\*\/show\(\{"self":"http:\/\/[\d.:]+\/a\/7"\}\);$/)
    expect([script.headers.get("content-encoding"), script.headers.get("etag")]).toEqual([null, null])
  })

  test.each([
    ["text/plain", "http://OWN/a/7"],
    ["text/plain", "WN/a/7 and no more"],
    ["multipart/byteranges; boundary=b", "--b\r\nContent-Type: text/plain\r\n\r\nWN/a/7\r\n--b--\r\n"],
  ])("parts of an answer nobody asked for are none: %s with %s", async (media, text) => {
    const answer: Answering = (request, response) =>
      response
        .writeHead(206, { "content-type": media })
        .end(text.replace("OWN", `127.0.0.1:${request.socket.localPort}`))
    for (const step of [masked, replaced]) {
      const { get } = await inFrontOf(answer, { outbound: [step] })
      const { status, body } = await get()
      expect([status, body.includes("/a/7")]).toEqual([502, false])
    }
  })

  /** A backend that gives the parts it is asked for, and says of everything that it may be asked so. */
  const inParts: Answering = (request, response) => {
    const text = `{"self":"http://127.0.0.1:${request.socket.localPort}/a/7","secret":"sesame"}`
    const [, from, to] = /^bytes=(\d+)-(\d+)$/.exec(request.headers.range ?? "") ?? []
    const media = { "content-type": "application/json", "accept-ranges": "bytes" }
    if (from === undefined || to === undefined) return response.writeHead(200, media).end(text)
    const range = `bytes ${from}-${to}/${text.length}`
    return response.writeHead(206, { ...media, "content-range": range }).end(text.slice(+from, +to + 1))
  }

  test.each([
    ["URLs", [masked]],
    ["a text", [replaced]],
    ["URLs under a condition", [{ kind: "when", test: "response.status < 300", matched: [masked] }]],
    ["what an expression reads", [set("secret", "response.body.secret")]],
  ] as [string, StepDraft[]][])(
    "a backend is not asked for a part where steps look for %s",
    async (_, outbound) => {
      const { running, upstream } = await inFrontOf(inParts, { outbound })
      const parts: string[] = []
      // Each URL and the secret are cut in two by some of these.
      for (let from = 0; from < 60; from += 7) {
        const range = `bytes=${from}-${from + 6}`
        const found = await fetch(`http://127.0.0.1:${running.port}/a/7`, {
          headers: { range, "if-range": '"one"' },
        })
        expect([found.status, found.headers.get("content-range")]).toEqual([200, null])
        parts.push(await found.text())
      }
      expect(new Set(parts).size).toBe(1)
      for (const { headers } of upstream.requests)
        expect([headers.range, headers["if-range"]]).toEqual([undefined, undefined])
    },
  )

  test("parts are for others", async () => {
    const { running } = await inFrontOf(inParts, { outbound: [] })
    const found = await fetch(`http://127.0.0.1:${running.port}/a/7`, { headers: { range: "bytes=2-5" } })
    expect([found.status, await found.text()]).toEqual([206, "self"])
  })

  test.each([1, 3, 16])("URLs that come in pieces of %i bytes are found", async (size) => {
    const answer: Answering = async (request, response) => {
      const text = `{"self":"http://127.0.0.1:${request.socket.localPort}/a/7"}`
      response.writeHead(200, { "content-type": "application/json" })
      for (let at = 0; at < text.length; at += size) {
        response.write(text.slice(at, at + size))
        await new Promise((resolve) => setImmediate(resolve))
      }
      response.end()
    }
    const { get } = await inFrontOf(answer, { outbound: [masked] })
    expect((await get()).body).toBe('{"self":"http://gw:81/a/7"}')
  })

  test("an answer without such URLs goes on as it came, with its coding and its tag", async () => {
    const bytes = gzipSync('{"self":"http://elsewhere.example/a/7"}')
    const answer: Answering = (_, response) =>
      response
        .writeHead(200, { "content-type": "application/json", "content-encoding": "gzip", etag: '"one"' })
        .end(bytes)
    const { get } = await inFrontOf(answer, { outbound: [masked] })
    const { headers } = await get()
    expect([headers.get("content-encoding"), headers.get("etag")]).toEqual(["gzip", '"one"'])
  })

  test("more than may be held: 502 for a text, while anything else passes unread", async () => {
    const limits = { limits: { bufferBytesMax: 1_000 } }
    const of = (media: string) =>
      inFrontOf(
        (_, response) =>
          response.writeHead(200, { "content-type": media, "content-length": 5_000 }).end("x".repeat(5_000)),
        { outbound: [masked, { ...padded, callback: "none" }] },
        limits,
      )
    expect((await (await of("application/json")).get()).status).toBe(502)
    const binary = await (await of("application/zip")).get()
    expect([binary.status, binary.body.length]).toEqual([200, 5_000])
  })

  test("a stream of events passes as it comes", async () => {
    let finish = (): void => undefined
    const answer: Answering = (request, response) => {
      response.writeHead(200, { "content-type": "text/event-stream" })
      response.write(`data: http://127.0.0.1:${request.socket.localPort}/a\n\n`)
      finish = () => response.end("data: end\n\n")
    }
    const { running, upstream } = await inFrontOf(answer, { outbound: [masked, padded] })
    const response = await fetch(`http://127.0.0.1:${running.port}/a/7?q=show`)
    const reader = (response.body as ReadableStream<Uint8Array>).getReader()
    const first = new TextDecoder().decode((await reader.read()).value)
    expect(first).toBe(`data: ${upstream.url}/a\n\n`)
    finish()
    let rest = ""
    for (let next = await reader.read(); !next.done; next = await reader.read())
      rest += new TextDecoder().decode(next.value)
    expect(rest).toBe("data: end\n\n")
  })

  test("all addresses of the backend that was chosen are changed, those of others are not", async () => {
    const [other, stranger] = [await startUpstream(), await startUpstream()]
    const answer: Answering = (request, response) => {
      const own = `http://127.0.0.1:${request.socket.localPort}`
      response.writeHead(200, { "content-type": "application/json" })
      response.end(JSON.stringify([`${own}/a`, `${other.url}/a`, `${stranger.url}/a`]))
    }
    const [first, second] = [await startUpstream(answer), await startUpstream(answer)]
    // Weighted so that the one that answers otherwise gets its turn last.
    const targets = [first, second, other].map(({ url }, at) => ({ url, weight: at === 2 ? 1 : 10 }))
    const running = await startGateway({
      backends: { main: { connectMs: 2_000, totalMs: null, tls: { insecure: false }, targets } },
      routes: [{ method: "GET", path: "/a/{id}", outbound: [masked] }],
    })
    closers.push(() => running.close(), ...[first, second, other, stranger].map((each) => () => each.close()))
    const gateway = `http://127.0.0.1:${running.port}/a`
    for (let call = 0; call < 2; call += 1) {
      const response = await fetch(`${gateway}/7`)
      expect(await response.json()).toEqual([gateway, gateway, `${stranger.url}/a`])
    }
  })
})

test("where another backend is chosen, the addresses of both are changed", async () => {
  const [own, stranger] = [await startUpstream(), await startUpstream()]
  const chosen = await startUpstream((request, response) => {
    response.writeHead(200, { "content-type": "application/json" })
    response.end(
      JSON.stringify([own.url, stranger.url, `http://127.0.0.1:${request.socket.localPort}/base/x`]),
    )
  })
  const running = await startGateway({
    backends: { main: own.url, other: `${chosen.url}/base` },
    routes: [
      {
        method: "GET",
        path: "/a/{id}",
        stripPrefix: "/a",
        inbound: [{ kind: "set-backend", target: { backend: "other" } }],
        outbound: [masked],
      },
    ],
  })
  closers.push(() => running.close(), ...[own, stranger, chosen].map((each) => () => each.close()))
  const gateway = `http://127.0.0.1:${running.port}/a`
  const response = await fetch(`${gateway}/7`)
  expect(await response.json()).toEqual([gateway, stranger.url, `${gateway}/x`])
})

test("a script holds no line ends that older engines know", async () => {
  const answer: Answering = (_, response) =>
    response.writeHead(200, { "content-type": "application/json" }).end('\ufeff{"a":"\u2028\u2029ä"}')
  const { running } = await inFrontOf(answer, { outbound: [padded] })
  const response = await fetch(`http://127.0.0.1:${running.port}/a/7?q=show`)
  expect(await response.text()).toBe('/**/show({"a":"\\u2028\\u2029ä"});')
})

test("a script makes the value that the JSON says, whatever its names are", async () => {
  const json =
    '{"a":"__proto__:","__proto__":{"admin":true},"b":[{"\\u005f_proto__" : 1,"__proto\\u005F_":2}],"\\"__proto__":3}'
  const answer: Answering = (_, response) =>
    response.writeHead(200, { "content-type": "application/json" }).end(json)
  const { running } = await inFrontOf(answer, { outbound: [padded] })
  const script = await (await fetch(`http://127.0.0.1:${running.port}/a/7?q=show`)).text()
  const [shown] = runInNewContext(
    `let seen; const show = (value) => { seen = JSON.stringify(value) }; ${script}; [seen]`,
  )
  expect(shown).toBe(JSON.stringify(JSON.parse(json)))
})
