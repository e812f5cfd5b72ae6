// The longest turn of the event loop that one request makes, for each kind of step that works on bodies, with the largest and most hostile bodies that default limits let through.
// What counts is the processor time of the gateway's thread: a busy machine makes no turn longer. Caller and backend are another process.
import { fork } from "node:child_process"
import { once } from "node:events"
import { fileURLToPath } from "node:url"
import { MemoryFiles } from "../../compiler/core/files.ts"
import { compile } from "../compile.ts"
import { startGateway } from "../gateway/harness.ts"
import { freePort } from "../support/free-port.ts"
import { longestTurn } from "./turns/own-turns.ts"
import { type Asked, playPeer } from "./turns/peer.ts"

const barMs = 20
const rounds = 3
const megabyte = 2 ** 20

const documentOf = (inbound: string) =>
  `<policies><inbound><base />${inbound}</inbound><backend><base /></backend><outbound><base /></outbound><on-error><base /></on-error></policies>`

const documents: readonly [string, string][] = [
  [
    "forms.yaml",
    `openapi: 3.1.0
info: { title: Forms, version: "1" }
paths:
  /form: { post: { requestBody: { content: { application/x-www-form-urlencoded: { schema: { $ref: "#/components/schemas/Any" } } } }, responses: { "200": { description: ok } } } }
  /multipart: { post: { requestBody: { content: { multipart/form-data: { schema: { $ref: "#/components/schemas/Any" } } } }, responses: { "200": { description: ok } } } }
components:
  schemas:
    Any: { type: object, properties: { list: { type: array, items: { type: integer } } }, additionalProperties: { type: string, pattern: "^[a-z0-9]*$" } }
`,
  ],
  [
    "schema.json",
    '{"$defs":{"any":{"type":["array","object","string"],"items":{"anyOf":[{"type":"string"},{"type":["integer","object"],"required":["id"]}]}},"pattern":{"pattern":"(?:[^x]+y?)*z"}}}',
  ],
  [
    "csharp.xml",
    documentOf(
      '<set-variable name="n" value="@(context.Request.Body.As<JToken>(preserveContent: true).ToString().Length)" />',
    ),
  ],
  [
    "csharp-xml.xml",
    documentOf(
      '<set-variable name="n" value="@(context.Request.Body.As<XElement>(preserveContent: true).ToString().Length)" />',
    ),
  ],
  [
    "loop.xml",
    documentOf(
      '<set-variable name="n" value="@{ var n = 0; for (var i = 0; i < 100000000; i++) { n += i % 7; } return n; }" />',
    ),
  ],
  [
    "pattern.xml",
    documentOf(
      '<set-variable name="n" value="@(Regex.Replace(context.Request.Body.As<string>(preserveContent: true), &quot;a.*b|a&quot;, &quot;x&quot;).Length)" />',
    ),
  ],
]

const files = (port: number, backend: number): [string, string][] => [
  [
    "gateway.conf",
    `gateway g { listen 127.0.0.1:${port}; trust none }
backend b { url "http://127.0.0.1:${backend}" }
api a {
  path "/"
  auth none
  backend b
  POST "/stream"
  POST "/json-to-xml" { inbound { body json-to-xml { always } } }
  POST "/xml-to-json" { inbound { body xml-to-json { always } } }
  POST "/replace" { inbound { body replace "a" with "bb" } }
  POST "/member" { inbound { when (request.body.id == 1) { header set "X-Id" "1" } } }
  POST "/set" { inbound { body set json ({"is": request.body}) } }
  POST "/liquid" { inbound { body set "text/plain" liquid "{% for i in body %}{{ i }},{% endfor %}" } }
  POST "/range" { inbound { body set "text/plain" liquid "{% for i in (1..450000) %}x{% endfor %}" } }
  POST "/schema" { inbound { validate content { json { schema "schema.json" "#/$defs/any" } } } }
  POST "/pattern" { inbound { validate content { json { schema "schema.json" "#/$defs/pattern" } } } }
  POST "/xml" { inbound { validate content { xml "application/xml" } } }
  POST "/list" { inbound { when (request.body.filter(i, i != 2).map(i, [i, i]).size() == 1) { header set "X-Id" "1" } } }
  POST "/repeated" { inbound { body set json ({"a": [request.body, request.body, request.body, request.body, request.body, request.body, request.body, request.body]}) } }
  POST "/tokens" { inbound { limit 1000000000 per 1m by "all" { count tokens estimated } } }
  POST "/answer/tokens" { inbound { limit 1000000000 per 1m by "answers" { count tokens reported } } }
  POST "/answer/jsonp" { outbound { body jsonp "cb" } }
  POST "/csharp" { policy xml "csharp.xml" }
  POST "/csharp-xml" { policy xml "csharp-xml.xml" }
  POST "/csharp-loop" { policy xml "loop.xml" }
  POST "/csharp-pattern" { policy xml "pattern.xml" }
  POST "/answer/to-xml" { outbound { body json-to-xml { always } } }
  POST "/answer/member" { outbound { when (response.body.id == 1) { header set "X-Id" "1" } } }
  POST "/answer/replace" { outbound { body replace "a" with "bb" } }
  POST "/answer/mask" { outbound { body mask-urls } }
}
api forms { path "/"; auth none; backend b; openapi "forms.yaml"; validate request }
`,
  ],
  ...documents,
]

const json = ["numbers", "objects", "names", "records", "text", "quotes", "deep"]
/** Path, kinds of bodies, their bytes; those of JSON that is read here are as many as its values allow. */
const cases: readonly [path: string, kinds: readonly string[], bytes: readonly number[]][] = [
  ["/stream", ["plain"], [10 * megabyte]],
  ["/json-to-xml", json, [2 * megabyte]],
  ["/xml-to-json", ["elements", "mixed"], [megabyte]],
  ["/replace", ["plain"], [2 * megabyte]],
  ["/member", json, [120_000, 320_000, 2 * megabyte]],
  ["/set", json, [120_000, 320_000]],
  ["/liquid", ["numbers", "records", "elements"], [120_000, megabyte]],
  ["/range", ["plain"], [10]],
  ["/schema", json, [120_000, 320_000, 2 * megabyte]],
  ["/pattern", ["text", "quotes"], [120_000, 2 * megabyte]],
  ["/list", ["numbers", "records"], [120_000, 320_000]],
  ["/repeated", ["numbers", "records", "text"], [120_000, 320_000, 2 * megabyte]],
  ["/form", ["pairs", "same"], [120_000, 2 * megabyte]],
  ["/multipart", ["parts", "part"], [120_000, 2 * megabyte]],
  ["/tokens", ["records", "text", "chat"], [320_000, 2 * megabyte]],
  ["/xml", ["elements"], [megabyte]],
  ["/csharp", json, [120_000, 320_000, 2 * megabyte]],
  ["/csharp-xml", ["elements", "mixed"], [74_000, megabyte]],
  ["/csharp-loop", ["plain"], [10]],
  ["/csharp-pattern", ["plain"], [100_000, 2 * megabyte]],
  ["/answer/to-xml", ["numbers"], [2 * megabyte]],
  ["/answer/member", ["names", "text"], [320_000, 2 * megabyte]],
  ["/answer/tokens", ["records", "text"], [320_000, 2 * megabyte]],
  ["/answer/jsonp?cb=x", ["records", "text"], [320_000, 2 * megabyte]],
  ["/answer/replace", ["plain"], [2 * megabyte]],
  ["/answer/mask", ["plain", "records"], [2 * megabyte]],
]

async function measure(): Promise<void> {
  const peer = fork(fileURLToPath(import.meta.url), ["peer"])
  const said = async () => (await once(peer, "message"))[0] as number
  const backend = await said()
  const port = await freePort()
  const { plan, diagnostics } = compile(new MemoryFiles(files(port, backend)), "gateway.conf")
  if (plan === undefined) throw new Error(JSON.stringify(diagnostics, undefined, 1))
  const running = await startGateway({ routes: [], port })
  await running.gateway.apply(plan)
  for (const [path, kinds, sizes] of cases)
    for (const kind of kinds)
      for (const bytes of sizes) {
        let status = 0
        const turns: number[] = []
        for (let round = 0; round < rounds; round += 1)
          turns.push(
            await longestTurn(async () => {
              peer.send({ port, path, body: kind, bytes } satisfies Asked)
              status = await said()
            }),
          )
        // The first request also compiles: every process has it once.
        const value = Number(Math.min(...turns.slice(1)).toFixed(1))
        const spread = turns.map((each) => each.toFixed(0)).join(" ")
        const what = `${path} ${kind} ${bytes}`
        console.log(
          JSON.stringify({ what, value, unit: "ms", spread, status, bar: `≤ ${barMs}`, ok: value <= barMs }),
        )
      }
  peer.kill()
  await running.close()
}

if (process.argv[2] === "peer") playPeer()
else await measure()
