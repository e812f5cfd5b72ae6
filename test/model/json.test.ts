import { describe, expect, test } from "vitest"
import { pointerOf } from "../../runtime/model/finding.ts"
import { readModel } from "../../runtime/model/read.ts"
import { type ValidateOptions, validateModel } from "../../runtime/model/validate.ts"

const user = { type: "user" }
const byUser = { directly_related_user_types: [{ type: "user" }] }

/** A model of `user` and one type `doc` with these relations; those of `direct` can be assigned to users. */
function modelOf(relations: object, direct: string[] = [], more: object = {}) {
  const metadata = { relations: Object.fromEntries(direct.map((name) => [name, byUser])) }
  return { schema_version: "1.1", type_definitions: [user, { type: "doc", relations, metadata }], ...more }
}

function findingsOf(json: unknown, options: ValidateOptions = {}): string[] {
  const read = readModel(json)
  const findings = "model" in read ? validateModel(read.model, options) : read.findings
  return findings.map(({ kind, path }) => `${kind} ${pointerOf(path)}`)
}

const direct = { this: {} }
const computed = (relation: string) => ({ computedUserset: { relation } })
const nested = (depth: number): object =>
  depth === 0 ? direct : { union: { child: [nested(depth - 1), computed("a")] } }

/** As OpenFGA's server answers a model: every field is there. */
const wire = {
  id: "01ARZ3NDEKTSV4RRFFQ69G5FAV",
  schema_version: "1.1",
  type_definitions: [
    { type: "user", relations: {}, metadata: null },
    {
      type: "doc",
      relations: {
        viewer: { union: { child: [{ this: {} }, { computedUserset: { object: "", relation: "owner" } }] } },
        owner: { this: {} },
        reader: {
          tupleToUserset: {
            tupleset: { object: "", relation: "owner" },
            computedUserset: { object: "", relation: "x" },
          },
        },
      },
      metadata: {
        relations: {
          viewer: {
            directly_related_user_types: [
              { type: "user", condition: "" },
              { type: "user", wildcard: {}, condition: "late" },
              { type: "doc", relation: "owner", condition: "" },
            ],
            module: "",
            source_info: null,
          },
          owner: {
            directly_related_user_types: [{ type: "user", condition: "" }],
            module: "",
            source_info: null,
          },
          reader: { directly_related_user_types: [], module: "", source_info: null },
        },
        module: "",
        source_info: null,
      },
    },
  ],
  conditions: {
    late: {
      name: "late",
      expression: "hour > 22",
      parameters: { hour: { type_name: "TYPE_NAME_INT", generic_types: [] } },
      metadata: null,
    },
  },
}

const canonical = {
  schema_version: "1.1",
  type_definitions: [
    { type: "user" },
    {
      type: "doc",
      relations: {
        viewer: { union: { child: [{ this: {} }, { computedUserset: { relation: "owner" } }] } },
        owner: { this: {} },
        reader: { tupleToUserset: { tupleset: { relation: "owner" }, computedUserset: { relation: "x" } } },
      },
      metadata: {
        relations: {
          viewer: {
            directly_related_user_types: [
              { type: "user" },
              { type: "user", wildcard: {}, condition: "late" },
              { type: "doc", relation: "owner" },
            ],
          },
          owner: { directly_related_user_types: [{ type: "user" }] },
        },
      },
    },
  ],
  conditions: {
    late: { name: "late", expression: "hour > 22", parameters: { hour: { type_name: "TYPE_NAME_INT" } } },
  },
}

/** Changes the keys of all objects but those that hold names of the model. */
function spelled(value: unknown, spell: (key: string) => string): unknown {
  if (Array.isArray(value)) return value.map((each) => spelled(each, spell))
  if (typeof value !== "object" || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [spell(key), spelled(each, spell)]))
}

describe("a model over HTTP", () => {
  test("comes with every field", () => expect(readModel(wire)).toEqual({ model: canonical }))

  test("comes in camelCase", () => {
    const camel = spelled(wire, (key) =>
      key.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase()),
    )
    expect(readModel(camel)).toEqual({ model: canonical })
  })

  test("comes in snake_case", () => {
    const snake = spelled(wire, (key) => key.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`))
    expect(readModel(snake)).toEqual({ model: canonical })
  })

  test("comes with unknown fields and numbers for enumerations", () => {
    const json = structuredClone(wire) as Record<string, unknown> & typeof wire
    Object.assign(json, { extra: { deep: [1] } })
    Object.assign(json.type_definitions[1] as object, { more: 1 })
    Object.assign(json.conditions.late.parameters.hour, { type_name: 4 })
    expect(readModel(json)).toEqual({ model: canonical })
  })

  test.each<[string, unknown, string[]]>([
    ["nothing", undefined, ["invalid-shape "]],
    ["null", null, ["invalid-shape "]],
    ["a text", "model", ["invalid-shape "]],
    ["a list", [], ["invalid-shape "]],
    [
      "types that are not list",
      { schema_version: "1.1", type_definitions: {} },
      ["invalid-shape /type_definitions"],
    ],
    [
      "several things at once",
      { schema_version: 11, type_definitions: [1, { type: 2, relations: [] }] },
      [
        "invalid-shape /type_definitions/0",
        "invalid-shape /type_definitions/1/relations",
        "invalid-shape /type_definitions/1/type",
        "invalid-shape /schema_version",
      ],
    ],
    ["a rewrite of no kind", modelOf({ a: {} }), ["invalid-shape /type_definitions/1/relations/a"]],
    [
      "a rewrite of two kinds",
      modelOf({ a: { this: {}, ...computed("b") } }),
      ["invalid-shape /type_definitions/1/relations/a"],
    ],
    [
      "no base",
      modelOf({ a: { difference: { subtract: direct } } }),
      ["invalid-shape /type_definitions/1/relations/a/difference/base"],
    ],
    [
      "an unknown type of a parameter",
      modelOf({}, [], {
        conditions: { c: { name: "c", expression: "true", parameters: { p: { type_name: "X" } } } },
      }),
      ["invalid-shape /conditions/c/parameters/p/type_name"],
    ],
    [
      "a name with a blank",
      modelOf({ "a b": direct }, ["a b"]),
      [
        "invalid-name /type_definitions/1/relations/a b",
        "invalid-name /type_definitions/1/metadata/relations/a b",
      ],
    ],
    [
      "no name",
      { schema_version: "1.1", type_definitions: [{ type: "" }] },
      ["invalid-name /type_definitions/0/type"],
    ],
    [
      "a key that would vanish",
      JSON.parse(
        '{"schema_version":"1.1","type_definitions":[{"type":"a","relations":{"__proto__":{"this":{}}}}]}',
      ),
      ["invalid-shape /type_definitions/0/relations/__proto__"],
    ],
  ])("is refused for its shape: %s", (_, json, wanted) => {
    const found = findingsOf(json)
    expect(found.sort()).toEqual(expect.arrayContaining(wanted))
    expect(found.every((each) => /^invalid-(?:shape|name) /.test(each))).toBe(true)
  })

  test("may be nested 64 deep, and no depth overflows the stack", () => {
    expect(findingsOf(modelOf({ x: nested(60), a: direct }, ["x", "a"]))).toEqual([])
    expect(findingsOf(modelOf({ x: nested(66), a: direct }, ["x", "a"]))[0]).toMatch(/^limit-exceeded/)
    let deep: object = direct
    for (let depth = 0; depth < 100_000; depth++)
      deep = { difference: { base: deep, subtract: computed("a") } }
    const found = findingsOf(modelOf({ x: deep, a: direct }, ["x", "a"]))
    expect(found.length).toBeGreaterThan(0)
    expect(found.every((each) => each.startsWith("limit-exceeded"))).toBe(true)
  })
})

const at = "/type_definitions/1/relations"
const condition = (more: object = {}) => ({
  name: "c",
  expression: "x > 1",
  parameters: { x: { type_name: "TYPE_NAME_INT" } },
  ...more,
})
const many = (count: number, make: (index: number) => [string, unknown]) =>
  Object.fromEntries(Array.from({ length: count }, (_, index) => make(index)))

describe("what a model says", () => {
  // [what, model, findings by the rules of the server, findings by those of the language where they differ]
  test.each<[string, object, string[], string[]?]>([
    ["nothing wrong", modelOf({ a: direct, b: computed("a") }, ["a"]), []],
    ["no schema version", { type_definitions: [user] }, ["schema-version-required /schema_version"]],
    ["schema 1.0", { schema_version: "1.0", type_definitions: [user] }, ["invalid-schema /schema_version"]],
    [
      "a union of one",
      modelOf({ a: direct, b: { union: { child: [computed("a")] } } }, ["a"]),
      [`too-few-operands ${at}/b/union/child`],
    ],
    [
      "an intersection of none",
      modelOf({ a: { intersection: { child: [] } } }),
      [`too-few-operands ${at}/a/intersection/child`],
    ],
    ["no types", modelOf({ a: direct }), [`assignable-relation-must-have-type ${at}/a`]],
    [
      "types without `this`",
      modelOf({ a: direct, b: computed("a") }, ["a", "b"]),
      ["types-not-assignable /type_definitions/1/metadata/relations/b/directly_related_user_types"],
    ],
    ["a relation that is itself", modelOf({ a: computed("a") }), [`relation-no-entry-point ${at}/a`]],
    [
      "a cycle with entry points",
      modelOf(
        {
          a: { union: { child: [direct, computed("b")] } },
          b: { union: { child: [direct, computed("a")] } },
        },
        ["a", "b"],
      ),
      [`relation-cycle ${at}/a`, `relation-cycle ${at}/b`],
    ],
    [
      "an unused condition",
      modelOf({}, [], { conditions: { c: condition() } }),
      [],
      ["condition-not-used /conditions/c"],
    ],
    [
      "repeated operands",
      modelOf({ a: direct, b: { union: { child: [computed("a"), computed("a")] } } }, ["a"]),
      [],
      [`duplicated-error ${at}/b/union/child/0`],
    ],
    [
      "a condition that does not compile",
      modelOf({}, [], { conditions: { c: condition({ expression: "x +" }) } }),
      ["invalid-condition /conditions/c/expression"],
      ["invalid-condition /conditions/c/expression", "condition-not-used /conditions/c"],
    ],
    [
      "a condition that is not a boolean",
      modelOf({}, [], { conditions: { c: condition({ expression: "x" }) } }),
      ["invalid-condition /conditions/c/expression"],
      ["invalid-condition /conditions/c/expression", "condition-not-used /conditions/c"],
    ],
    [
      "26 conditions",
      modelOf({}, [], { conditions: many(26, (index) => [`c${index}`, condition({ name: `c${index}` })]) }),
      ["limit-exceeded /conditions"],
      [
        "limit-exceeded /conditions",
        ...Array.from({ length: 26 }, (_, index) => `condition-not-used /conditions/c${index}`),
      ],
    ],
    [
      "101 types",
      {
        schema_version: "1.1",
        type_definitions: Array.from({ length: 101 }, (_, index) => ({ type: `t${index}` })),
      },
      ["limit-exceeded /type_definitions"],
    ],
    [
      "more than 256 KiB",
      modelOf(
        many(2500, (index) => [`r${index}${"x".repeat(44)}`, direct]),
        Array.from({ length: 2500 }, (_, index) => `r${index}${"x".repeat(44)}`),
      ),
      ["limit-exceeded "],
    ],
    [
      "names of JavaScript's objects",
      modelOf({ constructor: direct, toString: computed("constructor") }, ["constructor"]),
      [],
    ],
    [
      "a missing one of these",
      modelOf({ a: computed("toString") }),
      [`missing-definition ${at}/a/computedUserset/relation`],
    ],
  ])("%s", (_, json, server, language = server) => {
    expect(findingsOf(json).sort()).toEqual([...server].sort())
    expect(findingsOf(json, { rules: "language" }).sort()).toEqual([...language].sort())
  })

  test("limits can be set", () => {
    const json = {
      schema_version: "1.1",
      type_definitions: Array.from({ length: 101 }, (_, index) => ({ type: `t${index}` })),
    }
    expect(findingsOf(json, { limits: { typesMax: 200 } })).toEqual([])
    expect(findingsOf(json, { limits: { typesMax: 200, bytesMax: 100 } })).toEqual(["limit-exceeded "])
  })
})
