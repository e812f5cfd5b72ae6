import { brotliCompressSync, deflateSync, gzipSync } from "node:zlib"
import { afterEach, describe, expect, test } from "vitest"
import { startGateway, startUpstream, type Upstream } from "./harness.ts"

const closers: (() => Promise<void>)[] = []

afterEach(async () => {
  for (const close of closers.splice(0)) await close()
})

async function start(ratioMax = 100): Promise<{ upstream: Upstream; url: string }> {
  const upstream = await startUpstream()
  const running = await startGateway({
    backends: { main: upstream.url },
    routes: [{ method: "*", path: "/{rest*}", inbound: [{ kind: "decompress", ratioMax }] }],
  })
  closers.push(
    () => running.close(),
    () => upstream.close(),
  )
  return { upstream, url: running.url }
}

const post = (url: string, body: Buffer, coding?: string) =>
  fetch(url, {
    method: "POST",
    headers: {
      "content-type": "application/json",
      ...(coding === undefined ? {} : { "content-encoding": coding }),
    },
    body,
  })

const text = Buffer.from(
  JSON.stringify(Array.from({ length: 200 }, (_, id) => ({ id, state: `state ${id}` }))),
)

describe("the backend gets the body without its coding", () => {
  test.each([
    ["gzip", gzipSync(text)],
    ["deflate", deflateSync(text)],
    ["br", brotliCompressSync(text)],
    ["gzip, br", brotliCompressSync(gzipSync(text))],
    ["identity", text],
    [undefined, text],
  ])("%s", async (coding, body) => {
    const { upstream, url } = await start()
    expect((await post(url, body, coding)).status).toBe(200)
    const [seen] = upstream.requests
    expect(seen?.body.toString()).toBe(text.toString())
    expect(seen?.headers["content-length"]).toBe(String(text.length))
    expect(seen?.headers["content-encoding"]).toBe(coding === "identity" ? "identity" : undefined)
  })
})

describe("refused is a body", () => {
  test.each([
    ["that becomes too large", gzipSync(Buffer.alloc(1_000_000)), "gzip", 413],
    ["that is damaged", Buffer.from("no gzip"), "gzip", 400],
    ["of an unknown coding", text, "rot13", 415],
  ])("%s", async (_, body, coding, status) => {
    const { upstream, url } = await start()
    const response = await post(url, body, coding)
    expect(response.status).toBe(status)
    expect(response.headers.get("content-type")).toBe("application/problem+json")
    expect(upstream.requests).toEqual([])
  })

  test("that becomes larger than the plan allows, although it is small", async () => {
    const { url } = await start(2)
    expect((await post(url, gzipSync(text), "gzip")).status).toBe(413)
  })
})
