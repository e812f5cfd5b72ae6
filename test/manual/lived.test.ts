import { spawnSync } from "node:child_process"
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { expect, onTestFinished, test } from "vitest"
import { bash, quickNpx } from "../e2e/example.ts"
import { patternOf, squeeze } from "../e2e/readme.ts"
import { devIsReady, freePorts, startForTest } from "../e2e/sallyport-process.ts"
import { projectDatabase } from "../store/databases.ts"
import { projectRoot } from "../structure/tree.ts"
import { sampled } from "../support/random-run.ts"
import { type Fence, fences } from "./pages.ts"

// A page that starts `sallyport dev` is lived through: its files (fences with `save=PATH`) are written to a folder, its services are
// started, and every line after `$` prints what the page shows.

/** Ports that pages name: gateway, engine, identity provider, control, the sample backends, and the reader's own service. */
const pagePorts = [8000, 8080, 8081, 8082, 9001, 9002, 9101] as const

const pages = new Map<string, Fence[]>()
for (const fence of fences()) pages.set(fence.page, [...(pages.get(fence.page) ?? []), fence])
const isFirst = (page: string) => Number(page.endsWith("/first-project.md"))
const lived = [...pages]
  .filter(([, all]) =>
    all.some(({ language, text }) => language === "console" && /^\$ npx sallyport dev$/m.test(text)),
  )
  .sort(([one], [other]) => isFirst(other) - isFirst(one))

/** What examples need, and the lines that need it; what a machine does not have is reported, not passed over. */
const programs = [
  { name: "python3", lines: /^python3 /, there: succeeds("command -v python3") },
  { name: "go", lines: /^go /, there: succeeds("command -v go") },
  {
    name: "Python's package openfga_sdk",
    lines: /^python3 sdk\.py$/,
    there: succeeds("python3 -c 'import openfga_sdk'"),
  },
  {
    name: "Go's module github.com/openfga/go-sdk",
    lines: /go-sdk/,
    there: succeeds('ls -d "$(go env GOMODCACHE)"/github.com/openfga/go-sdk@v0.7.3'),
  },
]

function succeeds(command: string): boolean {
  return spawnSync("sh", ["-c", command]).status === 0
}

for (const { name, there } of programs)
  test(`${name} is there for the examples`, (context) => context.skip(!there, `needs ${name}`))

// `dev` and each line after it are processes, which take seconds of CPU time for a page.
test.each(sampled(lived, 2))("%s prints what it shows", async (_, all) => {
  const ports = await freePorts(pagePorts.length)
  const own = (text: string) =>
    pagePorts.reduce((changed, port, at) => changed.replaceAll(String(port), String(ports[at])), text)
  const folder = await folderOf(all, own)
  const [, , identity, control, first, second] = ports
  const database = await projectDatabase(folder)
  onTestFinished(() => database.drop())
  const env = {
    SALLYPORT_CONTROL_LISTEN: `127.0.0.1:${control}`,
    SALLYPORT_CONTROL_TOKEN: "",
    SALLYPORT_DATABASE_URL: database.url,
  }
  for (const { line, output } of all.filter(({ language }) => language === "console").flatMap(stepsOf)) {
    const missing = programs.find(({ lines, there }) => !there && lines.test(line))
    if (missing !== undefined) continue
    if (line === "node server.mjs") startService(folder)
    else if (line === "npx sallyport dev") {
      const backends = `127.0.0.1:${first},127.0.0.1:${second}`
      const dev = startForTest(
        folder,
        env,
        "dev",
        "--identity",
        `127.0.0.1:${identity}`,
        "--backends",
        backends,
      )
      await dev.printed(devIsReady)
      expect(squeeze(dev.output.out).trim()).toMatch(patternOf(own(output)))
    } else {
      const { out } = await bash(folder, `${quickNpx}\n${own(line)} 2>&1`)
      expect(squeeze(out).trim(), line).toMatch(patternOf(own(output)))
    }
  }
})

/** The lines after `$` of a fence, each with what is printed below it. */
function stepsOf({ text }: Fence): { line: string; output: string }[] {
  return text
    .split(/^\$ /m)
    .slice(1)
    .map((step) => {
      const end = step.indexOf("\n")
      return { line: step.slice(0, end), output: step.slice(end + 1) }
    })
}

async function folderOf(all: readonly Fence[], own: (text: string) => string): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), "sallyport-manual-"))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  for (const { info, text } of all) {
    const path = info.find((word) => word.startsWith("save="))?.slice("save=".length)
    if (path === undefined) continue
    mkdirSync(dirname(join(folder, path)), { recursive: true })
    writeFileSync(join(folder, path), own(text))
  }
  mkdirSync(join(folder, "node_modules/.bin"), { recursive: true })
  symlinkSync(`${projectRoot}node_modules/@openfga`, join(folder, "node_modules/@openfga"))
  symlinkSync(`${projectRoot}compiler/cli/sallyport.mjs`, join(folder, "node_modules/.bin/sallyport"))
  return folder
}

function startService(folder: string): void {
  void bash(folder, "exec node server.mjs & echo $! > service.pid; wait")
  onTestFinished(async () => void (await bash(folder, "kill $(cat service.pid)")))
}
