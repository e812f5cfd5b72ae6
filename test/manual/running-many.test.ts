import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { expect, onTestFinished, test } from "vitest"
import type { StatusAnswer } from "../../runtime/control/api.ts"
import { run } from "../cli/run.ts"
import { eventually, freePorts, startForTest } from "../e2e/sallyport-process.ts"
import { createDatabase, describePostgres } from "../postgres.ts"
import { fences } from "./pages.ts"

/** The lines of the page's shell examples. */
const lines = fences("sh")
  .filter(({ page }) => page === "runtime/docs/running-many.md")
  .flatMap(({ text }) => text.trim().split("\n"))

const project = (ports: readonly number[]) => `gateway many { listen 127.0.0.1:${ports[3]}; trust none }
authz { listen 127.0.0.1:${ports[4]}; ready when warm; store acme { model "acme.fga" } }
api status { path "/status"; auth none; GET "/" { respond 200 { body text "up" } } }
`

describePostgres("the page about many processes", () => {
  test("its commands start one process for each role, which serve the plan that one of them takes", async () => {
    const database = await createDatabase()
    onTestFinished(() => database.drop())
    const folder = mkdtempSync(join(tmpdir(), "sallyport-many-"))
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
    const ports = await freePorts(5)
    writeFileSync(join(folder, "gateway.conf"), project(ports))
    writeFileSync(join(folder, "acme.fga"), "model\n  schema 1.1\ntype user\n")
    writeFileSync(join(folder, "control-token"), "a-token-for-the-page-about-many-processes\n", {
      mode: 0o600,
    })
    const own = (text: string) =>
      [8082, 8083, 8084]
        .reduce((changed, port, at) => changed.replace(`:${port}`, `:${ports[at]}`), text)
        .replace("/var/spool/sallyport", join(folder, "spool"))
        .replace("/run/secrets", folder)
        .replace(/postgres:\S+/, database.url)
    const env: Record<string, string> = {}
    const control = (at: number, path: string) => fetch(`http://127.0.0.1:${ports[at]}${path}`)
    let started = 0
    for (const line of lines.map(own)) {
      const settings = Object.fromEntries(
        [...line.matchAll(/\b([A-Z_]+)=(\S+)/g)].map(([, name = "", value = ""]) => [name, value]),
      )
      const argv = (/\bsallyport ([^|]*)/.exec(line.replaceAll(/\S+=\S+ /g, ""))?.[1] ?? "").trim().split(" ")
      if (line.startsWith("export ")) Object.assign(env, settings)
      else if (argv[0] === "serve") {
        startForTest(folder, { ...env, ...settings }, ...argv)
        const at = started++
        await eventually(() => control(at, "/healthz").catch(() => undefined))
        expect((await control(at, "/readyz")).status).toBe(503)
      } else {
        const { code, err } = await run({ cwd: folder, env }, ...argv)
        expect([line, line.includes("$? = 2") ? 2 : 0, err]).toEqual([line, code, err])
      }
    }
    for (const at of [0, 1, 2])
      await eventually(async () => ((await control(at, "/readyz")).ok ? true : undefined))
    expect(await (await fetch(`http://127.0.0.1:${ports[3]}/status`)).text()).toBe("up")
    const { out } = await run({ cwd: folder, env }, "status", "--format", "json")
    const { processes } = JSON.parse(out) as StatusAnswer
    expect(processes.map(({ roles, serial }) => [...roles, serial]).sort()).toEqual([
      ["authz", 1],
      ["control", 1],
      ["gateway", 1],
    ])
  })
})
