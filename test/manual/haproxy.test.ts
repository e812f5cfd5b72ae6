import { spawnSync } from "node:child_process"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { expect, onTestFinished, test } from "vitest"
import { fences, placeOf } from "./pages.ts"

const installed = spawnSync("haproxy", ["-v"]).status === 0

// The fences contain the backend `sallyport`; a frontend and timeouts are the reader's own.
const around = `defaults
  mode http
  timeout connect 2s
  timeout client 60s
  timeout server 60s
frontend clients
  bind 127.0.0.1:18080
  default_backend sallyport
`

test.each(fences("haproxy").map((fence) => [placeOf(fence), fence.text] as const))(
  "%s is accepted by HAProxy",
  (_, text) => {
    if (!installed) return
    const folder = mkdtempSync(join(tmpdir(), "sallyport-haproxy-"))
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
    const file = join(folder, "haproxy.cfg")
    writeFileSync(file, `${around}${text}`)
    const { status, stderr } = spawnSync("haproxy", ["-c", "-f", file], { encoding: "utf8" })
    expect(status, stderr).toBe(0)
  },
)
