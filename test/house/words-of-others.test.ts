import { readFileSync } from "node:fs"
import { expect, test } from "vitest"
import { refused } from "../../compiler/azure/elements/refused.ts"
import { policies } from "../../compiler/azure/elements/table.ts"
import { blocks } from "../../compiler/gateway/schema/blocks.ts"
import { everyScope, routeScope } from "../../compiler/gateway/schema/scopes.ts"
import { projectRoot } from "../structure/tree.ts"

const table = readFileSync(`${projectRoot}compiler/docs/coming-from/words.md`, "utf8")
const cells = table
  .split("\n")
  .filter((line) => line.startsWith("| "))
  .map((line) => line.split("|").map((cell) => cell.trim()))

/** Whether a column has the word, not as a part of another. */
const has = (column: number, word: string) =>
  cells.some((row) => new RegExp(`(?<![\\w-])${word}(?![\\w-])`).test(row[column] ?? ""))

const named = ["api", "version", "policy", "inbound", "outbound", "on-error", "product", "backend"] as const

test("the page of words says for every statement of a scope, section, product or backend what others call it", () => {
  const rows = [...everyScope, ...routeScope, ...named.flatMap((name) => blocks[name].rows)]
  const all = [...new Set(rows.map(({ keyword }) => keyword))]
  // Operations begin with their method.
  const keywords = all.filter((keyword) => keyword !== keyword.toUpperCase())
  expect(keywords.length).toBeGreaterThan(60)
  expect(keywords.filter((keyword) => !has(1, keyword))).toEqual([])
})

test("the page of words says for every element of a policy document what it is here", () => {
  const elements = [...Object.keys(policies), ...Object.keys(refused)]
  expect(elements.length).toBeGreaterThan(40)
  expect(elements.filter((element) => !has(2, element))).toEqual([])
  expect(has(2, "rate")).toBe(false)
})

test("the page of words names no element of policy documents that is not read", () => {
  const named = cells.slice(2).flatMap((row) => row[2]?.match(/[a-z]+(?:-[a-z]+)+/g) ?? [])
  // A part of an element, a section, and what stands for another file.
  const known = [
    ...[...Object.keys(policies), ...Object.keys(refused)],
    ...["content-type-map", "on-error", "include-fragment"],
  ]
  expect(named.filter((name) => !known.includes(name))).toEqual([])
})
