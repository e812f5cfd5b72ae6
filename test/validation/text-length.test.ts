import { expect, test } from "vitest"
import { SchemaSet } from "../../runtime/validation/schema-set.ts"

const pieces = ["a", "ü", "\u{1f600}", "\ud83d", "\ude00", "e\u0301"]

/** All texts of at most four pieces: halves of pairs alone, in the wrong order, and such that find each other. */
function texts(length: number): string[] {
  if (length === 0) return [""]
  const shorter = texts(length - 1)
  return [...new Set([...shorter, ...shorter.flatMap((text) => pieces.map((piece) => text + piece))])]
}

test("lengths count characters; half of a pair alone is one", () => {
  const limits = [0, 1, 2, 3, 4, 5, 8]
  const schemas = new SchemaSet(
    Object.fromEntries(
      limits.flatMap((limit) => [
        [`most${limit}`, { maxLength: limit }],
        [`least${limit}`, { minLength: limit }],
      ]),
    ),
  )
  for (const text of texts(4)) {
    const count = [...text].length
    for (const limit of limits) {
      expect([text, limit, schemas.get(`most${limit}`).validate(text)]).toEqual([
        text,
        limit,
        count <= limit ? [] : [{ pointer: "", message: `must NOT have more than ${limit} characters` }],
      ])
      expect([text, limit, schemas.get(`least${limit}`).validate(text)]).toEqual([
        text,
        limit,
        count >= limit ? [] : [{ pointer: "", message: `must NOT have fewer than ${limit} characters` }],
      ])
    }
  }
})

test("a value that is not a string has no length", () => {
  const schemas = new SchemaSet({ some: { minLength: 2, maxLength: 3 } })
  for (const value of [1, null, [], ["a"], {}, true]) expect(schemas.get("some").validate(value)).toEqual([])
})
