import { readFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { expect, test } from "vitest"
import { SourceFile } from "../../compiler/core/source.ts"
import { type ParsedFile, parseFile, reparse } from "../../compiler/gateway/reparse.ts"
import { Random } from "../naive/random.ts"
import { firstSeed, scaled, tellAsked } from "../support/random-run.ts"

const path = "gateway.conf"
const original = readFileSync(fileURLToPath(new URL(`../../${path}`, import.meta.url)), "utf8")
const edits = scaled(20_000, 0.02)
const pieces = [
  ...["{", "}", '"', "(", ")", "${", "<<T", "T", "\n", "\r\n", "#", ";", "x", " ", "else", "", "é", "\u200b"],
  ...["auth jwt acme\n", "\n  respond 403\n", "# a comment\n", "when(true) { }\n", "}x", 'GET "/x" {\n  }\n'],
]

/** Without the file, which has the whole text. A compilation sorts findings by place. */
function plain({ document: { statements, comments }, findings }: ParsedFile): string {
  const sorted = [...findings].sort((a, b) => (a.span?.start ?? 0) - (b.span?.start ?? 0))
  return JSON.stringify({ statements, comments, sorted }, (key, value) =>
    key === "file" ? undefined : value,
  )
}

test(`after each of ${edits} random edits, the tree and the findings are those of the whole text parsed`, (context) => {
  const random = new Random(firstSeed)
  let parsed = parseFile(new SourceFile(path, original))
  const asked = { partly: 0, wholly: 0 }
  for (let round = 0; round < edits; round++) {
    const { text } = parsed.document.file
    const start = random.below(text.length + 1)
    const removed = random.chance(60) ? 0 : random.below(random.chance(20) ? 200 : 4)
    const next = random.chance(15)
      ? original
      : text.slice(0, start) + random.pick(pieces) + text.slice(start + removed)
    const again = reparse(parsed, next)
    asked[again === undefined ? "wholly" : "partly"] += 1
    parsed = again ?? parseFile(new SourceFile(path, next))
    const fresh = parseFile(new SourceFile(path, next))
    if (again !== undefined) expect(plain(again)).toBe(plain(fresh))
  }
  tellAsked(context, asked)
  expect(asked.partly).toBeGreaterThan(edits / 10)
})
