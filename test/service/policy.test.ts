import { expect, test } from "vitest"
import { MemoryFiles } from "../../compiler/core/files.ts"
import { LanguageService } from "../../compiler/service/language-service.ts"

const conf = `value region = "eu"
secret key = env(KEY)
backend orders { url "http://127.0.0.1:9001" }
`

function opened(text: string) {
  const service = new LanguageService(new MemoryFiles([["gateway.conf", conf]]), "gateway.conf")
  service.set("a.xml", text.replace("│", ""))
  return { service, offset: text.indexOf("│") }
}

async function proposed(text: string) {
  const { service, offset } = opened(text)
  return service.completion("a.xml", offset)
}

test.each<[what: string, text: string, labels: string[], not: string[]]>([
  ["the root", "<│", ["policies", "fragment"], ["inbound"]],
  ["sections", "<policies>\n  <│", ["inbound", "backend", "outbound", "on-error"], ["set-header"]],
  [
    "policies of a section",
    "<policies><inbound>\n<ra│",
    ["rate-limit", "set-header", "base"],
    ["forward-request", "value"],
  ],
  [
    "policies behind another",
    "<policies><inbound><set-method>GET</set-method><base /><│",
    ["choose"],
    ["inbound"],
  ],
  ["children", "<policies><inbound><choose><│", ["when", "otherwise"], ["set-header"]],
  [
    "policies inside of a child",
    '<policies><inbound><choose><when condition="@(true)"><│',
    ["set-header"],
    ["when"],
  ],
  ["attributes", '<policies><inbound><rate-limit calls="5" │', ["renewal-period"], ["calls", "name"]],
  ["values of flags", '<policies><inbound><check-header ignore-case="│', ["true", "false"], ["name"]],
  ["values", '<policies><inbound><set-header name="a" exists-action="│', ["override", "skip"], ["name"]],
  ["the end of an element", "<policies><inbound></│", ["inbound"], ["policies"]],
  ["policies of a fragment", "<fragment><│", ["set-header"], ["inbound", "base"]],
  ["named values", "<policies><inbound><set-body>{{│", ["region", "key"], ["orders"]],
  ["backends", '<policies><inbound><set-backend-service backend-id="│"', ["orders"], ["region"]],
  ["nothing in a comment", "<policies><!-- <│", [], ["inbound"]],
])("a policy document: %s", async (_, text, labels, not) => {
  const found = (await proposed(text)).map(({ label }) => label)
  expect(found).toEqual(expect.arrayContaining(labels))
  for (const label of not) expect(found).not.toContain(label)
  if (labels.length === 0) expect(found).toEqual([])
})

test.each<[what: string, text: string, span: string, says: string[], not: string[]]>([
  [
    "a policy",
    '<policies><inbound><rate│-limit calls="5" renewal-period="60" /></inbound></policies>',
    "rate-limit",
    [
      '<rate-limit calls="…" renewal-period="…">',
      "Limits the calls of each subscription",
      "Allowed in `inbound`.",
      "- `calls`: required; a whole number from 1 to 1000000000; must be known when the plan is made.",
      "Contains `<api>` (any number).",
      "sallyport docs azure-policies",
    ],
    ["`outbound`"],
  ],
  [
    "a policy inside of another, behind a mistake",
    '<policies><inbound><choose><when condition="@(a < 3)"><set-header│ name=',
    "set-header",
    ["one of `override`, `skip`, `append`, `delete`; default `override`; an expression `@(…)` is allowed"],
    [],
  ],
  [
    "an element of a policy",
    "<policies><outbound><set-header><val│ue>a</value>",
    "value",
    ["Contains text, which may be an expression"],
    ["Allowed in"],
  ],
  [
    "an attribute",
    '<policies>\n<backend><forward-request timeout="5" fail-on-error-status│-code="true" />',
    "fail-on-error-status-code",
    ["optional; one of `true`, `false`; default `false`"],
    ["Allowed in"],
  ],
  [
    "an attribute with a number",
    '<policies><inbound><rate-limit-by-key renewal│-period="60" />',
    "renewal-period",
    ["required; a whole number from 1 to 2147483647; an expression `@(…)` is allowed"],
    [],
  ],
  [
    "an element with numbers",
    "<policies><inbound><re│try>",
    "retry",
    ["- `count`: required; a whole number from 1 to 50; an expression", "- `condition`: required; an expr"],
    [],
  ],
  ["the end of an element", "<policies><inbound></inb│ound>", "inbound", ["Runs before the request"], []],
  [
    "a policy that cannot be",
    "<fragment><prox│y url='a' />",
    "proxy",
    ["Not supported: an outgoing proxy"],
    [],
  ],
  ["an inclusion", "<fragment><include-│fragment />", "include-fragment", ["- `fragment-id`: required"], []],
])("hover of a policy document: %s", async (_, text, span, says, not) => {
  const { service, offset } = opened(text)
  const found = await service.hover("a.xml", offset)
  expect(found?.span.file.text.slice(found.span.start, found.span.end)).toBe(span)
  for (const each of says) expect(found?.markdown).toContain(each)
  for (const each of not) expect(found?.markdown).not.toContain(each)
})

test.each([
  "<policies><!-- rate│-limit -->",
  "<policies><inbound><base />  │ ",
  '<policies><other na│me="a" />',
])("no hover of a policy document: %s", async (text) => {
  const { service, offset } = opened(text)
  expect(await service.hover("a.xml", offset)).toBeUndefined()
})
