import { expect, test } from "vitest"
import { parse } from "yaml"
import { withTuple } from "../../compiler/playground/tuple-text.ts"

const tuple = { user: "group:eng#member", relation: "viewer", object: "doc:1" }
const line = '- { user: "group:eng#member", relation: viewer, object: "doc:1" }'

test.each([
  [
    "a list",
    'tuples:\n  - { user: "user:a" } # first\n\ntests: []\n',
    `tuples:\n  - { user: "user:a" } # first\n  ${line}\n\ntests: []\n`,
  ],
  [
    "a list of blocks",
    "tuples:\n- user: user:a\n  object: doc:2\ntests: []\n",
    `tuples:\n- user: user:a\n  object: doc:2\n${line}\ntests: []\n`,
  ],
  ["a list at the end", "tuples:\n  - user: a", `tuples:\n  - user: a\n  ${line}\n`],
  [
    "no list",
    "name: a\ntuples:\n  # none\ntests: []\n",
    `name: a\ntuples:\n  ${line}\n  # none\ntests: []\n`,
  ],
  ["an empty list", "tuples: []\ntests: []\n", `tuples:\n  ${line}\ntests: []\n`],
  [
    "a list in brackets",
    'tuples: [{ user: "user:a" }]\n',
    `tuples: [{ user: "user:a" }, ${line.slice(2)}]\n`,
  ],
  ["no key", "name: a", `name: a\ntuples:\n  ${line}\n`],
  ["nothing", "", `tuples:\n  ${line}\n`],
])("adds a tuple where there is %s", (_, text, expected) => {
  const made = withTuple(text, tuple)
  expect(made).toBe(expected)
  expect((parse(made ?? "") as { tuples: unknown[] }).tuples.at(-1)).toEqual(tuple)
})

test.each(["- a\n", "tuples: 3\n", "a: [\n", "{ name: a }\n"])("leaves %j alone", (text) => {
  expect(withTuple(text, tuple)).toBeUndefined()
})

test("quotes what YAML would read differently", () => {
  const made = withTuple("", { user: 'user:"a\\', relation: "no", object: "doc:*" })
  expect(parse(made ?? "")).toEqual({ tuples: [{ user: 'user:"a\\', relation: "no", object: "doc:*" }] })
})
