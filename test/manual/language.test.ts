import { expect, test } from "vitest"
import { blocks } from "../../compiler/gateway/schema/blocks.ts"
import type { ArgumentPattern } from "../../compiler/gateway/schema/row.ts"
import { sourcePages } from "./pages.ts"

const reference = sourcePages()
  .filter(({ path }) => path.startsWith("compiler/docs/reference/"))
  .map(({ text }) => text)
  .join("\n")

/** Whether the reference has the word, not as a part of another. */
const has = (word: string) => new RegExp(`(?<![\\w-])${word}(?![\\w-])`).test(reference)

/** The fixed words of a statement behind its keyword. */
function wordsOf(parts: readonly ArgumentPattern[]): readonly string[] {
  return parts.flatMap((part) => {
    if ("word" in part) return [part.word]
    if ("slot" in part) return part.refused === true ? [] : (part.choices ?? [])
    if ("optional" in part) return wordsOf(part.optional)
    return "many" in part ? wordsOf([part.many]) : part.oneOf.flatMap(wordsOf)
  })
}

test("the reference has every word of the language", () => {
  const words = Object.entries(blocks).flatMap(([block, { rows }]) =>
    rows.flatMap(({ keyword, forms }) =>
      [keyword, ...forms.flatMap(({ args }) => wordsOf(args))].map((word) => ({ block, keyword, word })),
    ),
  )
  expect(words.length).toBeGreaterThan(500)
  // Methods, algorithms and statuses are lists of others, named by an example.
  const ours = words.filter(({ word }) => /[a-z]/.test(word) && !/^Ed/.test(word))
  const missing = ours.filter(({ word }) => !has(word))
  expect([...new Set(missing.map(({ block, keyword, word }) => `${block}: ${keyword} … ${word}`))]).toEqual(
    [],
  )
})

test("the list of all statements fits two screens", () => {
  const page = sourcePages().find(({ path }) => path === "compiler/docs/syntax.md")?.text ?? ""
  const region = /<!-- generated: blocks -->\n(.*?)<!-- end of generated -->/s.exec(page)?.[1] ?? ""
  // As a reader sees it: without the addresses of links, and 120 characters in a line.
  const lines = region
    .trim()
    .replace(/\]\([^)]*\)/g, "]")
    .split("\n")
  const rows = lines.reduce((sum, line) => sum + Math.ceil(line.replace(/[[\]`]/g, "").length / 120), 0)
  expect(lines.length).toBeGreaterThan(60)
  expect(rows).toBeLessThanOrEqual(100)
})
