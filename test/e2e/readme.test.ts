import { cpSync, rmSync } from "node:fs"
import { join } from "node:path"
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

test("README's tour prints what it shows", async () => {
  const place = await example("prepared")
  const dev = startForTest(place.folder, place.env, ...place.argv)
  await dev.printed(/old plan serves on\.\n$/)
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
