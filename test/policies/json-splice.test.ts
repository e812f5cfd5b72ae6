import fc from "fast-check"
import { describe, expect, test } from "vitest"
import { isNamedOnce, withoutItems } from "../../runtime/policies/bodies/json-splice.ts"

const path = (words: string): string[] => (words === "" ? [] : words.split("."))
const flags = (text: string): boolean[] => [...text].map((each) => each === "+")

describe("items taken out of a JSON text", () => {
  test.each<[string, string, string, string, string]>([
    ["the whole text", "", "[1, 2 ,3]", "+-+", "[1 ,3]"],
    ["the first", "", "[ 1, 2,3 ]", "-++", "[ 2,3 ]"],
    ["the last", "", "[1,2,3]\n", "++-", "[1,2]\n"],
    ["all", "", "[\n 1,\n 2\n]", "--", "[]"],
    ["none", "", " [1,2] ", "++", " [1,2] "],
    [
      "numbers that JavaScript cannot hold",
      "",
      "[9007199254740993,1.0,1e3,-0,1]",
      "++++-",
      "[9007199254740993,1.0,1e3,-0]",
    ],
    [
      "texts with brackets and quotes",
      "",
      String.raw`["]","\"[","\\",{"a":"}"}]`,
      "++-+",
      String.raw`["]","\"[",{"a":"}"}]`,
    ],
    ["in a member", "items", '{"a":1.0,"items":[1.50,2],"b":"x"}', "+-", '{"a":1.0,"items":[1.50],"b":"x"}'],
    ["further inside", "d.r", '{"d":{"r":[1,2]},"total":2}', "-+", '{"d":{"r":[2]},"total":2}'],
    [
      "a count that was the length",
      "i",
      '{"i":[1,2], "total": 2.0, "n": 2}',
      "+-",
      '{"i":[1], "total": 1, "n": 2}',
    ],
    ["a count that was another", "i", '{ "total_count":90, "i":[1,2],"size":1e2 }', "+-", '{ "i":[1] }'],
    ["a count that is not a number", "i", '{"count":"2","i":[1,2]}', "+-", '{"count":"2","i":[1]}'],
    ["a name with escapes", "items", String.raw`{"it\u0065ms":[1,2]}`, "-+", String.raw`{"it\u0065ms":[2]}`],
    [
      "counts on other levels",
      "d.i",
      '{"count":2,"d":{"i":[1,2],"count":2}}',
      "+-",
      '{"count":2,"d":{"i":[1],"count":1}}',
    ],
    ["blanks of every kind", "i", '{\r\n\t"i" :\t[ 1 , 2 ]\r\n}', "-+", '{\r\n\t"i" :\t[ 2 ]\r\n}'],
  ])("%s", (_, names, text, keep, expected) => {
    expect(isNamedOnce(text, path(names))).toBe(true)
    expect(withoutItems(text, path(names), flags(keep))).toBe(expected)
  })

  test.each<[string, string]>([
    ["i", '{"i":[1],"i":[2]}'],
    ["i", String.raw`{"i":[1],"\u0069":[2]}`],
    ["d.i", '{"d":{"i":[1]},"d":{"i":[2]}}'],
    ["d.i", '{"d":{"i":[1],"i":[]}}'],
  ])("two members %s are told: %s", (names, text) => {
    expect(isNamedOnce(text, path(names))).toBe(false)
  })

  test("of any array, in any layout, what is left is what was to be left", () => {
    const spaces = fc.constantFrom("", " ", "\n  ", "\t")
    fc.assert(
      fc.property(
        fc.array(fc.tuple(fc.jsonValue(), fc.boolean()), { maxLength: 8 }),
        fc.dictionary(
          fc.string().filter((name) => name !== "list"),
          fc.jsonValue(),
          { maxKeys: 4 },
        ),
        fc.constantFrom(0, 2),
        spaces,
        (items, beside, indent, space) => {
          const list = items.map(([item]) => item)
          const keep = items.map(([, stays]) => stays)
          const text = `${space}${JSON.stringify({ ...beside, list }, null, indent)}${space}`
          expect(isNamedOnce(text, ["list"])).toBe(true)
          const left = JSON.parse(withoutItems(text, ["list"], keep)) as { list: unknown[] }
          expect(left.list).toEqual(
            (JSON.parse(JSON.stringify(list)) as unknown[]).filter((_, at) => keep[at]),
          )
        },
      ),
    )
  })
})
