import fc from "fast-check"
import { expect, test } from "vitest"
import { run } from "./run.ts"

const int = fc.oneof(fc.integer({ min: -3, max: 3 }), fc.integer())
const operands: Readonly<Record<string, fc.Arbitrary<string>>> = {
  int: int.map(String),
  long: fc
    .oneof(fc.bigInt({ min: -3n, max: 3n }), fc.bigInt({ min: -(2n ** 62n), max: 2n ** 62n }))
    .map((value) => `${value}L`),
  double: fc.oneof(
    int.map((value) => `${value}.5`),
    fc.constantFrom("double.NaN", "0.0", "-0.0", "1e300"),
  ),
  decimal: int.map((value) => `${value}.50m`),
  char: fc.constantFrom("'a'", "'b'", "'\\u00e9'", "' '"),
}

// A comparison of plain operands is compiled without a call, one with a nullable side goes through the table of operators.
test.each(Object.entries(operands))("comparisons of %s are those of its nullable form", (type, operand) => {
  fc.assert(
    fc.property(operand, operand, fc.constantFrom("==", "!=", "<", "<=", ">", ">="), (a, b, op) => {
      const source = `@{ ${type} a = ${a}; ${type} b = ${b}; ${type}? c = ${a}; return (a ${op} b) + "," + (c ${op} b); }`
      const [plain, lifted] = String(run(source)).split(",")
      expect(plain).toBe(lifted)
    }),
    { numRuns: 150 },
  )
})

test("texts are equal as objects are", () => {
  const text = fc.constantFrom('""', '"a"', '"A"', '"ab"', "null", '"\\u00e9"', '"e\\u0301"')
  fc.assert(
    fc.property(text, text, (a, b) => {
      const source = `@{ string a = ${a}; string b = ${b}; return (a == b) + "," + object.Equals(a, b) + "," + !(a != b); }`
      expect(new Set(String(run(source)).split(",")).size).toBe(1)
    }),
  )
})
