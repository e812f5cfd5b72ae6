import { expect, test } from "vitest"
import { parseDocument } from "yaml"
import { yamlProblem } from "../../compiler/core/yaml-problem.ts"

test.each([
  ["Maximum call stack size exceeded", "values are nested too deeply here"],
  [
    "Tabs are not allowed as indentation at line 2, column 1:\n\n\t- a\n^",
    "tabs are not allowed as indentation",
  ],
  ["Nested mappings are not allowed in compact mappings.", "the string contains `: ` and has no quotes"],
])("%j", (message, said) => expect(yamlProblem(message)).toBe(said))

test("the library's own words for nesting are known", () => {
  const [first] = parseDocument("[".repeat(20_000), { prettyErrors: false }).errors
  expect(yamlProblem(first?.message ?? "")).toBe("values are nested too deeply here")
})
