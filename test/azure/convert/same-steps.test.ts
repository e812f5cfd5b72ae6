import { readdirSync, readFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { describe, expect, test } from "vitest"
import type { PolicyConversion } from "../../../compiler/azure/convert/convert-policy.ts"
import { withGateway } from "../../../compiler/azure/convert/proof.ts"
import { firstDifference } from "../../../compiler/azure/convert/same-steps.ts"
import { MemoryFiles } from "../../../compiler/core/files.ts"
import { compile } from "../../compile.ts"
import { conformanceFiles, conformanceText, describeConformance } from "../../model/conformance.ts"
import { reduced } from "../../support/random-run.ts"
import { converted } from "./converted.ts"
import { Chance } from "./exchanges.ts"

/** The first policy whose statement, in this text, is another step than the policy itself. */
function differenceIn(made: PolicyConversion, text: string): string | undefined {
  const files = new MemoryFiles([["gateway.conf", withGateway(text, "orders", made)]])
  const { plan, diagnostics } = compile(files, "gateway.conf")
  if (plan === undefined)
    throw new Error(diagnostics.map(({ code, detail }) => `${code} ${detail}`).join("; "))
  return firstDifference(made.sections, plan)?.name
}

/** What the text means is what the document means, but for what is left out; and no statement had to be left out because it would be another step. */
function expectSame(path: string, text: string, fragments?: ReadonlyMap<string, string>): void {
  const made = converted(path, text, fragments)
  if (made === undefined) return
  expect(differenceIn(made, made.text)).toBeUndefined()
  expect(made.losses.filter(({ reason }) => reason.endsWith("would say something else"))).toEqual([])
}

describeConformance("public documents as text make the same steps", () => {
  const files = conformanceFiles("apim").filter((path) => path.endsWith(".xml"))
  test.each(files)("%s", (path) => expectSame(path, conformanceText(path)))
})

const found = ["policy-xml", "policy-convert"].flatMap((folder) => {
  const path = fileURLToPath(new URL(`../../cases/${folder}/`, import.meta.url))
  return readdirSync(path).map((name) => [`${folder}/${name}`, readFileSync(path + name, "utf8")] as const)
})
const documents = found.flatMap(([name, text]) => {
  const files = new Map<string, string>()
  const parts = text.split(/^-- (\S+) --\n/m)
  for (let at = 1; at < parts.length; at += 2) files.set(parts[at] as string, parts[at + 1] as string)
  const policy = files.get("policy.xml")
  const fragments = new Map(
    [...files].flatMap(([file, source]) =>
      file.endsWith(".xml") && file !== "policy.xml" ? [[file.replace(/\.xml$/, ""), source] as const] : [],
    ),
  )
  return policy === undefined ? [] : [[name, policy, fragments] as const]
})

describe("cases of documents as text make the same steps", () => {
  test.each(documents)("%s", (name, policy, fragments) => expectSame(name, policy, fragments))

  test("and so do documents with values and policies of others in them", () => {
    const chance = new Chance(3)
    const piece = /<[a-z-]+(?: [^<>]*)?\/>|"[^"<>]*"|<value>[^<]*<\/value>/g
    const piecesOf = (text: string) => [...text.matchAll(piece)].filter(([all]) => !all.includes("?xml"))
    for (let made = 0; made < reduced(20, 60); made++) {
      let [name, text] = chance.of(documents)
      for (let change = 0; change < 3; change++) {
        const [of, by] = [chance.of(piecesOf(text)), chance.of(piecesOf(chance.of(documents)[1]))]
        if (of === undefined || by === undefined || of[0][0] !== by[0][0]) continue
        text = text.slice(0, of.index) + by[0] + text.slice(of.index + of[0].length)
      }
      name = `${name} changed: ${text}`
      const conversion = converted("policy.xml", text)
      if (conversion !== undefined) expect(differenceIn(conversion, conversion.text), name).toBeUndefined()
    }
  })
})

describe("a text that says something else", () => {
  const made = converted(
    "policy.xml",
    `<policies><inbound><base />
      <choose><when condition="@(context.Request.Method == "GET")"><set-header name="X-A" exists-action="override"><value>1</value></set-header></when>
        <otherwise><return-response><set-status code="405" /></return-response></otherwise></choose>
      <set-variable name="x" value="1" />
    </inbound><backend><base /></backend><outbound><base /></outbound><on-error><base /></on-error></policies>`,
  )
  if (made === undefined) throw new Error("the document can't be read")

  test.each([
    [`header set "X-A" "1"`, `header set "X-A" "2"`, "set-header"],
    [`== "GET"`, `!= "GET"`, "when"],
    ["respond 405", "respond 404", "return-response"],
    [`set x "1"`, `set x "1"; set y "1"`, "set-variable"],
    [`set x "1"`, "", "set-variable"],
    ["respond 405", `header remove "X-A"`, "return-response"],
  ])("%s, and %s instead", (right, wrong, policy) => {
    expect(made.text).toContain(right)
    expect(differenceIn(made, made.text)).toBeUndefined()
    expect(differenceIn(made, made.text.replace(right, wrong))).toBe(policy)
  })
})
