import { expect, test } from "vitest"
import type { Change } from "../../compiler/diff/change.ts"
import { changesJson, changesText } from "../../compiler/render/changes.ts"

const change: Change = {
  risk: "opens",
  danger: false,
  action: "changed",
  subject: { kind: "step", name: "inbound" },
  scope: { kind: "api", name: "orders" },
  routes: ["GET /orders"],
  where: "GET /orders",
  path: "routes.GET /orders.inbound.0",
  before: "a",
  after: "b",
  why: "one; two",
  reasons: [
    { risk: "opens", why: "one" },
    { risk: "closes", why: "two" },
  ],
  origin: "gateway.conf:3",
}
const told = (...changes: Partial<Change>[]) =>
  changesText(
    changes.map((each) => ({ ...change, ...each })),
    { colour: false },
  )

test("No changes are said in words, and in JSON by an empty list", () => {
  expect(changesText([], { colour: true })).toBe("No changes.\n")
  expect(changesJson([])).toBe("[]\n")
})

test("a change stands under its head, with its reasons and its place", () => {
  expect(told({})).toBe(`api orders
  ~ opens     a → b
              one
              closes: two
              GET /orders · inbound · gateway.conf:3

1 change: 1 opens
`)
})

test("dangers come first and are counted apart; a head is said once", () => {
  const neutral = { risk: "neutral", reasons: [{ risk: "neutral", why: "nothing" }] } as const
  expect(
    told(
      { danger: true, why: "much is gone", before: "9 routes", after: "1 route" },
      neutral,
      { ...neutral, action: "added", before: undefined, after: "c", where: "", origin: undefined },
      { action: "removed", after: undefined, scope: { kind: "gateway", name: "" }, origin: undefined },
    ),
  ).toBe(`danger  much is gone (9 routes → 1 route)

api orders
  ~ neutral   a → b
              nothing
              GET /orders · inbound · gateway.conf:3
  + neutral   c
              nothing
              inbound

gateway
  - opens     a
              one
              closes: two
              GET /orders · inbound

4 changes: 1 danger, 1 opens, 2 neutral
`)
})

test("long words are cut where they are equal, so that what is different is seen", () => {
  const long = (word: string) => `${"x".repeat(300)}${word}${"y".repeat(300)}`
  const lines = told({ before: long("BEFORE"), after: long("AFTER") }).split("\n")
  expect(lines[1]).toMatch(/^ {2}~ opens {5}…x{40}BEFOREy+…$/)
  expect(lines[2]).toMatch(/^ {12}→ …x{40}AFTERy+…$/)
  for (const line of lines) expect(line.length).toBeLessThan(190)
})

test("words equal on both sides are said once", () => {
  expect(told({ before: "limit 1 per 1m by ip", after: "limit 1 per 1m by ip" })).toContain(
    "  ~ opens     limit 1 per 1m by ip\n              one\n",
  )
})

test("what is printed can't command the terminal", () => {
  const evil = "\u001b[2J\nforged line\r\u0007"
  const text = told({
    before: evil,
    after: `${evil}b`,
    why: evil,
    where: evil,
    origin: evil,
    scope: { kind: "api", name: evil },
  })
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what it looks for.
  expect(text).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f]|\nforged/)
})

test("risks and signs have colours where colours are wanted", () => {
  const coloured = changesText([change], { colour: true })
  expect(coloured).toContain("\u001b[31mopens   \u001b[39m")
  expect(coloured).toContain("\u001b[33m~\u001b[39m")
  // biome-ignore lint/suspicious/noControlCharactersInRegex: colours are.
  expect(coloured.replace(/\u001b\[\d+m/g, "")).toBe(told({}))
})

test("JSON has every key, null for what is not there", () => {
  const [read] = JSON.parse(changesJson([{ ...change, before: undefined, origin: undefined }]))
  expect(Object.keys(read)).toEqual([
    "risk",
    "danger",
    "action",
    "subject",
    "scope",
    "routes",
    "where",
    "path",
    "before",
    "after",
    "why",
    "reasons",
    "origin",
  ])
  expect(read.before).toBeNull()
  expect(read.origin).toBeNull()
})
