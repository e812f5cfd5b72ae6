import fc from "fast-check"
import { expect, test } from "vitest"
import { hasMoreValues } from "../../runtime/plan/json-scan.ts"

/** Values and names; an empty list or object counts as if it held one. */
function countOf(value: unknown): number {
  if (typeof value !== "object" || value === null) return 1
  const inside = Array.isArray(value) ? value : Object.values(value)
  const names = Array.isArray(value) ? 0 : inside.length
  return inside.reduce((sum: number, each) => sum + countOf(each), 1 + names + (inside.length === 0 ? 1 : 0))
}

test("values and names are counted, whatever is in texts", () => {
  fc.assert(
    fc.property(fc.jsonValue({ maxDepth: 5 }), fc.boolean(), (value, isSpaced) => {
      const json = Buffer.from(JSON.stringify(value, undefined, isSpaced ? 2 : 0))
      const count = countOf(value)
      expect(hasMoreValues(json, count)).toBe(false)
      expect(hasMoreValues(json, count - 1)).toBe(true)
    }),
    { numRuns: 500 },
  )
})

test.each(['"', '"\\', '{"a":"', "", "\\"])("what is no JSON ends: %s", (text) => {
  expect(hasMoreValues(Buffer.from(text.padEnd(20, " ")), 3)).toBe(false)
  expect(hasMoreValues(Buffer.from(`[${text}`), 10)).toBe(false)
})
