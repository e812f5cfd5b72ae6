import { spawn, spawnSync } from "node:child_process"
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { expect, onTestFinished, test } from "vitest"
import { createMigratedDatabase, describePostgres } from "../postgres.ts"
import { projectRoot } from "../structure/tree.ts"
import { freePort } from "../support/free-port.ts"
import { notifySocketMissing, openNotifySocket } from "../support/notify-socket.ts"
import { programPath } from "../support/program.ts"
import { until } from "../support/until.ts"
import { unknownVariables } from "./kubernetes-objects.ts"

const folder = `${projectRoot}runtime/deploy/systemd`
const units = readdirSync(folder).filter((name) => /\.(service|socket)$/.test(name))
const textOf = (name: string) => readFileSync(`${folder}/${name}`, "utf8")
const service = textOf("sallyport.service")

/** The values of a setting of a unit. */
function settings(unit: string, name: string): string[] {
  return [...unit.matchAll(new RegExp(`^${name}=(.*)$`, "gm"))].map(([, value = ""]) => value)
}

function temporaryFolder(): string {
  const made = mkdtempSync(join(tmpdir(), "sallyport-systemd-"))
  onTestFinished(() => rmSync(made, { recursive: true, force: true }))
  return made
}

/** The units in a folder, with a program that exists. */
function installed(): string {
  const copies = temporaryFolder()
  for (const name of units)
    writeFileSync(join(copies, name), textOf(name).replace("/usr/bin/sallyport", process.execPath))
  return copies
}

const analyze = (words: readonly string[], cwd: string) =>
  spawnSync("systemd-analyze", words, { cwd, encoding: "utf8" })

test("the units name variables that exist, and leave more time to stop than it takes", () => {
  for (const name of units) {
    const variables = settings(textOf(name), "Environment").map((each) => each.split("=")[0] ?? "")
    expect(unknownVariables(variables), name).toEqual([])
  }
  const example = [...textOf("env.example").matchAll(/^#?(\w+)=/gm)].map(([, name = ""]) => name)
  expect(unknownVariables(example)).toEqual([])
  expect(Number(settings(service, "TimeoutStopSec")[0])).toBeGreaterThan(11)
  expect(settings(service, "Type")).toEqual(["notify"])
  expect(settings(service, "NotifyAccess")).toEqual(["all"])
  // Credentials that variables name are loaded.
  for (const name of units)
    for (const [, credential] of textOf(name).matchAll(/=%d\/(\S+)/g))
      expect(textOf(name)).toContain(`LoadCredential=${credential}:`)
})

test("systemd accepts the units", (context) => {
  if (programPath("systemd-analyze") === undefined) return context.skip("needs systemd-analyze")
  const { status, stdout, stderr } = analyze(["verify", ...units.map((name) => `./${name}`)], installed())
  expect(stdout + stderr).toBe("")
  expect(status).toBe(0)
})

test("systemd rates the exposure of the services as at most 1.5 of 10", (context) => {
  if (programPath("systemd-analyze") === undefined) return context.skip("needs systemd-analyze")
  const copies = installed()
  for (const name of units.filter((each) => each.endsWith(".service"))) {
    const { status, stdout, stderr } = analyze(["security", "--offline=true", `./${name}`], copies)
    if (/unrecognized option|Unknown command/.test(stderr)) return context.skip("needs systemd 250 or newer")
    expect(status, stderr).toBe(0)
    const [, level] = /exposure level for \S+: ([\d.]+)/.exec(stdout) ?? []
    expect(Number(level), name).toBeLessThanOrEqual(1.5)
  }
})

describePostgres("serve under systemd", () => {
  test("takes the sockets of systemd-socket-activate, and says that it serves, lives and ends", async (context) => {
    const activate = programPath("systemd-socket-activate")
    if (activate === undefined) return context.skip("needs systemd-socket-activate")
    const missing = notifySocketMissing()
    if (missing !== undefined) return context.skip(missing)
    const here = temporaryFolder()
    const { path, messages, close } = await openNotifySocket(here)
    onTestFinished(close)
    const { url, drop } = await createMigratedDatabase()
    onTestFinished(drop)
    const control = await freePort()
    const variables = {
      SALLYPORT_DATABASE_URL: url,
      SALLYPORT_CONTROL_TOKEN: "a-token-of-the-systemd-test",
      SALLYPORT_CONTROL_LISTEN: `127.0.0.1:${control}`,
      NOTIFY_SOCKET: path,
      WATCHDOG_USEC: "400000",
    }
    const passed = Object.entries(variables).map(([name, value]) => `--setenv=${name}=${value}`)
    const program = [process.execPath, `${projectRoot}compiler/cli/sallyport.mjs`, "serve"]
    const child = spawn(activate, [`--listen=127.0.0.1:${control}`, ...passed, ...program], { cwd: here })
    onTestFinished(() => void child.kill("SIGKILL"))
    let printed = ""
    for (const stream of [child.stdout, child.stderr])
      stream.on("data", (text) => {
        printed += text
      })
    // The first connection starts the service, which answers it.
    const health = () => fetch(`http://127.0.0.1:${control}/healthz`).catch(() => undefined)
    await until(async () => (await health())?.status === 200)
    expect(printed).toContain(`"sockets":["127.0.0.1:${control}"]`)
    await until(() => messages().includes("WATCHDOG=1"))
    expect(messages().slice(0, 2)).toEqual([
      expect.stringMatching(/^STATUS=not ready: no plan was applied yet/),
      "READY=1",
    ])
    child.kill("SIGTERM")
    await until(() => child.exitCode !== null)
    expect(child.exitCode, printed).toBe(0)
    expect(messages()).toContain("STOPPING=1")
  })
})
