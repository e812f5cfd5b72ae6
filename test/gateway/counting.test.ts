import { gzipSync } from "node:zlib"
import { afterEach, describe, expect, test } from "vitest"
import type { GatewayOptions } from "../../runtime/gateway/gateway.ts"
import { createMemoryLimiter } from "../../runtime/limits/memory.ts"
import { until } from "../support/until.ts"
import { type Answering, startUpstream } from "./harness.ts"
import { closeAll, closers, start } from "./one-route.ts"
import type { StepDraft } from "./plan-builder.ts"

afterEach(closeAll)

const bool = (text: string) => ({ lang: "cel", text, type: "bool" }) as const
const json = (body: unknown, headers: Record<string, string> = {}): Answering =>
  bytes(Buffer.from(JSON.stringify(body)), { "content-type": "application/json", ...headers })

function bytes(body: Buffer, headers: Record<string, string> = {}, status = 200): Answering {
  return (request, response) => {
    request.resume()
    const length = status === 204 ? {} : { "content-length": String(body.length) }
    response.writeHead(status, { ...length, ...headers })
    response.end(request.method === "HEAD" ? undefined : body)
  }
}

/** Remembers what is counted; everything passes. */
function counters() {
  const limited: number[] = []
  const decided: number[] = []
  const used: { calls: number; bytes: number }[] = []
  const options: Partial<GatewayOptions> = {
    limiter: Object.assign(createMemoryLimiter(), {
      take: (_counter: string, _key: string, callsMax: number) => ({
        ...{ allowed: true, remaining: callsMax, resetSeconds: 0 },
      }),
      add: (counter: string, _key: string, _periodSeconds: number, amount: number) =>
        void (counter === "decided" ? decided : limited).push(amount),
    }),
    quotas: { take: () => ({ allowed: true }), add: (_terms, _key, _anchor, added) => used.push(added) },
  }
  return { limited, decided, used, options }
}

const limit = (more: object): StepDraft =>
  ({
    kind: "rate-limit",
    counter: "c",
    callsMax: 2,
    periodSeconds: 60,
    keys: [{ by: "ip" }],
    ...more,
  }) as StepDraft

/** Always counts, behind the others: what was not counted by then is not counted. */
const last = limit({ counter: "decided", countIf: bool("size(response.text) >= 0") })

/** A gateway before a backend that answers so, and what it counted once the call is over. */
async function counted(
  steps: { inbound: StepDraft[]; outbound?: StepDraft[] },
  answering: Answering,
  ask: (url: string) => Promise<unknown> = (url) => fetch(url).then((answer) => answer.text()),
  bufferBytesMax = 10_000,
): Promise<{ limited: number[]; used: { calls: number; bytes: number }[]; got: unknown }> {
  const upstream = await startUpstream(answering)
  closers.push(() => upstream.close())
  const { limited, decided, used, options } = counters()
  const draft = { backends: { main: upstream.url }, limits: { bufferBytesMax } }
  const inbound = [...steps.inbound.slice(0, 1), last, ...steps.inbound.slice(1)]
  const { running } = await start({ ...steps, inbound }, draft, options)
  const got = await ask(`${running.url}/a/7`)
  await until(() => decided.length === 1)
  return { limited, used, got }
}

describe("what counts by the body of the answer", () => {
  const charged = limit({ countIf: bool("response.body.charged"), increment: 3 })

  test.each<[string, Answering, number[]]>([
    ["the body says yes", json({ charged: true }), [3]],
    ["the body says no", json({ charged: false }), []],
    ["it is not JSON: who knows", bytes(Buffer.from("yes")), [3]],
    ["it does not say", json({}), [3]],
    ["there is no body", bytes(Buffer.alloc(0), {}, 204), [3]],
    ["it says no, compressed", bytes(gzipSync('{"charged":false}'), { "content-encoding": "gzip" }), []],
    ["it says yes, compressed", bytes(gzipSync('{"charged":true}'), { "content-encoding": "gzip" }), [3]],
    ["in a coding nobody reads", json({ charged: false }, { "content-encoding": "x" }), [3]],
    ["more than may be held", json({ charged: false, more: "x".repeat(20_000) }), [3]],
  ])("%s", async (_, answering, expected) => {
    expect((await counted({ inbound: [charged] }, answering)).limited).toEqual(expected)
  })

  test("how much is in the body too", async () => {
    const increment = { expression: { lang: "cel", text: "int(response.body.units)", type: "int" } }
    const found = await counted({ inbound: [limit({ increment })] }, json({ units: 7 }))
    expect(found.limited).toEqual([7])
  })

  test("the answer is not changed by it, and one that is larger than may be held goes out whole", async () => {
    const body = Buffer.from(JSON.stringify({ charged: true, more: "x".repeat(20_000) }))
    const coded = gzipSync(body, { level: 0 })
    const ask = async (url: string) => {
      const answer = await fetch(url, { headers: { "accept-encoding": "gzip" } })
      return [answer.headers.get("etag"), await answer.text()]
    }
    const headers = { "content-encoding": "gzip", etag: '"x"' }
    const { got } = await counted({ inbound: [charged] }, bytes(coded, headers), ask)
    expect(got).toEqual(['"x"', body.toString()])
  })

  test("events pass one by one all the same", async () => {
    const send: (() => void)[] = []
    const answering: Answering = (request, response) => {
      request.resume()
      response.writeHead(200, { "content-type": "text/event-stream" })
      response.flushHeaders()
      send.push(
        () => response.write("data: 1\n\n"),
        () => response.end("data: done\n\n"),
      )
    }
    const ask = async (url: string) => {
      const reader = (await fetch(url)).body?.getReader()
      const found: string[] = []
      for (const next of [0, 1]) {
        send[next]?.()
        found.push(Buffer.from((await reader?.read())?.value ?? []).toString())
      }
      await reader?.read()
      return found
    }
    const step = limit({ countIf: bool('!response.text.contains("done")') })
    const { limited, got } = await counted({ inbound: [step] }, answering, ask)
    expect([got, limited]).toEqual([["data: 1\n\n", "data: done\n\n"], []])
  })

  test("HEAD: there is nothing to read", async () => {
    const step = limit({ countIf: bool("response.body == null") })
    const ask = (url: string) => fetch(url, { method: "HEAD" })
    expect((await counted({ inbound: [step] }, json({ charged: true }), ask)).limited).toEqual([1])
  })

  test("as the client gets it: what outbound made of it", async () => {
    const made: StepDraft = {
      kind: "set-body",
      message: "response",
      media: "application/json",
      content: { text: '{"charged":false}' },
    }
    const found = await counted({ inbound: [charged], outbound: [made] }, json({ charged: true }))
    expect(found.limited).toEqual([])
  })

  test("a client that leaves has been charged", async () => {
    const answering: Answering = (request, response) => {
      request.resume()
      response.writeHead(200, { "content-type": "application/json" })
      response.write('{"charged":')
    }
    const ask = async (url: string) => {
      const leaving = new AbortController()
      const answer = await fetch(url, { signal: leaving.signal })
      await answer.body?.getReader().read()
      leaving.abort()
    }
    expect((await counted({ inbound: [charged] }, answering, ask)).limited).toEqual([3])
  })
})

describe("what counts by an answer that no backend gave", () => {
  const ok = limit({ countIf: bool("response.status < 400") })

  test.each<[string, StepDraft, number[]]>([
    [
      "a step refuses",
      { kind: "check-header", name: "x-a", values: [], ignoreCase: false, status: 403 } as StepDraft,
      [],
    ],
    [
      "a step answers",
      { kind: "respond", status: 200, headers: [], media: null, body: { text: "hi" } } as StepDraft,
      [1],
    ],
  ])("%s", async (_, step, expected) => {
    expect((await counted({ inbound: [ok, step] }, json({}))).limited).toEqual(expected)
  })

  test("its body counts as well", async () => {
    const answer = {
      kind: "respond",
      status: 200,
      headers: [],
      media: "application/json",
      body: { text: '{"free":true}' },
    } as StepDraft
    const free = limit({ countIf: bool("!response.body.free") })
    expect((await counted({ inbound: [free, answer] }, json({}))).limited).toEqual([])
  })
})

describe("quotas", () => {
  const quota = (more: object): StepDraft =>
    ({ kind: "quota", counter: "q", periodSeconds: 60, keys: [{ by: "ip" }], ...more }) as StepDraft

  test.each<[string, object, unknown, object[]]>([
    ["calls that count", { callsMax: 5, increment: 2 }, { charged: true }, [{ calls: 2, bytes: 0 }]],
    ["calls that do not", { callsMax: 5 }, { charged: false }, []],
    ["bytes of calls that count", { bytesMax: 500 }, { charged: true }, [{ calls: 1, bytes: 16 }]],
    ["bytes of calls that do not", { bytesMax: 500 }, { charged: false }, []],
  ])("%s", async (_, more, body, expected) => {
    const step = quota({ countIf: bool("response.body.charged"), ...more })
    expect((await counted({ inbound: [step] }, json(body))).used).toEqual(expected)
  })
})
