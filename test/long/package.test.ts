import { execFileSync } from "node:child_process"
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs"
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
