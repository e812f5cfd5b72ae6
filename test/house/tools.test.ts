import { spawn } from "node:child_process"
import { expect, test } from "vitest"
import { projectRoot } from "../structure/tree.ts"

/**
 * `[what, program below node_modules, arguments]`; each exits with 0, and its output says what is wrong. One after the other, and the
 * type checker in one thread: otherwise it needs 1.3 GB. It keeps in node_modules/.cache what it knows, and checks again what has changed.
 */
const tools: [string, string, string[]][] = [
  [
    "the types are sound",
    "typescript/bin/tsc",
    [
      ...["--noEmit", "--pretty", "false", "--singleThreaded"],
      ...["--incremental", "--tsBuildInfoFile", "node_modules/.cache/types.tsbuildinfo"],
    ],
  ],
  [
    "format and lint are clean",
    "@biomejs/biome/bin/biome",
    ["check", "--colors=off", "--error-on-warnings", "."],
  ],
  ["no file, export or dependency is unused", "knip/bin/knip.js", ["--no-progress"]],
]

/** With a bound V8 collects earlier: knip takes 190 MB instead of 400. */
const heap = "--max-old-space-size=250"

test.each(tools)("%s", async (_, program, flags) => {
  const { code, output } = await run([heap, `${projectRoot}node_modules/${program}`, ...flags])
  expect(code === 0 ? "" : output).toBe("")
  expect(code).toBe(0)
})

async function run(words: string[]): Promise<{ code: number | null; output: string }> {
  const child = spawn(process.execPath, words, { cwd: projectRoot, stdio: ["ignore", "pipe", "pipe"] })
  let output = ""
  child.stdout.on("data", (text) => {
    output += text
  })
  child.stderr.on("data", (text) => {
    output += text
  })
  const code = await new Promise<number | null>((resolve) => child.once("close", resolve))
  return { code, output }
}
