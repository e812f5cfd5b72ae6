import { readFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { expect, test } from "vitest"
import { SourceFile } from "../../compiler/core/source.ts"
import type { Statement } from "../../compiler/gateway/ast.ts"
import { type ParsedFile, parseAgain, parseFile } from "../../compiler/gateway/reparse.ts"
import { Random } from "../naive/random.ts"
import { firstSeed, scaled, tellAsked } from "../support/random-run.ts"

const path = "gateway.conf"
const original = readFileSync(fileURLToPath(new URL(`../../${path}`, import.meta.url)), "utf8")
const edits = scaled(200)
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

/** The statements of files, APIs and versions, which a compilation makes something of one by one. */
function statementsIn(statements: readonly Statement[], level = 1): readonly Statement[] {
  return statements.flatMap((each) => [
    each,
    ...(level === 3 ? [] : statementsIn(each.block?.statements ?? [], level + 1)),
  ])
}

test(`after each of ${edits} random edits, the tree and the findings are those of the whole text parsed`, (context) => {
  const random = new Random(firstSeed)
  let parsed = parseFile(new SourceFile(path, original))
  const asked = { clear: 0, unclear: 0, same: 0, other: 0 }
  for (let round = 0; round < edits; round++) {
    const { text } = parsed.document.file
    const start = random.below(text.length + 1)
    const removed = random.chance(60) ? 0 : random.below(random.chance(20) ? 200 : 4)
    const next = random.chance(15)
      ? original
      : text.slice(0, start) + random.pick(pieces) + text.slice(start + removed)
    const before = new Set(statementsIn(parsed.document.statements))
    parsed = parseAgain(parsed, next)
    const after = statementsIn(parsed.document.statements)
    // In a tree, a statement is at one place only.
    expect(new Set(after).size).toBe(after.length)
    asked.same += after.filter((each) => before.has(each)).length
    asked.other += after.filter((each) => !before.has(each)).length
    asked[parsed.isUnclear ? "unclear" : "clear"] += 1
    expect(plain(parsed)).toBe(plain(parseFile(new SourceFile(path, next))))
  }
  tellAsked(context, asked)
  expect(Math.min(asked.unclear, asked.clear)).toBeGreaterThan(edits / 20)
  expect(asked.same).toBeGreaterThan(asked.other)
})
