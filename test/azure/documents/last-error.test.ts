import { afterAll, beforeAll, expect, test } from "vitest"
import { startUpstream, type Upstream } from "../../gateway/harness.ts"
import { until } from "../../support/until.ts"
import { type Served, serveDocuments } from "./serving.ts"

const told = `<on-error>
  <set-header name="X-Error" exists-action="override"><value>@{
    var e = context.LastError;
    return string.Join("|", e.Source, e.Reason, e.Scope, e.Section, e.Path, e.PolicyId);
  }</value></set-header>
</on-error>`
const document = (inbound: string, rest = ""): string =>
  `<policies>\n<inbound>\n${inbound}\n</inbound>\n${rest}\n${told}\n</policies>`
const broken = '@(context.Request.Headers["None"][0])'

const documents: Readonly<Record<string, string>> = {
  "global.xml": `<policies><inbound>
  <choose><when condition="@(context.Request.Headers.ContainsKey("X-Global"))"><check-header id="global" name="X-None" failed-check-httpcode="403"/></when></choose>
</inbound>${told}</policies>`,
  "product.xml":
    '<policies><inbound><base /><ip-filter action="allow"><address>10.9.9.9</address></ip-filter></inbound></policies>',
  "api.xml": `<policies><inbound><base /><set-variable name="a" value="1" />
  <choose><when condition="@(context.Request.Headers.ContainsKey("X-Api"))"><check-header id=" the-one " name="X-None" failed-check-httpcode="403"/></when></choose>
</inbound></policies>`,
  "nested.xml": document(`<base />
<choose>
  <when condition="@(false)"><set-variable name="a" value="1" /></when>
  <when condition="@(true)">
    <choose><when condition="@(false)"><trace source="s">x</trace></when><otherwise>
      <set-header name="X-A" exists-action="override"><value>a</value></set-header>
      <set-header name="X-B" id="b" exists-action="override"><value>${broken}</value></set-header>
    </otherwise></choose>
  </when>
</choose>`),
  "condition.xml": document(`<choose>
  <when condition="@(context.Request.Headers.ContainsKey("X"))"></when>
  <when condition="@(context.Request.Headers["None"][0] == "x")"></when>
</choose>`),
  "twice.xml": document(
    `<set-variable name="a" value="${broken.replaceAll('"', "&quot;")}" />`
      .replace("<set", '<choose><when condition="@(!context.Request.Headers.ContainsKey("X-Second"))"><set')
      .concat(`</when></choose>
<set-variable name="a" value="${broken}" />`),
  ),
  "statements.xml": document(`<set-body>@{
  var first = context.Request.Headers.GetValueOrDefault("X", "");
  return first + ((string)context.Variables["none"]).Length;
}</set-body>`),
  "fragment.xml": document('<include-fragment fragment-id="part" />'),
  "part.xml": `<fragment>
  <trace source="s">x</trace>
  <set-header name="X-A"><value>${broken}</value></set-header>
</fragment>`,
  "wait.xml": document(`<wait for="all">
  <choose><when condition="@(true)"><set-variable name="a" value="1" /></when></choose>
  <choose><when condition="@(true)"><set-variable name="a" value="${broken}" /></when></choose>
</wait>`),
  "retry.xml": document(`<retry condition="@(false)" count="1" interval="0">
  <limit-concurrency key="k" max-count="9"><set-variable id="deep" name="a" value="${broken}" /></limit-concurrency>
</retry>`),
  "backend.xml": document(
    "",
    '<backend><set-backend-service base-url="http://127.0.0.1:9" /><forward-request id="f" /></backend>',
  ),
  "outbound.xml": document(
    "",
    `<outbound><set-header name="X-A"><value>${broken}</value></set-header></outbound>`,
  ),
  "key.xml": document(""),
}

let upstream: Upstream
let served: Served

beforeAll(async () => {
  upstream = await startUpstream()
  const names = Object.keys(documents).map((name) => name.slice(0, -4))
  const own = names.filter((name) => !["global", "product", "api", "part", "key"].includes(name))
  const conf = `gateway g { listen 127.0.0.1:8000; errors apim; policy xml "global.xml" }
secret k = env(KEY)
backend b { url "${upstream.url}" }
backend gone { url "http://127.0.0.1:9" }
xml { fragment "part" "part.xml" }
product gold { apis keyed; policy xml "product.xml" }
subscription acme { product gold; key k }
api a {
  path "/a"; backend b; auth none; policy xml "api.xml"
${own.map((name) => `  ANY "/${name}" { policy xml "${name}.xml" }`).join("\n")}
  GET "/native" { inbound { header set "X-A" "\${request.header("none").split(",")[3]}" } }
  GET "/told" { auth none; check header "X-Must"; on-error { header set "X-Native" "\${error.source}|\${error.scope}|\${error.path}|\${error.policy}" } }
  GET "/gone" { backend gone }
  GET "/plain" {}
}
api keyed { path "/keyed"; backend b; auth subscription; GET "/" {} }`
  served = await serveDocuments([["gateway.conf", conf], ...Object.entries(documents)], { KEY: "k-1" })
})

afterAll(async () => {
  await served.close()
  await upstream.close()
})

/** What `context.LastError` said, and how the log tells the cause. */
async function ask(
  path: string,
  headers: Record<string, string> = {},
): Promise<[number, string | null, string]> {
  const count = served.log.length
  const response = await fetch(`${served.url}${path}`, { headers })
  await response.arrayBuffer()
  await until(() => served.log.length > count)
  return [response.status, response.headers.get("x-error"), served.log[count]?.cause ?? ""]
}

const evaluation = "ExpressionValueEvaluationFailure"
const second = { "x-second": "1" }

test.each<[string, Record<string, string>, number, string | null, string]>([
  [
    ...(["/a/nested", {}, 500] as const),
    `set-header|${evaluation}|operation|inbound|choose[1]/when[2]/choose[1]/otherwise/set-header[2]|b`,
    "nested.xml:9:71: ",
  ],
  [
    "/a/condition",
    {},
    500,
    `choose|${evaluation}|operation|inbound|choose[1]/when[2]|`,
    "condition.xml:5:22: ",
  ],
  [
    ...(["/a/twice", {}, 500] as const),
    `set-variable|${evaluation}|operation|inbound|choose[1]/when[1]/set-variable[1]|`,
    "twice.xml:3:111: ",
  ],
  [
    "/a/twice",
    second,
    500,
    `set-variable|${evaluation}|operation|inbound|set-variable[1]|`,
    "twice.xml:4:33: ",
  ],
  [
    "/a/statements",
    {},
    500,
    `set-body|${evaluation}|operation|inbound|set-body[1]|`,
    "statements.xml:5:54: ",
  ],
  [
    ...(["/a/fragment", {}, 500] as const),
    `set-header|${evaluation}|operation|inbound|include-fragment[1]/set-header[1]|`,
    "part.xml:3:35: ",
  ],
  [
    ...(["/a/wait", {}, 500] as const),
    `set-variable|${evaluation}|operation|inbound|wait[1]/choose[2]/when[1]/set-variable[1]|`,
    "wait.xml:5:69: ",
  ],
  [
    ...(["/a/retry", {}, 500] as const),
    `set-variable|${evaluation}|operation|inbound|retry[1]/limit-concurrency[1]/set-variable[1]|deep`,
    "retry.xml:4:86: ",
  ],
  [
    ...(["/a/backend", {}, 502] as const),
    "forward-request|BackendConnectionFailure|operation|backend|forward-request[1]|f",
    "backend.xml:5: ECONNREFUSED",
  ],
  [
    "/a/outbound",
    {},
    500,
    `set-header|${evaluation}|operation|outbound|set-header[1]|`,
    "outbound.xml:5:43: ",
  ],
  [
    ...(["/a/nested", { "x-global": "1" }, 403] as const),
    "check-header|HeaderNotFound|global|inbound|choose[1]/when[1]/check-header[1]|global",
    "global.xml:2: ",
  ],
  [
    ...(["/a/plain", { "x-api": "1" }, 403] as const),
    "check-header|HeaderNotFound|api|inbound|choose[1]/when[1]/check-header[1]|the-one",
    "api.xml:2: ",
  ],
  [
    ...(["/keyed", { "ocp-apim-subscription-key": "k-1" }, 403] as const),
    "ip-filter|CallerIpNotAllowed|product|inbound|ip-filter[1]|",
    "product.xml:1: ",
  ],
  ["/keyed", {}, 401, "authorization|SubscriptionKeyNotFound||inbound||", "gateway.conf:24: "],
  [
    "/a/gone",
    {},
    502,
    "forward-request|BackendConnectionFailure||backend||",
    "gateway.conf:21: ECONNREFUSED",
  ],
  [
    "/a/native",
    {},
    400,
    "set-header|invalid-request||inbound||",
    "gateway.conf:19:49: expression: the index",
  ],
  ["/a/none", {}, 404, "configuration|OperationNotFound||inbound||", ""],
])("%s %j", async (path, headers, status, error, place) => {
  const [got, said, cause] = await ask(path, headers)
  expect([got, said]).toEqual([status, error])
  expect(cause.startsWith(place), cause).toBe(true)
  expect(cause === "").toBe(place === "")
})

test("native on-error is told the same of a document's policies, and nothing of native ones", async () => {
  const ofDocument = await fetch(`${served.url}/a/told`, { headers: { "x-api": "1", "x-must": "1" } })
  expect(ofDocument.headers.get("x-native")).toBe(
    "check-header|api|choose[1]/when[1]/check-header[1]|the-one",
  )
  const native = await fetch(`${served.url}/a/told`)
  expect(native.headers.get("x-native")).toBe("check-header|||")
})
