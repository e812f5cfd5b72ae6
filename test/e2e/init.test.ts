import { readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { describe, expect, onTestFinished, test } from "vitest"
import { examples } from "../../compiler/cli/commands/init.ts"
import { run } from "../cli/run.ts"
import { projectDatabase } from "../store/databases.ts"
import { projectRoot } from "../structure/tree.ts"
import { sampled } from "../support/random-run.ts"
import { bash, type Example, emptyPlace, quickNpx } from "./example.ts"
import { patternOf, squeeze, tour } from "./readme.ts"
import { start } from "./sallyport-process.ts"

/** curl draws its progress where its output is no terminal. */
const shell = `${quickNpx}\ncurl() { command curl -s "$@"; }`

test("init knows every folder of models/examples", () => {
  expect(readdirSync(`${projectRoot}models/examples`).sort()).toEqual(Object.keys(examples).sort())
})

const names = Object.keys(examples)
const read = (name: string, path: string) =>
  readFileSync(`${projectRoot}models/examples/${name}/${path}`, "utf8")

describe.each(names)("the example %s", (name) => {
  test("has 10 to 60 lines of configuration, and a README that shows statuses", () => {
    const lines = read(name, "gateway.conf").trimEnd().split("\n").length
    expect(lines).toBeGreaterThanOrEqual(10)
    expect(lines).toBeLessThanOrEqual(60)
    const calls = tour(read(name, "README.md")).filter(({ line }) => line.startsWith("curl -i"))
    expect(calls.length).toBeGreaterThan(1)
    for (const { line, output } of calls) expect(output, line).toMatch(/^HTTP\/1\.1 \d{3} /)
  })

  test("is written by `init` without findings", () => written(name))
})

describe.each(sampled(names, 1))("the example %s", (name) => {
  test("does what its README shows, from `init` on", async () => {
    const place = await written(name)
    const before = filesOf(place.folder)
    const dev = await started(place)
    await dev.printed(/\nSallyport runs \(serial 1, .*\nChanges saved in gateway\.conf /s)
    for (const { line, output } of tour(read(name, "README.md"))) {
      const out =
        line === "npx sallyport dev"
          ? dev.output.out
          : (await bash(place.folder, `${shell}\n${place.own(line)} 2>&1`)).out
      expect(squeeze(out).trim(), line).toMatch(patternOf(place.own(output)))
    }
    // A line for each refused or failed request, and nothing else.
    expect(dev.output.err.replace(/^[A-Z]+ \/\S* [45]\d\d [\d.]+ ms .+\n/gm, "")).toBe("")
    expect(filesOf(place.folder)).toEqual(before)
  })
})

/** A folder where `init` wrote an example, on ports of its own. */
async function written(name: string): Promise<Example> {
  const place = await emptyPlace()
  onTestFinished(() => rmSync(place.folder, { recursive: true, force: true }))
  // In this process: as processes of their own, these three commands take a second of CPU time for each example.
  const sallyport = (...argv: string[]) => run({ cwd: place.folder }, ...argv)
  const { code, out, err } = await sallyport("init", "--example", name)
  expect({ code, err }, out).toEqual({ code: 0, err: "" })
  for (const path of filesOf(place.folder)) {
    expect(out).toContain(`  ${path}\n`)
    const file = join(place.folder, path)
    writeFileSync(file, place.own(readFileSync(file, "utf8")))
  }
  expect(await sallyport("validate")).toEqual({ code: 0, out: "gateway.conf: no findings\n", err: "" })
  expect(await sallyport("fmt", "--check")).toEqual({ code: 0, out: "", err: "" })
  expect(await sallyport("test")).toMatchObject({ code: 0, err: "" })
  return place
}

async function started(place: Example) {
  const database = await projectDatabase(place.folder)
  const dev = start(place.folder, { ...place.env, SALLYPORT_DATABASE_URL: database.url }, ...place.argv)
  onTestFinished(async () => {
    await dev.stop("SIGKILL")
    await database.drop()
  })
  return dev
}

/** What git would show: not what `dev` keeps in .sallyport, which has a .gitignore of its own. */
function filesOf(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: "utf8" })
    .filter((path) => !/^(node_modules|\.sallyport)/.test(path) && statSync(join(folder, path)).isFile())
    .sort()
}
