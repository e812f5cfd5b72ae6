import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { expect, test } from "vitest"
import { statementHelp } from "../../compiler/cli/help.ts"
import { Report } from "../../compiler/core/diagnostic.ts"
import { SourceFile } from "../../compiler/core/source.ts"
import type { BoundBlock } from "../../compiler/gateway/bind/bound.ts"
import { bind } from "../../compiler/gateway/bind.ts"
import { languageReference } from "../../compiler/gateway/language-reference.ts"
import { parseGateway } from "../../compiler/gateway/parser.ts"
import { projectRoot } from "../structure/tree.ts"
import { projectOf } from "./frames.ts"
import { fences } from "./pages.ts"

/** How often a keyword is written in each block, as `audience in issuer`. */
type Uses = Map<string, number>

const language = languageReference()
const keywords = [...new Set(language.flatMap(({ statements }) => statements.map(({ keyword }) => keyword)))]

function count(text: string, by: number, uses: Uses) {
  const report = new Report()
  countIn(bind([parseGateway(new SourceFile("gateway.conf", text), report)], report), by, uses)
}

function countIn({ name, statements }: BoundBlock, by: number, uses: Uses) {
  for (const { row, block, otherwise } of statements) {
    const key = `${row.keyword} in ${name}`
    uses.set(key, (uses.get(key) ?? 0) + by)
    for (const inner of [block, otherwise]) if (inner !== undefined) countIn(inner, by, uses)
  }
}

/** The uses in the examples and in the manual, without what the frames of the manual's fragments add. */
function measured(): Uses {
  const uses: Uses = new Map()
  const examples = readdirSync(join(projectRoot, "models/examples"), { recursive: true, encoding: "utf8" })
    .filter((path) => path.endsWith(".conf"))
    .map((path) => join("models/examples", path))
  for (const path of ["gateway.conf", ...examples])
    count(readFileSync(join(projectRoot, path), "utf8"), 1, uses)
  for (const { info, text } of fences("gateway")) {
    const frame = info.find((word) => !/^SP\d|^save=/.test(word))
    count(projectOf(frame, text), 1, uses)
    if (frame !== undefined) count(projectOf(frame, ""), -1, uses)
  }
  return uses
}

/** The titles of the blocks of each meaning, in the order in which `help KEYWORD` prints them. */
function meaningsOf(keyword: string): string[][] {
  return (statementHelp([keyword], 10_000) ?? "")
    .split("\n----\n")
    .map((meaning) => (/^Blocks: (.+)$/m.exec(meaning)?.[1] ?? "").split(", "))
}

const uses = measured()
const titles = new Map(language.map(({ name, title }) => [title, name as string]))
const several = keywords.map((keyword) => [keyword, meaningsOf(keyword)] as const)

test.each(several.filter(([, meanings]) => meanings.length > 1))(
  "`help %s` begins with the commonest meaning, where one is clearly commonest",
  (keyword, meanings) => {
    const counts = meanings.map((blocks) =>
      blocks.reduce((sum, title) => sum + (uses.get(`${keyword} in ${titles.get(title)}`) ?? 0), 0),
    )
    const [most = 0, second = 0] = counts.toSorted((a, b) => b - a)
    if (most >= 3 && most >= 2 * second) expect(counts[0], `uses: ${counts.join(", ")}`).toBe(most)
  },
)

test("`help audience` begins with the audience of an issuer", () => {
  expect(meaningsOf("audience")[0]).toEqual(["`issuer`"])
})
