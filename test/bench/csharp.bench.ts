import type { IncomingMessage, ServerResponse } from "node:http"
import { compileCsharp } from "../../compiler/azure/csharp/compile-csharp.ts"
import { azure } from "../../runtime/azure/wing.ts"
import { declareEnvironment } from "../../runtime/expression/environment.ts"
import { anyRequestContext } from "../../runtime/expression/request-context.ts"
import type { Intake } from "../../runtime/gateway/exchange/intake.ts"
import { LiveExchange } from "../../runtime/gateway/exchange/live-exchange.ts"
import { LiveResponse } from "../../runtime/gateway/exchange/live-response.ts"
import type { Generation } from "../../runtime/gateway/generation/generation.ts"
import { systemClock } from "../../runtime/policies/clock.ts"
import { HeaderList } from "../../runtime/policies/messages/header-list.ts"
import type { Provision } from "../../runtime/policies/policy.ts"
import { compileValue } from "../../runtime/policies/values/value.ts"
import { compare, must } from "./side-by-side.ts"

// The same value by an expression of a policy document (C#) and by one of gateway.conf (CEL), over an exchange of the gateway, round by round in turn:
// the first expression of a request, and one more of a request.

const measuring = { roundMs: 100, warmUps: 2, unit: "× CEL", least: 0.7 }

const pairs: readonly [name: string, csharp: string, cel: string, value: unknown][] = [
  [
    "a header compared",
    'context.Request.Headers.GetValueOrDefault("X-Mode","") == "1"',
    'request.header("X-Mode") == "1"',
    true,
  ],
  ["a variable", '(string)context.Variables["x"]', "var.x", "abc"],
  ["a status", "context.Response.StatusCode >= 400", "response.status >= 400", true],
  [
    "a text of two values",
    '$"{context.Request.Method}-{context.Request.Url.Path}"',
    'request.method + "-" + request.path',
    "GET-/orders/17",
  ],
  [
    "a query parameter",
    'context.Request.Url.Query.GetValueOrDefault("a","").StartsWith("b")',
    'request.query("a").startsWith("b")',
    true,
  ],
  [
    "a condition of three",
    'context.Request.Method == "GET" && context.Request.Headers.GetValueOrDefault("X-Mode", "") != "2" && context.Variables.GetValueOrDefault<string>("x") == "abc"',
    'request.method == "GET" && request.header("X-Mode") != "2" && var.x == "abc"',
    true,
  ],
  [
    "a parameter of the path",
    'context.Request.MatchedParameters["id"] + ":" + context.Request.IpAddress',
    'path.id + ":" + request.ip',
    "17:10.1.2.3",
  ],
  [
    "a choice",
    'context.Request.Headers.GetValueOrDefault("X-Mode", "") == "" ? "none" : context.Request.Headers.GetValueOrDefault("Accept", "").Contains("json") ? "json" : "other"',
    'request.header("X-Mode") == "" ? "none" : request.header("Accept").contains("json") ? "json" : "other"',
    "json",
  ],
]

const intake: Intake = {
  path: "/orders/17",
  query: "a=bc&page=2",
  authority: "api.example.org",
  scheme: "https",
  ip: "10.1.2.3",
  requestId: undefined,
  context: undefined,
  trusted: false,
  headers: [
    ["host", "api.example.org"],
    ["user-agent", "bench/1.0"],
    ["accept", "application/json"],
    ["accept-encoding", "gzip"],
    ["content-type", "application/json"],
    ["x-mode", "1"],
    ["x-request-id", "17"],
    ["cookie", "a=b"],
  ].flat(),
  body: "none",
  sentLength: undefined,
  cameBy: undefined,
  expectsContinue: false,
  wantsWebSocket: false,
  takesTrailers: false,
}

const generation = { values: new Map(), gatewayView: { name: "bench", state: "serving" } }
const incoming = {
  request: { method: "GET" } as IncomingMessage,
  reply: {} as ServerResponse,
  upgrade: undefined,
  listener: { closing: false, transport: {} },
}

function exchange(): LiveExchange {
  const made = new LiveExchange(
    incoming,
    generation as unknown as Generation,
    { clock: systemClock } as ConstructorParameters<typeof LiveExchange>[2],
    "0f8fad5b-d9cb-469f-a165-70867728950e",
  )
  made.take(intake)
  made.parameters = { id: "17" }
  made.variables.set("x", "abc")
  made.response = LiveResponse.whole({ status: 404, headers: new HeaderList([]), body: undefined })
  return made
}

const environment = declareEnvironment(anyRequestContext([]))
const provision: Pick<Provision, "need" | "environment" | "azure" | "traceLog"> = {
  azure: () => azure,
  need: () => undefined,
  environment: () => environment,
  traceLog: () => ({ write: () => undefined }),
}

function compiled(csharp: string, cel: string) {
  const made = compileCsharp({ text: csharp, at: (offset) => offset }, "expression", { section: "outbound" })
  if ("findings" in made) throw new Error(made.findings[0]?.message)
  const { program, type } = made
  return {
    ours: compileValue({ lang: "cs", text: csharp, type, program }, provision as Provision),
    theirs: compileValue({ lang: "cel", text: cel, type: "dyn" }, provision as Provision),
  }
}

const all = pairs.map(([name, csharp, cel, value]) => ({
  name,
  csharp,
  cel,
  value,
  ...compiled(csharp, cel),
}))

// Everything once before anything is measured: what only one expression uses is not faster for it.
const warm = exchange()
for (let turn = 0; turn < 2000; turn++)
  for (const { ours, theirs, value, csharp, cel } of all) {
    must(ours(warm), value, csharp)
    must(theirs(warm), value, cel)
  }

for (const { name, csharp, cel, value, ours, theirs } of all) {
  compare(
    `C#: ${name}, one more of a request`,
    () => must(ours(warm), value, csharp),
    () => must(theirs(warm), value, cel),
    measuring,
  )
  compare(
    `C#: ${name}, the first of a request`,
    () => must(ours(exchange()), value, csharp),
    () => must(theirs(exchange()), value, cel),
    measuring,
  )
}
