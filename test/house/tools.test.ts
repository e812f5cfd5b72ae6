import { expect, inject, test } from "vitest"
import { runTool, type ToolResult } from "../support/run-tool.ts"

/** `[what, program below node_modules, arguments]`; each exits with 0, and its output says what is wrong. One after the other, to need less memory. */
const tools: [string, string, string[]][] = [
  [
    "format and lint are clean",
    "@biomejs/biome/bin/biome",
    ["check", "--colors=off", "--error-on-warnings", "."],
  ],
  // What it keeps of unchanged files saves two thirds of its CPU time.
  [
    "no file, export or dependency is unused",
    "knip/bin/knip.js",
    ["--no-progress", "--cache", "--cache-location", "node_modules/.cache/knip"],
  ],
]

test("the types are sound", () => expectSuccess(inject("types")))

test.each(tools)("%s", async (_, program, flags) => expectSuccess(await runTool(program, flags)))

function expectSuccess({ code, output }: ToolResult): void {
  expect(code === 0 ? "" : output).toBe("")
  expect(code).toBe(0)
}
