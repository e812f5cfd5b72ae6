import { expect, test } from "vitest"
import { oneLine, type Printing } from "../../compiler/gateway/print.ts"
import { printStep } from "../../compiler/gateway/step-texts.ts"
import type { Step, StepKind } from "../../runtime/plan/steps.ts"
import { compiled } from "../diff/compiled.ts"

// Statements that judge messages, keep and tell things, ask others and choose the backend: what is printed makes the step again.

const project = (section: string, statement: string) =>
  compiled({
    "gateway.conf": `gateway acme {
  listen 127.0.0.1:8000
  trust none
}
secret partner = env(PARTNER)
certificate edge { cert file("certs/edge.pem"); key file("certs/edge.key") }
token stock { url "https://id.example/token"; client "gateway" secret partner }
backend one { url "http://127.0.0.1:9001" }
backend two { url "http://127.0.0.1:9002" }
api orders {
  path "/orders"
  auth none
  backend one
  GET "/{id}" {
    ${section} { ${statement} }
    ${statement.startsWith("cache lookup") ? "outbound { cache store 1h }" : ""}
    ${statement.startsWith("cache store") ? "inbound { cache lookup }" : ""}
  }
}`,
  })

function printed(section: string, statement: string, kind: StepKind) {
  const { plan: body } = project(section, statement)
  const lacking: string[] = []
  const printing: Printing = {
    body,
    inSection: true,
    inside: (ids) => ids.map((id) => printStep(body.steps[id] as Step, printing)),
    header: (name) => name,
    lacks: (what) => lacking.push(what),
    refuses: (why) => lacking.push(why),
  }
  const { sections } = Object.values(body.routes)[0] ?? {}
  const steps = (section === "inbound" ? sections?.inbound : sections?.outbound)?.map((id) => body.steps[id])
  const step = steps?.find((each) => each?.kind === kind)
  if (step === undefined) throw new Error(`no step of ${kind}`)
  const text = oneLine(printStep(step, printing))
  expect(lacking).toEqual([])
  return { step, text }
}

const rows: readonly (readonly [StepKind, "inbound" | "outbound", string])[] = [
  ["validate-status", "outbound", "validate status prevent { allow 200 4xx; detect 404; errors found }"],
  ["validate-status", "outbound", "validate status detect { prevent 5xx 418 }"],
  ["validate-status", "outbound", "validate status detect { }"],
  ["validate-headers", "outbound", 'validate headers detect { allow "x-a" "x-b"; prevent "x-c" }'],
  [
    "validate-headers",
    "outbound",
    'validate headers prevent { require "x-a"; detect "x-d"; others ignore; errors found }',
  ],
  [
    "validate-content",
    "inbound",
    'validate content detect { json "application/json" prevent; xml detect; map "a/b" to "text/xml"; map (request.method == "PUT") to "c/d"; map missing to "e/f"; map any to "g/h"; size 3MB prevent; errors found }',
  ],
  [
    "validate-graphql",
    "inbound",
    "validate graphql prevent { depth 8; fields 200; introspection deny; errors found }",
  ],
  ["validate-graphql", "inbound", "validate graphql detect { }"],
  ["validate-content", "outbound", "validate content prevent { soap ignore; size 1000000B prevent }"],
  ["trace", "inbound", 'trace "no stock for ${path.id}" as error'],
  ["trace", "outbound", 'trace "done"'],
  ["metric", "inbound", 'metric orders (2) { label tenant "${request.method}"; label state "new" }'],
  ["metric", "inbound", "metric orders"],
  ["metric", "outbound", "metric orders tokens total"],
  ["cache-lookup", "inbound", "cache lookup"],
  [
    "cache-lookup",
    "inbound",
    'cache lookup { vary header "accept" "x-b"; vary query "a" "b"; key "${request.ip}"; shared; downstream private must-revalidate; coalesce }',
  ],
  ["cache-lookup", "inbound", "cache lookup { vary query none; downstream public }"],
  ["cache-store", "outbound", "cache store 90s when (response.status < 300)"],
  ["cache-store", "outbound", 'cache store (duration("5m"))'],
  ["cache-get", "inbound", 'cache get rates "rates ${path.id}" default ({})'],
  ["cache-get", "inbound", 'cache get rates "rates"'],
  ["cache-set", "inbound", 'cache set "last" (request.method) for 1h'],
  ["cache-set", "inbound", 'cache set "last" "one" for (60)'],
  ["cache-remove", "inbound", 'cache remove "last ${path.id}"'],
  ["cache-value", "inbound", 'cache value rates "rates" for 8h { set rates "1"; metric made }'],
  ["set-backend", "inbound", "backend two"],
  ["set-backend", "inbound", 'backend "https://a.example/${path.id}"'],
  ["set-backend", "inbound", 'backend "${request.header("X-To")}" raw'],
  ["mirror", "inbound", "mirror two 0.5% { body 1MB; concurrency 20; timeout 5s; credentials }"],
  ["mirror", "inbound", "mirror two"],
  ["set-backend", "inbound", "backend weighted { backend one weight 95; backend two weight 5 }"],
  ["set-backend", "inbound", 'backend weighted { backend one weight 1; sticky cookie "side" for 30d }'],
  ["set-backend", "inbound", 'backend weighted by "${request.ip}" { backend one weight 1 }'],
  [
    "set-backend",
    "inbound",
    'backend by "${request.header("X-To")}" { case "a \\"b\\"" one; case "c" two; otherwise one }',
  ],
  ["set-backend", "inbound", 'backend by "${request.header("X-To")}" { case "c" two; refuse-others }'],
  ["authenticate", "inbound", 'authenticate basic "gateway" "${partner}"'],
  ["authenticate", "inbound", 'authenticate bearer "${partner}"'],
  ["authenticate", "inbound", "authenticate token stock as ours"],
  ["authenticate", "inbound", "authenticate certificate edge"],
  [
    "send-request",
    "inbound",
    'send reply { copy; url "https://a.example/${path.id}"; method "PUT"; header "x-a" "1" "2"; body json "{\\"a\\": 1}"; authenticate token stock; timeout 5s; ignore-error }',
  ],
  ["send-request", "inbound", 'send and forget { url "https://a.example/"; timeout (request.body.wait) }'],
]

test.each(rows)("a step of %s in %s is printed as `%s`", (kind, section, statement) => {
  const { step, text } = printed(section, statement, kind)
  expect(printed(section, text, kind).step).toEqual(step)
  expect(text).toBe(statement)
})
