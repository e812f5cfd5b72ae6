import { expect, test } from "vitest"
import { jsonAnswer } from "../../runtime/authz/answer.ts"

const many = Array.from({ length: 20_000 }, (_, at) => `document:${at}\n"`)

function* each<Item>(items: readonly Item[]): Generator<Item> {
  yield* items
}

test("what is short is a text, what is long comes in pieces of a bounded size; both are the JSON of the value", () => {
  const tree = (users: Iterable<unknown>) => ({
    root: { union: { nodes: [{ leaf: { users } }, { leaf: null }] } },
  })
  for (const value of [
    {},
    { users: [], token: undefined },
    { users: ["a", 1, true, null, { b: [] }], nested: { a: { b: "ü" } } },
    { users: many, truncated: "limit" },
    { users: many.map((id) => ({ object: { type: "document", id } })), excluded: many.slice(0, 512) },
    tree(many),
  ]) {
    const { body, pieces } = jsonAnswer(value)
    const text = [...(pieces ?? [])]
    expect(body ?? text.join("")).toBe(JSON.stringify(value))
    expect(Math.max(0, ...text.map(({ length }) => length))).toBeLessThan(200_000)
    expect(pieces === undefined).toBe(JSON.stringify(value).length < 100_000)
  }
  const { pieces } = jsonAnswer(tree(each(many)))
  expect([...(pieces ?? [])].join("")).toBe(JSON.stringify(tree(many)))
})
