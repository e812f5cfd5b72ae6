import { execFileSync } from "node:child_process"
import { cpSync, existsSync, mkdtempSync, rmSync, symlinkSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { expect, onTestFinished, test } from "vitest"
import { projectRoot } from "../structure/tree.ts"
import { restOf, stages } from "../support/containerfile.ts"

test("the build stage of the image has every file that the build reads, and makes every file that the last stage copies", () => {
  const folder = mkdtempSync(join(tmpdir(), "sallyport-build-stage-"))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const [build = [], final = []] = stages
  for (const copied of restOf(build, "COPY")) {
    const paths = copied.split(" ")
    const to = paths.pop() ?? ""
    for (const path of paths)
      cpSync(projectRoot + path, join(folder, to.endsWith("/") ? join(to, path) : to), { recursive: true })
  }
  symlinkSync(`${projectRoot}node_modules`, join(folder, "node_modules"))
  execFileSync(process.execPath, ["compiler/cli/build.mjs"], { cwd: folder, stdio: "pipe" })
  for (const copied of restOf(final, "COPY")) {
    const [, ...sources] = copied.split(" ").slice(0, -1)
    for (const source of sources.filter((each) => !each.includes("*")))
      expect(existsSync(source.replace("/build", folder)), source).toBe(true)
  }
})
