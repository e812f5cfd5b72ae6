import { spawnSync } from "node:child_process"
import { tmpdir } from "node:os"
import { expect, test } from "vitest"
import { projectRoot } from "../structure/tree.ts"

const command = `${projectRoot}compiler/cli/sallyport.mjs`
const hasScript = spawnSync("script", ["--version"]).status === 0
// Another folder: the pages are found in the package, not where the command is called.
const cwd = tmpdir()

test("the real command prints a page to a pipe, without a pager", () => {
  const { status, stdout } = spawnSync(process.execPath, [command, "docs", "rate", "limit"], {
    cwd,
    encoding: "utf8",
    env: { ...process.env, PAGER: "false" },
  })
  expect(status).toBe(0)
  expect(stdout).toMatch(/^# limit, quota, concurrency: rate limits\n/)
})

test("the real command describes a statement", () => {
  const { status, stdout } = spawnSync(process.execPath, [command, "help", "require"], {
    cwd,
    encoding: "utf8",
  })
  expect(status).toBe(0)
  expect(stdout).toMatch(/^ {2}require RELATION of /)
})

test.for([
  ["sed s/^/paged:/", "paged:# Metrics"],
  ["no-such-pager", "# Metrics"],
] as const)("on a terminal PAGER=%s shows the page", ([pager, first], context) => {
  if (!hasScript) return context.skip("needs `script` of util-linux")
  const line = `'${process.execPath}' '${command}' docs metrics`
  const { stdout } = spawnSync("script", ["-qfec", line, "/dev/null"], {
    cwd,
    encoding: "utf8",
    env: { ...process.env, NO_COLOR: "1", PAGER: pager },
  })
  expect(stdout.replaceAll("\r", "").split("\n")[0]).toBe(first)
})
