import { expect, test } from "vitest"
import { MemoryFiles } from "../../compiler/core/files.ts"
import { LanguageService } from "../../compiler/service/language-service.ts"

async function proposed(text: string) {
  const service = new LanguageService(new MemoryFiles([["gateway.conf", ""]]), "gateway.conf")
  service.set("a.xml", text.replace("│", ""))
  return service.completion("a.xml", text.indexOf("│"))
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
  ["values", '<policies><inbound><set-header name="a" exists-action="│', ["override", "skip"], ["name"]],
  ["the end of an element", "<policies><inbound></│", ["inbound"], ["policies"]],
  ["policies of a fragment", "<fragment><│", ["set-header"], ["inbound", "base"]],
  ["nothing in a comment", "<policies><!-- <│", [], ["inbound"]],
])("a policy document: %s", async (_, text, labels, not) => {
  const found = (await proposed(text)).map(({ label }) => label)
  expect(found).toEqual(expect.arrayContaining(labels))
  for (const label of not) expect(found).not.toContain(label)
  if (labels.length === 0) expect(found).toEqual([])
})
