import { readFileSync, rmSync } from "node:fs"
import { expect, test } from "vitest"
import { commands } from "../../compiler/cli/commands.ts"
import { blocks } from "../../compiler/gateway/schema/blocks.ts"
import { projectRoot } from "../structure/tree.ts"
import { bash, example, quickNpx } from "./example.ts"
import { patternOf, readme, squeeze, tour } from "./readme.ts"
import { startForTest } from "./sallyport-process.ts"

// Methods are told by one of them.
const keywords = Object.values(blocks)
  .flatMap(({ rows }) => rows.map(({ keyword }) => keyword))
  .filter((keyword) => keyword !== keyword.toUpperCase())

test("README has every command and every keyword in its tables", () => {
  for (const { name } of commands) expect(readme).toContain(`\`sallyport ${name}`)
  for (const keyword of keywords) expect(readme).toMatch(new RegExp(`\\b${keyword}\\b`))
})

test("the example has every keyword, some of them in comments", () => {
  const files = ["gateway.conf", "models/teams/status.conf"].map((path) =>
    readFileSync(projectRoot + path, "utf8"),
  )
  for (const keyword of keywords) expect(files.join()).toMatch(new RegExp(`(^|[\\s\`{;])${keyword}\\b`, "m"))
})

test("README's tour prints what it shows", async () => {
  const place = await example("prepared")
  const dev = startForTest(place.folder, place.env, ...place.argv)
  await dev.printed(/old plan serves on\.\n$/)
  const { own } = place
  for (const { line, output } of tour()) {
    const out =
      line === "npm start" ? dev.output.out : (await bash(place.folder, `${quickNpx}\n${own(line)} 2>&1`)).out
    expect(squeeze(out).trim(), line).toMatch(patternOf(own(output)))
  }
  expect(await dev.stop("SIGINT")).toBe(0)
  rmSync(place.folder, { recursive: true, force: true })
})
