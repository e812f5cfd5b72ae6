import { rmSync } from "node:fs"
import { expect, test } from "vitest"
import { commands } from "../../compiler/cli/commands.ts"
import { blocks } from "../../compiler/gateway/schema/blocks.ts"
import { bash, example, usualPorts } from "./example.ts"
import { patternOf, readme, squeeze, tour } from "./readme.ts"
import { start } from "./sallyport-process.ts"

test("has every command and every keyword in its tables", () => {
  for (const { line } of commands) expect(readme).toContain(`\`sallyport ${line.name}`)
  // Methods are told by one of them.
  const keywords = Object.values(blocks).flatMap(({ rows }) => rows.map(({ keyword }) => keyword))
  for (const keyword of keywords.filter((word) => word !== word.toUpperCase()))
    expect(readme).toContain(keyword)
})

test("its tour prints what it shows", async () => {
  const place = await example()
  const dev = start(place.folder, place.env, ...place.argv)
  await dev.printed(/old plan serves on\.\n$/)
  const own = (text: string) =>
    usualPorts.reduce(
      (all, port, at) => all.replaceAll(`127.0.0.1:${port}`, `127.0.0.1:${place.ports[at]}`),
      text,
    )
  for (const { line, output } of tour()) {
    const out = line === "npm start" ? dev.output.out : (await bash(place.folder, `${own(line)} 2>&1`)).out
    expect(squeeze(withoutNpm(out)).trim(), line).toMatch(patternOf(own(output)))
  }
  expect(await dev.stop("SIGINT")).toBe(0)
  rmSync(place.folder, { recursive: true, force: true })
}, 120_000)

/** What npx has to say about the machine's own settings of npm. */
function withoutNpm(output: string): string {
  return output.replace(/^npm (warn|notice) .*\n?/gm, "")
}
