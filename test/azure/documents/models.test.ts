import { afterEach, describe, expect, test } from "vitest"
import { type Answering, startUpstream, type Upstream } from "../../gateway/harness.ts"
import { until } from "../../support/until.ts"
import { type Served, serveDocuments } from "./serving.ts"

const open: { close(): Promise<void> }[] = []

afterEach(async () => {
  for (const each of open.splice(0).reverse()) await each.close()
})

type Ask = (body?: unknown) => Promise<[status: number, body: string, headers: Headers]>

/** A gateway with one document before a language model. */
async function serve(
  inside: string,
  answer: Answering,
  more = "",
): Promise<{ upstream: Upstream; served: Served; ask: Ask }> {
  const upstream = await startUpstream(answer)
  open.push(upstream)
  const conf = `gateway g { listen 127.0.0.1:8000; errors apim }
backend b { url "${upstream.url}" }
${more.replaceAll("UPSTREAM", upstream.url)}
api a { path "/a"; backend b; auth none; policy xml "doc.xml"; ANY "/{rest*}" {} }`
  const served = await serveDocuments(
    [
      ["gateway.conf", conf],
      ["doc.xml", `<policies>${inside}</policies>`],
    ],
    { SECRET: "s" },
  )
  open.push(served)
  let asked = 0
  const ask: Ask = async (body = { messages: [{ role: "user", content: "hello" }] }) => {
    const headers = { "content-type": "application/json" }
    const response = await fetch(`${served.url}/a/chat`, {
      method: "POST",
      headers,
      body: JSON.stringify(body),
    })
    const text = await response.text()
    // What an exchange counts is counted when it is over.
    asked += 1
    await until(() => served.log.length === asked)
    return [response.status, text, response.headers]
  }
  return { upstream, served, ask }
}

function says(text: string, type = "application/json"): Answering {
  return (request, response) => {
    request.resume()
    request.on("end", () => {
      response.writeHead(200, { "content-type": type })
      response.end(text)
    })
  }
}

const usage = (prompt: number, completion: number) =>
  JSON.stringify({
    choices: [{ message: { content: "hi" } }],
    usage: { prompt_tokens: prompt, completion_tokens: completion, total_tokens: prompt + completion },
  })

const limit = (perMinute: number, more = 'estimate-prompt-tokens="false"') =>
  `<inbound><llm-token-limit counter-key="all" tokens-per-minute="${perMinute}" ${more} /></inbound>`

describe("llm-token-limit", () => {
  test("counts what the answer says was used, and tells it", async () => {
    const { ask } = await serve(
      `${limit(50, 'estimate-prompt-tokens="false" remaining-tokens-header-name="X-Left" remaining-tokens-variable-name="left" tokens-consumed-header-name="X-Used" tokens-consumed-variable-name="used"')}
      <outbound><set-header name="X-Seen" exists-action="override"><value>@($"{context.Variables["used"]} {context.Variables["left"]}")</value></set-header></outbound>`,
      says(usage(10, 32)),
    )
    const [status, body, headers] = await ask()
    expect([status, body]).toEqual([200, usage(10, 32)])
    expect([headers.get("x-left"), headers.get("x-used"), headers.get("x-seen")]).toEqual(["8", "42", "42 8"])
    expect((await ask())[2].get("x-left")).toBe("0")
    const [refused, message, { get }] = await ask()
    expect([refused, message]).toEqual([
      429,
      expect.stringMatching(/Token limit is exceeded. Try again in \d+ seconds\./),
    ])
    expect(get).toBeDefined()
  })

  test("of limits that share a name the last one tells", async () => {
    const one = limit(100, 'remaining-tokens-header-name="X-Left"').replace("</inbound>", "")
    const other = limit(60, 'remaining-tokens-header-name="X-Left"')
      .replace("<inbound>", "")
      .replace("all", "these")
    const { ask } = await serve(one + other, says(usage(10, 32)))
    expect((await ask())[2].get("x-left")).toBe("18")
  })

  test("a quota alone tells what a call used", async () => {
    const { ask } = await serve(
      `<inbound><llm-token-limit counter-key="all" token-quota="500" token-quota-period="Daily" tokens-consumed-header-name="X-Used" tokens-consumed-variable-name="used" /></inbound>
      <outbound><set-header name="X-Seen" exists-action="override"><value>@(context.Variables["used"].ToString())</value></set-header></outbound>`,
      says(usage(10, 32)),
    )
    const { 2: headers } = await ask()
    expect([headers.get("x-used"), headers.get("x-seen")]).toEqual(["42", "42"])
  })

  test("a stream passes while it comes; its last event says what was used", async () => {
    const event = (value: unknown) => `data: ${JSON.stringify(value)}\n\n`
    const stream = `${event({ choices: [{ delta: { content: "a" } }], usage: null })}${event({ choices: [], usage: { prompt_tokens: 9, completion_tokens: 31, total_tokens: 40 } })}data: [DONE]\n\n`
    const { ask } = await serve(
      limit(41, 'estimate-prompt-tokens="false" remaining-tokens-header-name="X-Left"'),
      says(stream, "text/event-stream"),
    )
    expect((await ask()).slice(0, 2)).toEqual([200, stream])
    expect((await ask())[2].get("x-left")).toBe("1")
  })

  test.each([
    [
      "Anthropic's",
      'event: message_start\ndata: {"type":"message_start","message":{"usage":{"input_tokens":5,"output_tokens":1}}}\n\nevent: message_delta\ndata: {"type":"message_delta","usage":{"output_tokens":20}}\n\n',
      25,
    ],
    [
      "OpenAI's responses",
      'event: response.completed\ndata: {"type":"response.completed","response":{"usage":{"input_tokens":5,"output_tokens":6,"total_tokens":11}}}\n\n',
      11,
    ],
    [
      "Gemini's",
      'data: {"usageMetadata":{"promptTokenCount":3,"candidatesTokenCount":4,"totalTokenCount":7}}\n\n',
      7,
    ],
    // Without a word about it an event is a token, and four bytes of the request.
    ["unsaid", 'data: {"choices":[]}\n\ndata: {"choices":[]}\n\n', 2 + Math.ceil(47 / 4)],
  ])("%s stream", async (_, stream, used) => {
    const { ask } = await serve(
      limit(1000, 'estimate-prompt-tokens="false" remaining-tokens-header-name="X-Left"'),
      says(stream, "text/event-stream"),
    )
    await ask()
    expect((await ask())[2].get("x-left")).toBe(String(1000 - used))
  })

  test("the prompt is estimated before it is sent: four bytes of its texts are a token, an image 1,200", async () => {
    const { ask, upstream } = await serve(
      limit(2000, 'estimate-prompt-tokens="true" remaining-tokens-header-name="X-Left"'),
      says('{"error":"nothing used"}'),
    )
    const prompt = (text: string, url?: string) => ({
      messages: [{ content: [{ text }, ...(url === undefined ? [] : [{ image_url: { url } }])] }],
    })
    expect((await ask(prompt("x".repeat(400))))[2].get("x-left")).toBe("1900")
    expect((await ask(prompt("xxxx", `data:image/png;base64,${"A".repeat(9000)}`)))[2].get("x-left")).toBe(
      "699",
    )
    expect((await ask(prompt("x".repeat(4000))))[0]).toBe(429)
    expect(upstream.requests.length).toBe(2)
    // What the answer says in place of the estimate counts where it is more.
    expect((await ask("no object"))[2].get("x-left")).toBe("699")
  })

  test("what failed used nothing but what was estimated", async () => {
    const { ask } = await serve(
      limit(100, 'estimate-prompt-tokens="false" remaining-tokens-header-name="X-Left"'),
      (request, response) => {
        request.resume()
        response.writeHead(500, { "content-type": "application/json" })
        response.end(usage(50, 50))
      },
    )
    await ask()
    expect((await ask())[2].get("x-left")).toBe("100")
  })
})

const safety = 'backend judge { url "UPSTREAM/judge"; authenticate basic "u" s }\nsecret s = env(SECRET)'

/** A model that greets, and a service that judges `bad` and `attack`. */
const judging: Answering = (request, response) => {
  const chunks: Buffer[] = []
  request.on("data", (chunk: Buffer) => chunks.push(chunk))
  request.on("end", () => {
    const sent = Buffer.concat(chunks).toString()
    const url = request.url ?? ""
    const answer = url.startsWith("/judge/contentsafety/text:analyze")
      ? sent.includes("mute")
        ? {}
        : {
            blocklistsMatch: sent.includes("rude") ? [{}] : [],
            categoriesAnalysis: [{ category: "Hate", severity: sent.includes("bad") ? 4 : 2 }],
          }
      : url.startsWith("/judge/contentsafety/text:shieldPrompt")
        ? { userPromptAnalysis: { attackDetected: sent.includes("attack") } }
        : { choices: [{ message: { content: sent.includes("worse") ? "bad words" : "hi" } }] }
    response.writeHead(sent.includes("broken") && url.startsWith("/judge") ? 500 : 200, {
      "content-type": "application/json",
    })
    response.end(JSON.stringify(answer))
  })
}

describe("llm-content-safety", () => {
  const document = (completions = false) => `<inbound>
    <llm-content-safety backend-id="judge" shield-prompt="true" enforce-on-completions="${completions}">
      <categories output-type="EightSeverityLevels"><category name="Hate" threshold="4" /></categories>
      <blocklists><id>list</id></blocklists>
    </llm-content-safety></inbound>`
  const prompt = (content: string) => ({ messages: [{ role: "user", content }] })

  test.each([
    ["hello", 200],
    ["a bad word", 403],
    ["an attack", 403],
    ["a rude word", 403],
    ["mute: no judgement", 503],
    ["broken: no answer", 503],
    ["worse is only what it answers", 200],
  ])("%s: %i", async (content, status) => {
    const { ask, upstream } = await serve(document(), judging, safety)
    expect((await ask(prompt(content)))[0]).toBe(status)
    const asked = upstream.requests.filter(({ url }) => url === "/chat")
    expect(asked.length).toBe(status === 200 ? 1 : 0)
  })

  test("what the service did not say is told", async () => {
    const { ask, served } = await serve(document(), judging, safety)
    await ask(prompt("mute: no judgement"))
    expect(served.log.at(-1)?.cause).toMatch(/response of the content safety service has no `[a-zA-Z. ]+`$/)
  })

  test("the service is asked for the text alone, with the backend's own credentials", async () => {
    const { ask, upstream } = await serve(document(), judging, safety)
    await ask(prompt("hello"))
    const [analysis, shield] = upstream.requests
    expect(analysis?.url).toBe("/judge/contentsafety/text:analyze?api-version=2024-09-01")
    expect(analysis?.headers.authorization).toBe(`Basic ${Buffer.from("u:s").toString("base64")}`)
    expect(JSON.parse(analysis?.body ?? "")).toEqual({
      text: "hello",
      categories: ["Hate"],
      blocklistNames: ["list"],
      haltOnBlocklistHit: false,
      outputType: "EightSeverityLevels",
    })
    expect(JSON.parse(shield?.body ?? "")).toEqual({ userPrompt: "hello", documents: [] })
  })

  test("an answer is held until it is judged", async () => {
    const { ask } = await serve(document(true), judging, safety)
    expect((await ask(prompt("hello")))[0]).toBe(200)
    const [status, body] = await ask(prompt("worse"))
    expect([status, body]).toEqual([403, expect.not.stringContaining("bad words")])
  })

  test("a long text is judged in pieces, all of them; one that is far too long is refused", async () => {
    const { ask, upstream } = await serve(document(), judging, safety)
    expect((await ask(prompt(`${"x".repeat(25_000)} bad`)))[0]).toBe(403)
    expect(upstream.requests.filter(({ url }) => url?.includes("text:analyze")).length).toBe(3)
    expect((await ask(prompt("x".repeat(1_000_001))))[0]).toBe(403)
    expect(upstream.requests.filter(({ url }) => url?.includes("text:analyze")).length).toBe(3)
  })
})

test("what is logged to a hub is sent there, and nobody waits for it", async () => {
  const { ask, upstream } = await serve(
    `<outbound><log-to-eventhub logger-id="audit">@("status " + context.Response.StatusCode)</log-to-eventhub></outbound>`,
    says("{}"),
    'xml { hub "audit" "UPSTREAM/audit/messages" }',
  )
  expect((await ask())[0]).toBe(200)
  await until(() => upstream.requests.length === 2)
  expect(upstream.requests.map(({ url, body }) => [url, body])).toContainEqual([
    "/audit/messages",
    "status 200",
  ])
})
