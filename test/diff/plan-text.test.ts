import { expect, test } from "vitest"
import { DiskFiles } from "../../compiler/core/disk-files.ts"
import { MemoryFiles } from "../../compiler/core/files.ts"
import { planText } from "../../compiler/diff/plan-text.ts"
import { compile } from "../compile.ts"
import { projectRoot } from "../structure/tree.ts"

function textOf(text: string): string {
  const files = new MemoryFiles([
    ["gateway.conf", text],
    ["acme.fga", "model\n  schema 1.1\ntype user\ntype doc\n  relations\n    define viewer: [user]\n"],
  ])
  const { plan, diagnostics } = compile(files, "gateway.conf")
  if (plan === undefined) throw new Error(diagnostics.map(({ detail }) => detail).join("\n"))
  return planText(plan)
}

const project = (statements: string) => `gateway g { trust none; listen 127.0.0.1:8000 }
authz { listen 127.0.0.1:8080; max-staleness 1s; store acme { model "acme.fga" } }
backend b { url "http://127.0.0.1:9001" }
api a { path "/a"; auth none; GET "/{id}" { backend b; ${statements} } }`

test("prints declarations, routes with their statements, and models", () => {
  const text = textOf(project('limit 5 per 1m by ip { count 2 }; outbound { header set "X-B" "2" }'))
  expect(text).toContain("route GET /a/{id}\n")
  expect(text).toMatch(/\n {2}inbound\n {4}limit 5 per 1m by ip \{\n {6}count 2\n {4}\}\n/)
  expect(text).toMatch(/\n {2}outbound\n {4}header set "x-b" "2"\n/)
  expect(text).toContain("model of acme\n  model\n    schema 1.1\n")
  expect(text).toContain("    define viewer: [user]")
})

test("is equal where only the text of gateway.conf differs", () => {
  expect(textOf(project("limit 5 per 1m by ip"))).toBe(
    textOf(`# A comment.\n${project("limit 5 per 60s by ip")}`),
  )
  expect(textOf(project("limit 5 per 1m by ip"))).not.toBe(textOf(project("limit 6 per 1m by ip")))
})

test("prints the whole sample project without an id of a step", () => {
  const { plan } = compile(new DiskFiles(projectRoot), "gateway.conf")
  if (plan === undefined) throw new Error("the sample project does not compile")
  const text = planText(plan)
  for (const id of Object.keys(plan.plan.steps)) expect(text).not.toContain(id)
  for (const key of Object.keys(plan.plan.routes)) expect(text).toContain(`route ${key}\n`)
})
