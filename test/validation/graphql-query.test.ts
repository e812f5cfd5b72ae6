import fc from "fast-check"
import { describe, expect, test } from "vitest"
import { measureQuery } from "../../runtime/validation/graphql-query.ts"

describe("the size of a query", () => {
  const sizes: readonly (readonly [string, number, number, boolean])[] = [
    ["{ a }", 1, 1, false],
    ["{ a b: a c: a }", 1, 3, false],
    ["query Q($n: Int = 3) @d(x: {y: {z: 1}}) { a(in: {b: {c: [{d: 1}]}}) { b } }", 2, 2, false],
    ["{ a { ... on T { b { c } } ... @include(if: true) { d } } }", 3, 4, false],
    ["{ a { ...F } b { ...F } } fragment F on T { c { d } }", 3, 6, false],
    ["fragment F on T { c } query A { a } mutation B { b { ...F } }", 2, 2, false],
    ["{ __typename a { __typename } }", 2, 3, false],
    ['{ __type(name: "T") { name } }', 2, 2, true],
    ["query A { a } query B { ...F } fragment F on Query { __schema { types { name } } }", 3, 3, true],
    ['{ a(text: "} } {", block: """ { { """) # { {\n { b } }', 2, 2, false],
    ["subscription { a, b , , c }", 1, 3, false],
  ]
  test.each(sizes)("%s", (text, depth, fields, introspects) => {
    expect(measureQuery(text)).toEqual({ depth, fields, introspects })
  })

  test("fragments in fragments are counted without being written out", () => {
    const doubling = Array.from(
      { length: 60 },
      (_, at) => `fragment F${at} on T { x ...F${at + 1} ...F${at + 1} }`,
    )
    const text = `{ ...F0 } ${doubling.join(" ")} fragment F60 on T { x }`
    expect(measureQuery(text)).toEqual({ depth: 1, fields: 2 ** 61 - 1, introspects: false })
  })
})

describe("a document nobody can execute", () => {
  const problems: readonly (readonly [string, string])[] = [
    ["", "is not GraphQL"],
    ["{ a", "is not GraphQL"],
    ["{ a { } }", "is not GraphQL"],
    ["fragment F on T { a }", "has no operation"],
    ["type T { a: Int }", "has no operation"],
    ["{ ...None }", "uses a fragment `None` that it does not have"],
    [
      "{ ...F } fragment F on T { a { ...G } } fragment G on T { ...F }",
      "has a fragment `F` that contains itself",
    ],
    [`{ ${"a ".repeat(20_000)}}`, "has more than 20000 tokens"],
    [`{ ${"a { ".repeat(9_000)}`, "is nested too deeply to be read"],
  ]
  test.each(problems)("%.60s", (text, problem) => {
    expect(measureQuery(text)).toEqual({ problem })
  })
})

/** Writes out what fragments stand for, and counts fields and levels one by one. */
interface Field {
  readonly name: string
  readonly inner: readonly Field[]
}

test("random queries: as large as the same query without fragments, counted by hand", () => {
  const name = fc.constantFrom("a", "b", "__typename")
  const { field } = fc.letrec<{ field: Field }>((tie) => ({
    field: fc.oneof(
      { maxDepth: 5 },
      fc.record({ name, inner: fc.constant([]) }),
      fc.record({ name, inner: fc.array(tie("field"), { maxLength: 3 }) }),
    ),
  }))
  const depthOf = (fields: readonly Field[]): number =>
    fields.length === 0 ? 0 : 1 + Math.max(...fields.map(({ inner }) => depthOf(inner)))
  const countOf = (fields: readonly Field[]): number =>
    fields.reduce((sum, { inner }) => sum + 1 + countOf(inner), 0)
  fc.assert(
    fc.property(fc.array(field, { minLength: 1, maxLength: 4 }), fc.boolean(), (fields, inFragments) => {
      const fragments: string[] = []
      const written = (inner: readonly Field[]): string => {
        if (inner.length === 0) return ""
        const text = `{ ${inner.map(({ name, inner: more }) => `${name} ${written(more)}`).join(" ")} }`
        if (!inFragments) return text
        fragments.push(`fragment F${fragments.length} on T ${text}`)
        return `{ ...F${fragments.length - 1} }`
      }
      const text = `query Q ${written(fields)}`
      expect(measureQuery([text, ...fragments].join("\n"))).toEqual({
        depth: depthOf(fields),
        fields: countOf(fields),
        introspects: false,
      })
    }),
  )
})
