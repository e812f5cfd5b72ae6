import { spawnSync } from "node:child_process"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { expect, onTestFinished, test } from "vitest"
import { fences, placeOf } from "./pages.ts"

const installed = spawnSync("nginx", ["-v"]).status === 0

// The fences contain what belongs into `http { }`. Files of the process stay in the folder, so that no root is needed.
test.each(fences("nginx").map((fence) => [placeOf(fence), fence.text] as const))(
  "%s is accepted by nginx",
  (_, text) => {
    if (!installed) return
    const folder = mkdtempSync(join(tmpdir(), "sallyport-nginx-"))
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
    const paths = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map(
      (name) => `${name}_temp_path ${folder}/${name};`,
    )
    writeFileSync(
      join(folder, "nginx.conf"),
      `pid ${folder}/nginx.pid;\nerror_log stderr;\nevents {}\nhttp {\naccess_log off;\n${paths.join("\n")}\n${text}\n}\n`,
    )
    const { status, stderr } = spawnSync("nginx", ["-t", "-p", folder, "-c", join(folder, "nginx.conf")], {
      encoding: "utf8",
    })
    expect(status, stderr).toBe(0)
  },
)
