import { expect, test } from "vitest"
import { compileAndTest } from "../../compiler/compile.ts"
import { Report } from "../../compiler/core/diagnostic.ts"
import { MemoryFiles } from "../../compiler/core/files.ts"
import { SourceFile } from "../../compiler/core/source.ts"
import { compileModel } from "../../compiler/model/compile-model.ts"
import { renderDiagnostics } from "../../compiler/render/diagnostics.ts"
import { exampleFiles, projectOf } from "./frames.ts"
import { type Fence, fences, placeOf } from "./pages.ts"

/**
 * ```gateway           a whole project
 * ```gateway api       a fragment, in the frame of this name (frames.ts)
 * ```gateway api SP3004   one with this finding: the page shows a mistake
 */
const all = fences()
const examples = all
  .filter(({ language }) => language === "gateway")
  .map((fence) => [placeOf(fence), fence] as const)

/** The files that the same page tells the reader to save. */
function savedBeside({ page }: Fence): (readonly [string, string])[] {
  return all
    .filter((fence) => fence.page === page)
    .flatMap(({ info, text }) =>
      info.flatMap((word) => (word.startsWith("save=") ? [[word.slice("save=".length), text] as const] : [])),
    )
}

test.each(examples)("%s compiles", async (_, fence: Fence) => {
  const codes = fence.info.filter((word) => /^SP\d{4}$/.test(word))
  const frame = fence.info.find((word) => !codes.includes(word) && !word.startsWith("save="))
  const files = new MemoryFiles([
    ...exampleFiles,
    ...savedBeside(fence),
    ["gateway.conf", projectOf(frame, fence.text)],
  ])
  const { plan, diagnostics } = await compileAndTest(files, "gateway.conf")
  // A fragment need not use all that its frame declares.
  const told = diagnostics.filter(({ code }) => frame === undefined || code !== "SP2014")
  if (codes.length === 0) expect(renderDiagnostics(told, "text", { colour: false })).toBe("")
  else expect([...new Set(told.map(({ code }) => code as string))].sort()).toEqual([...codes].sort())
  expect(plan === undefined).toBe(codes.length > 0)
})

// A ```fga block is a whole model.
const models = fences("fga").map((fence) => [placeOf(fence), fence] as const)

test.each(models)("%s compiles", (_, { text }) => {
  const report = new Report()
  compileModel(new SourceFile("model.fga", text), report)
  expect(renderDiagnostics(report.sorted(), "text", { colour: false })).toBe("")
})

// ```json is JSON; ```yaml is held to nothing but its own form where it is another program's, and is a test of models where it has a `model_file`.
test.each(fences("json").map((fence) => [placeOf(fence), fence.text] as const))("%s is JSON", (_, text) => {
  expect(() => JSON.parse(text)).not.toThrow()
})

test.each(
  fences("yaml").flatMap((fence) =>
    fence.text.includes("model_file:") ? [[placeOf(fence), fence] as const] : [],
  ),
)("%s is a test of models that passes", async (_, fence) => {
  const named = /model_file: (\S+)/.exec(fence.text)?.[1] ?? ""
  const beside = named.includes("/") ? "models/tests/page.fga.yaml" : "models/page.fga.yaml"
  const model = named.includes("/") ? "models/acme.fga" : `models/${named}`
  const text = `gateway g { listen 127.0.0.1:8000 }
authz { listen 127.0.0.1:8080; store s { model "${model}"; tests "${beside}" } }
api a { path "/a"; auth none; GET "/" { respond 200 } }`
  const files = new MemoryFiles([
    ...exampleFiles,
    ...savedBeside(fence),
    [beside, fence.text],
    ["gateway.conf", text],
  ])
  const { diagnostics } = await compileAndTest(files, "gateway.conf")
  expect(renderDiagnostics(diagnostics, "text", { colour: false })).toBe("")
})
