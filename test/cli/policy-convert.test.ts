import { describe, expect, test } from "vitest"
import { folderWith, run } from "./run.ts"

const whole = `<!-- Who calls. -->
<policies>
  <inbound>
    <base />
    <!-- told to the backend -->
    <set-header name="X-Caller" exists-action="override"><value>@(context.Request.IpAddress)</value></set-header>
    <include-fragment fragment-id="edge" />
  </inbound>
  <backend><base /></backend>
  <outbound><base /></outbound>
  <on-error><base /></on-error>
</policies>
`
const fragment = `<fragment><set-header name="X-Edge" exists-action="override"><value>{{edge}}</value></set-header></fragment>\n`
const guarded = `<policies>
  <inbound>
    <base />
    <validate-parameters specified-parameter-action="prevent" unspecified-parameter-action="ignore" />
    <trace source="x"><message>@(context.RequestId.ToString())</message></trace>
  </inbound>
  <backend><base /></backend>
  <outbound><base /></outbound>
  <on-error><base /></on-error>
</policies>
`

describe("policy convert", () => {
  test("a document whose every policy has a statement, in the form of the formatter", async () => {
    const cwd = folderWith({ "orders.policy.xml": whole, "edge.xml": fragment })
    const { code, out, err } = await run(
      { cwd },
      "policy",
      "convert",
      "orders.policy.xml",
      "--fragment",
      "edge=edge.xml",
    )
    expect({ code, err }).toEqual({ code: 0, err: "" })
    expect(
      out,
    ).toBe(`# Converted from orders.policy.xml. To use it in an API, in an operation or for the whole gateway, write \`use orders\`.
value edge = env(EDGE)

# Who calls.
policy orders {
  inbound {
    # told to the backend
    header set "X-Caller" "\${request.ip}"
    # fragment edge
    header set "X-Edge" "\${edge}"
  }
}
`)
    const gateway = `${out}
gateway g { listen 127.0.0.1:8000; trust none }
backend b { url "http://127.0.0.1:9000" }
api a { path "/a"; auth none; backend b; use orders; GET "/" }
`
    const project = folderWith({ "gateway.conf": gateway })
    expect(await run({ cwd: project }, "validate")).toMatchObject({ code: 0 })
    expect(
      await run({ cwd: folderWith({ "gateway.conf": out }) }, "fmt", "--check", "gateway.conf"),
    ).toMatchObject({ code: 0 })
  })

  test("what is left out stands in the text, is told with its place, and closes where it may guard", async () => {
    const cwd = folderWith({ "a.xml": guarded })
    const { code, out, err } = await run({ cwd }, "policy", "convert", "a.xml", "--name", "checked")
    expect(code).toBe(2)
    expect(out).toContain("policy checked {")
    expect(out).toContain(`    # not converted, a.xml:4: an OpenAPI document describes the parameters`)
    expect(out).toContain(
      `    respond 501 { body text "To be written by hand: validate-parameters, a.xml line 4" }\n`,
    )
    expect(out).toContain(
      '    #   <trace source="x"><message>@(context.RequestId.ToString())</message></trace>\n',
    )
    expect(err).toContain("a.xml:4:5: `validate-parameters` is not converted, requests get 501: ")
    expect(err).toContain("a.xml:5:5: `trace` is not converted: there is no counterpart for ")
    expect(err).toContain(
      "0 of 2 policies were converted; comments in the text say what remains to be written.\n",
    )
  })

  test("a fragment alone, for the section it is included in", async () => {
    const cwd = folderWith({ "edge.fragment.xml": fragment })
    const { code, out } = await run(
      { cwd },
      "policy",
      "convert",
      "edge.fragment.xml",
      "--section",
      "outbound",
    )
    expect(code).toBe(0)
    expect(out).toContain(`policy edge {\n  outbound {\n    header set "X-Edge" "\${edge}"\n`)
  })

  test("a named value whose text is said may be a number, or code", async () => {
    const document = `<policies><inbound><base />
      <set-header name="X" exists-action="override"><value>{{code}}</value></set-header>
      <send-one-way-request timeout="{{seconds}}"><set-url>https://x.example/</set-url></send-one-way-request>
    </inbound><backend><base /></backend><outbound><base /></outbound><on-error><base /></on-error></policies>`
    const words = ["--value", "seconds=20", "--value", "code=@(context.Request.IpAddress)"]
    const cwd = folderWith({ "a.xml": document })
    const { code, out } = await run({ cwd }, "policy", "convert", "a.xml", ...words)
    expect(code).toBe(0)
    expect(out).toContain(`header set "X" "\${request.ip}"`)
    expect(out).toContain("timeout 20s")
    expect(out).not.toContain("env(")
    const unsaid = await run({ cwd }, "policy", "convert", "a.xml")
    expect(unsaid.code).toBe(0)
    expect(unsaid.out).toContain("timeout (int(seconds))")
    expect(unsaid.out).toContain(`header set "X" "\${code}"`)
  })

  test("a document that can't be read is not converted", async () => {
    const cwd = folderWith({ "a.xml": "<policies><inbound>" })
    const { code, out, err } = await run({ cwd }, "policy", "convert", "a.xml")
    expect({ code, out }).toEqual({ code: 1, out: "" })
    expect(err).toContain("error SP7001")
    expect(err).toContain("a.xml was not converted")
  })

  test.each([
    [["policy", "convert", "."], "policy convert needs the file of one policy document"],
    [["policy", "convert", "none.xml"], "does not exist"],
    [["policy", "convert", "a.xml", "--name", "a b"], "is not a valid name"],
    [["policy", "convert", "a.xml", "--section", "backend"], "unknown section"],
    [["policy", "convert", "a.xml", "--fragment", "edge"], "is not a fragment"],
    [["policy", "convert", "a.xml", "--value", "edge"], "is not a value"],
    [["policy", "convert", "a.xml", "--fragment", "edge=none.xml"], "does not exist"],
  ])("%j is refused", async (words, why) => {
    const { code, err } = await run({ cwd: folderWith({ "a.xml": whole }) }, ...words)
    expect(code).toBe(1)
    expect(err).toContain(why)
  })
})
