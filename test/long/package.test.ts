import { execFileSync, spawn, spawnSync } from "node:child_process"
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, beforeAll, expect, test } from "vitest"
import { projectRoot } from "../structure/tree.ts"

let folder = ""
let installed = ""

/** npm as a stranger has it: not with the settings that the npm which runs us hands down. */
const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !/^npm_/i.test(name)))

function npm(cwd: string, ...words: string[]): string {
  return execFileSync("npm", words, { cwd, env, encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] })
}

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "sallyport-package-"))
  npm(projectRoot, "pack", "--silent", "--pack-destination", folder)
  const { version } = JSON.parse(readFileSync(`${projectRoot}package.json`, "utf8")) as { version: string }
  installed = join(folder, "empty")
  mkdirSync(installed)
  npm(installed, "init", "-y")
  npm(installed, "install", "--ignore-scripts", "--no-audit", "--no-fund", `../sallyport-${version}.tgz`)
}, 300_000)

afterAll(() => rmSync(folder, { recursive: true, force: true }))

test("what npm pack makes holds the built program and no sources", () => {
  const files = execFileSync("find", ["node_modules/sallyport", "-name", "*.ts"], {
    cwd: installed,
    encoding: "utf8",
  })
  expect(files).toBe("")
})

test("it runs in an empty folder", () => {
  const answer = execFileSync("npx", ["sallyport", "--version"], { cwd: installed, env, encoding: "utf8" })
  expect(answer).toMatch(/^\d+\.\d+\.\d+\n$/)
})

test("`npx sallyport validate` and `fmt` work there, on a project without findings and on a mistake", () => {
  for (const each of ["gateway.conf", "models"])
    cpSync(projectRoot + each, join(installed, each), { recursive: true })
  const run = (...words: string[]) =>
    execFileSync("npx", ["sallyport", ...words], { cwd: installed, env, encoding: "utf8", stdio: "pipe" })
  expect(run("validate")).toBe("gateway.conf: no findings\n")
  expect(run("fmt", "--check")).toBe("")
  writeFileSync(join(installed, "gateway.conf"), "gatway acme { }\n")
  const { status, stdout } = spawnSync("npx", ["sallyport", "validate"], {
    cwd: installed,
    env,
    encoding: "utf8",
  })
  expect({ status, stdout }).toEqual({
    status: 1,
    stdout: expect.stringContaining("did you mean `gateway`?"),
  })
})

test("`npx sallyport init` finds the examples of the package", () => {
  const run = (cwd: string, ...words: string[]) =>
    execFileSync("npx", ["sallyport", ...words], { cwd, env, encoding: "utf8", stdio: "pipe" })
  expect(run(installed, "init", "--example", "docs-app", "docs")).toContain("\n  models/docs.fga\n")
  expect(run(join(installed, "docs"), "validate")).toBe("gateway.conf: no findings\n")
})

test("`npx sallyport serve` starts there, with the embedded database", async () => {
  const serve = spawn("npx", ["sallyport", "serve"], {
    cwd: installed,
    env: { ...env, SALLYPORT_CONTROL_LISTEN: "127.0.0.1:28982" },
    stdio: ["ignore", "pipe", "pipe"],
    detached: true,
  })
  try {
    await expect
      .poll(
        () =>
          fetch("http://127.0.0.1:28982/readyz").then(
            (ready) => ready.text(),
            () => "",
          ),
        { timeout: 60_000 },
      )
      .toContain("no plan was applied yet")
  } finally {
    process.kill(-(serve.pid as number), "SIGTERM")
    await new Promise((resolve) => serve.once("exit", resolve))
  }
})
