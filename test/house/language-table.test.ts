import { readFileSync } from "node:fs"
import { expect, test } from "vitest"
import { blocks } from "../../compiler/gateway/schema/blocks.ts"
import type { ArgumentPattern } from "../../compiler/gateway/schema/row.ts"
import { projectRoot } from "../structure/tree.ts"

const [, section = ""] =
  /^## The language\n(.*?)^### /ms.exec(readFileSync(`${projectRoot}README.md`, "utf8")) ?? []
const table = section
  .split("\n")
  .filter((line) => line.startsWith("| "))
  .join("\n")

/** Whether the table has the word, not as a part of another. */
const has = (word: string) => new RegExp(`(?<![\\w-])${word}(?![\\w-])`).test(table)

/** The fixed words of a statement behind its keyword. */
function wordsOf(parts: readonly ArgumentPattern[]): readonly string[] {
  return parts.flatMap((part) => {
    if ("word" in part) return [part.word]
    if ("slot" in part) return part.refused === true ? [] : (part.choices ?? [])
    if ("optional" in part) return wordsOf(part.optional)
    return "many" in part ? wordsOf([part.many]) : part.oneOf.flatMap(wordsOf)
  })
}

test("README's table of the language has every word of it", () => {
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
