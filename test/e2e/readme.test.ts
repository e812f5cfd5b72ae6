import { cpSync, existsSync, rmSync } from "node:fs"
import { join } from "node:path"
import { expect, onTestFinished, test } from "vitest"
import { projectDatabase } from "../store/databases.ts"
import { projectRoot } from "../structure/tree.ts"
import { isLong } from "../support/random-run.ts"
import { bash, example, quickNpx } from "./example.ts"
import { patternOf, readme, squeeze, tour } from "./readme.ts"
import { devIsReady, startForTest } from "./sallyport-process.ts"

test("README is short: 10 KB, 200 lines, 80 characters in a cell", () => {
  expect(Buffer.byteLength(readme)).toBeLessThanOrEqual(10_240)
  expect(readme.split("\n").length).toBeLessThanOrEqual(200)
  const cells = readme
    .split("\n")
    .filter((line) => line.startsWith("| "))
    .flatMap((line) => line.split("|").map((cell) => cell.trim()))
  expect(cells.length).toBeGreaterThan(10)
  expect(cells.filter((cell) => cell.length > 80)).toEqual([])
})

test("README leads to files that exist", () => {
  const targets = [...readme.matchAll(/\]\(([^)]+)\)/g)].map(([, target = ""]) => target)
  expect(targets.length).toBeGreaterThan(5)
  expect(targets.filter((target) => !existsSync(join(projectRoot, target)))).toEqual([])
})

test("README's tour prints what it shows", async () => {
  const place = await example(isLong ? "prepared" : "bare")
  // test/e2e/dev.test.ts has the embedded database, which takes seconds of CPU time.
  const database = isLong ? undefined : await projectDatabase(place.folder)
  onTestFinished(() => database?.drop())
  const env = { ...place.env, SALLYPORT_DATABASE_URL: database?.url ?? "" }
  const dev = startForTest(place.folder, env, ...place.argv)
  await dev.printed(devIsReady)
  const { own } = place
  cpSync(`${projectRoot}.gitignore`, join(place.folder, ".gitignore"))
  await bash(place.folder, "git init -q && git add --all")
  for (const { line, output } of tour()) {
    const out =
      line === "npm start" ? dev.output.out : (await bash(place.folder, `${quickNpx}\n${own(line)} 2>&1`)).out
    expect(squeeze(out).trim(), line).toMatch(patternOf(own(output)))
  }
  expect(await dev.stop("SIGINT")).toBe(0)
  // Nothing that git would show is left behind.
  const left = await bash(place.folder, "git ls-files --others --modified --exclude-standard")
  expect(left).toEqual({ code: 0, out: "" })
  rmSync(place.folder, { recursive: true, force: true })
})
