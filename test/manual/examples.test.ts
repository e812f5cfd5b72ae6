import { expect, test } from "vitest"
import { compileAndTest } from "../../compiler/compile.ts"
import { MemoryFiles } from "../../compiler/core/files.ts"
import { renderDiagnostics } from "../../compiler/render/diagnostics.ts"
import { exampleFiles, projectOf } from "./frames.ts"
import { type Fence, fences, placeOf } from "./pages.ts"

/**
 * ```gateway           a whole project
 * ```gateway api       a fragment, in the frame of this name (frames.ts)
 * ```gateway api SP3004   one with this finding: the page shows a mistake
 */
const examples = fences("gateway").map((fence) => [placeOf(fence), fence] as const)

test.each(examples)("%s compiles", async (_, fence: Fence) => {
  const codes = fence.info.filter((word) => /^SP\d{4}$/.test(word))
  const frame = fence.info.find((word) => !codes.includes(word))
  const files = new MemoryFiles([...exampleFiles, ["gateway.conf", projectOf(frame, fence.text)]])
  const { plan, diagnostics } = await compileAndTest(files, "gateway.conf")
  // A fragment need not use all that its frame declares.
  const told = diagnostics.filter(({ code }) => frame === undefined || code !== "SP2014")
  if (codes.length === 0) expect(renderDiagnostics(told, "text", { colour: false })).toBe("")
  else expect([...new Set(told.map(({ code }) => code as string))].sort()).toEqual([...codes].sort())
  expect(plan === undefined).toBe(codes.length > 0)
})
