import { gzipSync } from "node:zlib"
import { afterEach, expect, test } from "vitest"
import type { GatewayOptions } from "../../runtime/gateway/gateway.ts"
import { until } from "../support/until.ts"
import { type Answering, startUpstream } from "./harness.ts"
import { closeAll, closers, start } from "./one-route.ts"
import type { StepDraft } from "./plan-builder.ts"

afterEach(closeAll)

const tokens = { tokens: { estimatePrompt: false } }
const keys = [{ by: "ip" as const }]
const counted = (kind: "prompt" | "completion" | "total"): StepDraft => ({
  kind: "metric",
  name: kind,
  value: { tokens: kind },
  labels: [{ name: "api", value: "a" }],
})
const quota = (more: object): StepDraft => ({
  ...{ kind: "quota", counter: "q", callsMax: 100, periodSeconds: 60, keys, increment: tokens },
  ...more,
})

function answers(body: string | Buffer, type: string, headers: Record<string, string> = {}): Answering {
  return (request, response) => {
    request.resume()
    request.on("end", () => {
      response.writeHead(200, { "content-type": type, ...headers })
      response.end(body)
    })
  }
}

/** What one call with a prompt of 40 bytes counts. */
async function usedBy(
  answering: Answering,
  inbound: StepDraft[],
  quotas: Partial<GatewayOptions["quotas"]> = {},
): Promise<{
  metrics: [string, object, number][]
  taken: number[]
  added: number[]
  response: Response
}> {
  const upstream = await startUpstream(answering)
  closers.push(() => upstream.close())
  const metrics: [string, object, number][] = []
  const taken: number[] = []
  const added: number[] = []
  let over = false
  const options: Partial<GatewayOptions> = {
    quotas: {
      take: (_terms, _key, _anchor, calls) => {
        taken.push(calls)
        return { allowed: true }
      },
      add: (_terms, _key, _anchor, { calls }) => added.push(calls),
      ...quotas,
    },
    observer: {
      finished: () => {
        over = true
      },
      counted: (name, labels, value) => metrics.push([name, labels, value]),
    },
  }
  const draft = { backends: { main: upstream.url }, limits: { bufferBytesMax: 1_000 } }
  const { running } = await start({ inbound }, draft, options)
  const response = await fetch(`${running.url}/a/7`, { method: "POST", body: "x".repeat(40) })
  await response.text()
  const expected = response.status === 200 ? inbound.length : 0
  await until(() => over && metrics.length + added.length === expected)
  return { metrics, taken, added, response }
}

test("counters get what the answer says, when it has passed", async () => {
  const answer = answers('{"usage":{"prompt_tokens":3,"completion_tokens":4}}', "application/json")
  const { metrics } = await usedBy(answer, [counted("total"), counted("prompt"), counted("completion")])
  expect(metrics).toEqual([
    ["total", { api: "a" }, 7],
    ["prompt", { api: "a" }, 3],
    ["completion", { api: "a" }, 4],
  ])
})

test.each<[string, Answering, number]>([
  [
    "a compressed stream",
    answers(gzipSync('data: {"usage":{"total_tokens":9}}\n\n'), "text/event-stream", {
      "content-encoding": "gzip",
    }),
    9,
  ],
  [
    "numbers that are none",
    answers(
      '{"usage":{"prompt_tokens":-3,"completion_tokens":"x","total_tokens":1e300}}',
      "application/json",
    ),
    0,
  ],
  ["no JSON", answers("text", "text/plain"), 0],
  // More than may be held: the 40 bytes of the prompt and those of the answer, four a token; of events a hundred.
  ["a large answer", answers("x".repeat(2_000), "application/json"), 10 + 500],
  ["a large stream", answers(`data: ${"x".repeat(1_992)}\n\n`, "text/event-stream"), 10 + 20],
])("%s", async (_, answering, expected) => {
  expect((await usedBy(answering, [quota({})])).added).toEqual([expected])
})

test("a quota takes the estimate of the prompt, then what is missing, and tells what is left", async () => {
  const answer = answers('{"usage":{"total_tokens":25}}', "application/json")
  const step = quota({
    increment: { tokens: { estimatePrompt: true } },
    remainingHeader: "x-left",
  })
  const { taken, added, response } = await usedBy(answer, [step], {
    look: () => Promise.resolve({ calls: 30, bytes: 0, resetSeconds: 5 }),
  })
  expect([taken, added, response.headers.get("x-left")]).toEqual([[10], [15], "55"])
  const less = await usedBy(answers('{"usage":{"total_tokens":4}}', "application/json"), [step])
  expect([less.taken, less.added, less.response.headers.get("x-left")]).toEqual([[10], [0], null])
})

test.each([
  ["size(request.path) * 20", 200, "50", [80]],
  ["size(request.path) * 0", 200, "0", [0]],
  ["size(request.path) - 9", 400, null, []],
])("how much a quota allows may be the caller's own: %s", async (text, status, left, allowed) => {
  const asked: unknown[] = []
  const callsMax = { expression: { lang: "cel", text, type: "int" } }
  const step = quota({ callsMax, remainingHeader: "x-left" })
  const { response } = await usedBy(answers("{}", "application/json"), [step], {
    take: (terms) => {
      asked.push(terms.callsMax)
      return { allowed: true }
    },
    look: () => Promise.resolve({ calls: 30, bytes: 0, resetSeconds: 5 }),
  })
  expect([response.status, response.headers.get("x-left"), asked]).toEqual([status, left, allowed])
})

test("a quota that is used up says so in its own words", async () => {
  const { response, added } = await usedBy(answers("{}", "application/json"), [quota({})], {
    take: () => ({ allowed: false, out: "calls", resetSeconds: 60 }),
  })
  expect([response.status, response.headers.get("retry-after"), added]).toEqual([403, "60", []])
})
