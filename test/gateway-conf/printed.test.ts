import { expect, test } from "vitest"
import { oneLine, type Printing } from "../../compiler/gateway/print.ts"
import { printStep } from "../../compiler/gateway/step-texts.ts"
import type { Plan } from "../../runtime/plan/plan.ts"
import type { Step } from "../../runtime/plan/steps.ts"
import { compiled } from "../diff/compiled.ts"

const project = (statement: string) =>
  compiled({
    "gateway.conf": `gateway acme {
  listen 127.0.0.1:8000 { tls { certificate c; client-certificate request { ca file("ca.pem") } } }
  trust none
}
certificate c { cert file("c.pem"); key file("c.key") }
secret client_secret = env(CLIENT_SECRET)
secret ann_password = env(ANN_PASSWORD)
issuer acme { discovery "https://id.example/.well-known/openid-configuration"; audience orders-api }
issuer other { discovery "https://other.example/.well-known/openid-configuration"; audience orders-api }
introspection tokens { url "https://id.example/introspect"; client "gateway" secret client_secret }
users partners { user ann ann_password }
oidc web { issuer acme; client "web"; session-keys client_secret }
backend one { url "http://127.0.0.1:9001" }
api orders {
  path "/orders"
  backend one
  ${/^auth/.test(statement) ? "" : "auth none"}
  ${statement}
  GET "/{id}"
}`,
  })

/** Prints the first step of a request as a statement; a part that the language lacks fails the test. */
function printed({ plan: body }: Plan, inSection: boolean): { readonly step: Step; readonly text: string } {
  const lacking: string[] = []
  const printing: Printing = {
    body,
    inSection,
    inside: (ids) => ids.map((id) => printStep(body.steps[id] as Step, printing)),
    header: (name) => name,
    lacks: (what) => lacking.push(what),
    refuses: (why) => lacking.push(why),
  }
  const [route] = Object.values(body.routes)
  const step = body.steps[route?.sections.inbound[0] ?? ""] as Step
  const text = oneLine(printStep(step, printing))
  expect(lacking).toEqual([])
  return { step, text }
}

const told = 'status 404; claim-status 400; message "no, ${request.method}"; output token'
const scope = [
  "auth jwt acme other",
  `auth jwt acme { claim scope has "a" "b"; claim scope has any "a" "\${request.method}"; claim "a b" is "c" separator none; claim sub separator ","; header "X-Token" scheme "Key"; audience a "b c"; issuer "https://x.example"; clock-skew 0s; expiration optional; ${told} }`,
  'auth jwt acme { from query "a b" forward; clock-skew 90s }',
  'auth jwt acme { from (request.header("x-a") + "a") }',
  "auth introspection tokens",
  `auth introspection tokens { from cookie "a"; claim sub; audience a; ${told} }`,
  "auth oidc web",
  'auth oidc web { claim groups has "staff"; forward id-token; status 404; claim-status 400; message "no, ${request.method}" }',
  "auth certificate",
  `auth certificate { subject "CN=a,O=b" "CN=c"; san dns "a.example"; san uri "spiffe://a"; issuer "CN=d"; thumbprint "${"ab".repeat(32)}"; status 403; message "no"; forward chain }`,
  "auth basic partners",
  'auth basic partners { realm "Acme $${x}"; status 403; message "no"; forward }',
  "auth hmac github client_secret",
  'auth hmac github client_secret ann_password { replay-guard for 1h; caller "git hub"; status 403; message "no" }',
  "auth hmac stripe client_secret { tolerance 90s; replay-guard }",
  "auth hmac slack client_secret { replay-guard for 1h }",
  'auth hmac standard client_secret { replay-guard header "Webhook-Id" for 1d }',
  'auth hmac custom client_secret { header "X-Sign" }',
  'auth hmac custom client_secret ann_password { header "X-Sign"; prefix "a "; separator semicolon; encoding base64; algorithm sha512; key base64; timestamp header "X-Time" milliseconds; tolerance 1m; signed "\t$${x}" method path query target host timestamp header:x-b body; replay-guard header "x-b" }',
  'auth hmac custom client_secret { header "X-Sign"; separator space; prefix "v="; timestamp prefix "t="; signed timestamp body }',
  "auth subscription",
  'auth subscription { header none; query "a b"; forward; status 403 }',
  'auth subscription { header "X-Key"; query none }',
  "cors { origins * }",
  'cors { origins "https://a.example" "https://*.b.example"; methods GET PUT; headers "X-A" "X-B"; expose *; credentials; max-age 90s; forward-unmatched }',
  'check header "X-Tenant"',
  'check header "X-Tenant" is "a" "${request.method}" { ignore-case; status 404; message "no" }',
  "allow ip 10.0.0.0/8 192.0.2.1 2001:db8::1 192.0.2.10-192.0.2.20",
  "deny ip 10.0.0.0/8",
]
const section = [
  'check jwt acme { claim scope has "a" }',
  'check any { jwt acme { claim scope has "a" }; jwt other { from query "t" } }',
]

test.each(scope)("the step of `%s` is printed as a statement that makes it again", (statement) => {
  const { step, text } = printed(project(statement), false)
  expect(printed(project(text), false).step).toEqual(step)
})

test.each(section)("the step of `%s` is printed as a statement of its section", (statement) => {
  const { step, text } = printed(project(`inbound { ${statement} }`), true)
  expect(text).toBe(statement)
  expect(printed(project(`inbound { ${text} }`), true).step).toEqual(step)
})
