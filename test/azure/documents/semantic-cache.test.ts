import { afterEach, expect, test } from "vitest"
import { type Answering, startUpstream, type Upstream } from "../../gateway/harness.ts"
import { serveDocuments } from "./serving.ts"

const open: { close(): Promise<void> }[] = []

afterEach(async () => {
  for (const each of open.splice(0).reverse()) await each.close()
})

/** Vectors by what is asked: two that are near, one that is far from both. */
const vectors: Readonly<Record<string, readonly number[] | string>> = {
  "capital of France?": [1, 0, 0],
  "What is the capital of France?": [0.98, 0.2, 0],
  "How old is the moon?": [0, 1, 0],
  "no answer": "down",
  "no vector": [],
}

function embeds(asked: string[]): Answering {
  return (request, response) => {
    const chunks: Buffer[] = []
    request.on("data", (chunk: Buffer) => chunks.push(chunk))
    request.on("end", () => {
      const { input } = JSON.parse(Buffer.concat(chunks).toString()) as { input: string }
      asked.push(input)
      const embedding = vectors[input.split("\n").at(-1) ?? ""] ?? [0, 0, 1]
      response.writeHead(embedding === "down" ? 500 : 200, { "content-type": "application/json" })
      response.end(JSON.stringify({ data: [{ embedding }] }))
    })
  }
}

/** A gateway with the document before a model that counts its answers; `asked` is what vectors were asked for. */
async function serve(inner = "", attributes = "", threshold = "0.05") {
  let answers = 0
  const model: Upstream = await startUpstream((request, response) => {
    request.resume().once("end", () => {
      answers += 1
      response.writeHead(200, { "content-type": "application/json" })
      response.end(JSON.stringify({ choices: [{ message: { content: `answer ${answers}` } }] }))
    })
  })
  const asked: string[] = []
  const embeddings = await startUpstream(embeds(asked))
  open.push(model, embeddings)
  const served = await serveDocuments([
    [
      "gateway.conf",
      `gateway g { listen 127.0.0.1:8000 }
backend model { url "${model.url}" }
backend embeddings { url "${embeddings.url}/embed" }
api a { path "/a"; backend model; auth none; policy xml "doc.xml"; ANY "/{rest*}" {} }`,
    ],
    [
      "doc.xml",
      `<policies><inbound><llm-semantic-cache-lookup score-threshold="${threshold}" embeddings-backend-id="embeddings" ${attributes}>${inner}</llm-semantic-cache-lookup></inbound>
<outbound><llm-semantic-cache-store duration="60" /></outbound></policies>`,
    ],
  ])
  open.push(served)
  const ask = async (content: string, more: object = {}, headers: Record<string, string> = {}) => {
    const response = await fetch(`${served.url}/a/chat`, {
      method: "POST",
      headers: { "content-type": "application/json", ...headers },
      body: JSON.stringify({ messages: [{ role: "user", content }], ...more }),
    })
    const text = await response.text()
    return /answer \d+/.exec(text)?.[0] ?? `${response.status} ${text}`
  }
  return { ask, asked, embeddings, served }
}

test("a prompt that is near gets the answer that is kept, one that is far its own", async () => {
  const { ask, embeddings } = await serve()
  expect(await ask("capital of France?")).toBe("answer 1")
  expect(await ask("What is the capital of France?")).toBe("answer 1")
  expect(await ask("How old is the moon?")).toBe("answer 2")
  expect(await ask("How old is the moon?")).toBe("answer 2")
  expect(embeddings.requests[0]).toMatchObject({ method: "POST", url: "/embed" })
})

test("the threshold is how far prompts may be from each other", async () => {
  const { ask } = await serve("", "", "0.001")
  expect(await ask("capital of France?")).toBe("answer 1")
  expect(await ask("What is the capital of France?")).toBe("answer 2")
  expect(await ask("capital of France?")).toBe("answer 1")
})

test("what differs in anything but the prompt, or in what `vary-by` says, shares nothing", async () => {
  const { ask } = await serve(
    `<vary-by>@(context.Request.Headers.GetValueOrDefault("X-User", ""))</vary-by><vary-by>@(context.Request.Headers.GetValueOrDefault("X-Team", ""))</vary-by>`,
  )
  const users = [
    { "x-user": "ann" },
    { "x-user": "bob" },
    // No value runs into the next.
    { "x-user": `a","b`, "x-team": "c" },
    { "x-user": "a", "x-team": `b","c` },
  ]
  for (const [index, user] of users.entries())
    expect(await ask("capital of France?", {}, user as never)).toBe(`answer ${index + 1}`)
  expect(await ask("capital of France?", {}, { "x-user": "ann" })).toBe("answer 1")
  expect(await ask("capital of France?", { model: "other" }, { "x-user": "ann" })).toBe("answer 5")
  expect(await ask("capital of France?", { model: "other" }, { "x-user": "ann" })).toBe("answer 5")
})

test("system messages are heeded, or not, as the document says", async () => {
  const other = {
    messages: [
      { role: "system", content: "Be brief." },
      { role: "user", content: "capital of France?" },
    ],
  }
  const heeding = await serve()
  expect(await heeding.ask("", other)).toBe("answer 1")
  expect(heeding.asked).toEqual(["Be brief.\ncapital of France?"])
  const ignoring = await serve("", 'ignore-system-messages="true"')
  expect([await ignoring.ask("", other), await ignoring.ask("capital of France?")]).toEqual([
    "answer 1",
    "answer 1",
  ])
  expect(ignoring.asked).toEqual(["capital of France?", "capital of France?"])
})

test("streams, long conversations, images, other methods and other bodies are asked anew, and no vector is", async () => {
  const { ask, asked, served } = await serve("", 'max-message-count="1"')
  const message = { role: "user", content: "capital of France?" }
  const image = {
    role: "user",
    content: [{ type: "image_url", image_url: { url: "data:image/png;base64,AA" } }],
  }
  const odd = [
    { stream: true },
    { messages: [message, message] },
    { messages: [image] },
    { messages: "none" },
    { messages: [] },
  ]
  for (const [index, more] of odd.entries())
    expect(await ask("capital of France?", more)).toBe(`answer ${index + 1}`)
  for (const method of ["GET", "PUT"])
    expect((await fetch(`${served.url}/a/chat`, { method })).status).toBe(200)
  expect(asked).toEqual([])
})

test("without a vector the call goes on as if there were no cache, and the log says why", async () => {
  const { ask, embeddings, served } = await serve()
  expect([await ask("no answer"), await ask("no answer")]).toEqual(["answer 1", "answer 2"])
  expect(served.traces.map(({ message }) => message)).toEqual(
    Array.from({ length: 2 }, () => "`embeddings` returned no vector for the prompt: it responded with 500"),
  )
  expect([await ask("no vector"), await ask("no vector")]).toEqual(["answer 3", "answer 4"])
  await embeddings.close()
  expect([await ask("capital of France?"), await ask("capital of France?")]).toEqual(["answer 5", "answer 6"])
})
