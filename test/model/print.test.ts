import fc from "fast-check"
import { describe, expect, test } from "vitest"
import { Report } from "../../compiler/core/diagnostic.ts"
import { SourceFile } from "../../compiler/core/source.ts"
import { parseModel } from "../../compiler/model/document.ts"
import { lowerModel } from "../../compiler/model/lower.ts"
import { ModelMistakes } from "../../compiler/model/mistakes.ts"
import { modelInOrder } from "../../compiler/model/model-order.ts"
import { modelText } from "../../compiler/model/model-text.ts"
import { printModel } from "../../compiler/model/print-model.ts"
import { readModel } from "../../runtime/model/read.ts"
import type { AuthorizationModel } from "../../runtime/plan/authorization-model.ts"
import {
  conformanceFiles,
  conformanceText,
  conformanceYaml,
  describeConformance,
  type LanguageCase,
} from "./conformance.ts"
import { randomModel } from "./random-model.ts"

/** The JSON a text says, whether or not it is a valid model. */
function jsonOf(text: string): AuthorizationModel {
  const report = new Report()
  const { model } = lowerModel(parseModel(new ModelMistakes(new SourceFile("model.fga", text), report)))
  expect(report.sorted().map(({ code, detail }) => `${code} ${detail}`)).toEqual([])
  return model
}

function textOf(model: AuthorizationModel): string {
  const printed = printModel(model)
  if ("problem" in printed) throw new Error(printed.problem)
  return printed.text
}

function readText(json: string): AuthorizationModel {
  const read = readModel(JSON.parse(json))
  if ("findings" in read) throw new Error(JSON.stringify(read.findings))
  return read.model
}

/** Without the modules, which a text does not hold, and with the types by name. */
function withoutModules(model: AuthorizationModel): AuthorizationModel {
  const kept = JSON.stringify(model, (key, value) =>
    key === "module" || key === "source_info" ? undefined : value,
  )
  const { type_definitions, ...rest } = readText(kept)
  return { ...rest, type_definitions: type_definitions.toSorted((a, b) => (a.type < b.type ? -1 : 1)) }
}

interface SyntaxCase {
  readonly name: string
  readonly json: string
  readonly valid?: boolean
  readonly error_message?: string
}

describeConformance("JSON to text", () => {
  const models = conformanceFiles("language/transformer").filter((path) => path.endsWith(".json"))
  test.each(models)("%s", (path) => {
    expect(printModel(readText(conformanceText(path)))).toEqual({
      text: conformanceText(path.replace(/json$/, "fga")),
    })
  })

  const combined = conformanceFiles("language/transformer-module").filter((path) =>
    /combined.*\.fga$/.test(path),
  )
  test.each(combined)("%s", (path) => {
    const model = readText(conformanceText(path.replace(/[^/]*$/, "authorization-model.json")))
    expect(printModel(model, { sourceInfo: path.endsWith("sourceinfo.fga") })).toEqual({
      text: conformanceText(path),
    })
    expect(withoutModules(jsonOf(conformanceText(path)))).toEqual(withoutModules(model))
  })

  test("a modular model whose files are not there", () => {
    const model = readText(
      conformanceText("language/transformer-module/06-complex-module/authorization-model.json"),
    )
    expect(withoutModules(jsonOf(textOf(model)))).toEqual(withoutModules(model))
  })

  test.each(conformanceYaml<SyntaxCase[]>("language/json-syntax-transformer-validation-cases.yaml"))(
    "$name",
    ({ json, valid, error_message }) => {
      const printed = printModel(readText(json))
      if (valid === false) expect(printed).toEqual({ problem: error_message })
      else expect(printed).toHaveProperty("text")
    },
  )

  test.each(conformanceYaml<LanguageCase[]>("language/json-validation-cases.yaml"))(
    "$name",
    ({ json, expected_errors }) => {
      const model = readText(json)
      const printed = printModel(model)
      // What is wrong with a model need not keep it from being written; what is right does not. Lists move to the front.
      if ((expected_errors ?? []).length === 0) expect(printed).toHaveProperty("text")
      if ("text" in printed)
        expect(modelInOrder(withoutModules(jsonOf(printed.text)))).toEqual(
          modelInOrder(withoutModules(model)),
        )
      else expect(printed.problem).not.toBe("")
    },
  )

  const texts = ["dsl-syntax-validation-cases.yaml", "dsl-semantic-validation-cases.yaml"].flatMap((file) =>
    conformanceYaml<LanguageCase[]>(`language/${file}`).flatMap(({ name, dsl }) => {
      const report = new Report()
      const document = parseModel(new ModelMistakes(new SourceFile("model.fga", dsl), report))
      return report.blocked || document.header?.kind !== "model" ? [] : [{ name, dsl }]
    }),
  )
  test.each(texts)("and back, $name", ({ dsl }) => {
    const model = jsonOf(dsl)
    // What is defined twice is only half in the JSON.
    const names = model.type_definitions.map(({ type }) => type)
    const printed = printModel(model)
    if (new Set(names).size === names.length) expect(jsonOf(textOf(model))).toEqual(model)
    else expect(printed).toHaveProperty("text")
  })
})

test("every model whose names the language has comes back from its text", () => {
  fc.assert(
    fc.property(randomModel, (model) => {
      const text = textOf(model)
      expect(jsonOf(text)).toEqual(model)
      expect(textOf(jsonOf(text))).toBe(text)
    }),
    { numRuns: 500 },
  )
})

const user = { type: "user" }
const byUser = { directly_related_user_types: [user] }
const direct = { this: {} }
const computed = (relation: string) => ({ computedUserset: { relation } })

function modelOf(relations: object, direct_: readonly string[] = [], more: object = {}): AuthorizationModel {
  const metadata = { relations: Object.fromEntries(direct_.map((name) => [name, byUser])) }
  return {
    schema_version: "1.1",
    type_definitions: [user, { type: "doc", relations, metadata }],
    ...more,
  } as AuthorizationModel
}

function conditionOf(more: object): AuthorizationModel {
  const parameters = { x: { type_name: "TYPE_NAME_INT" } }
  return modelOf({}, [], { conditions: { c: { name: "c", expression: "x > 1", parameters, ...more } } })
}

const unsupported = (relation: string) =>
  `the '${relation}' relation definition under the 'doc' type is not supported by the OpenFGA DSL syntax yet`

describe("a model the language has no words for", () => {
  test.each<[string, AuthorizationModel, string]>([
    ["a type", { schema_version: "1.1", type_definitions: [{ type: "1st" }] }, "the type `1st` has a name"],
    ["a relation", modelOf({ "a*": direct }, ["a*"]), "the relation of type `doc` `a*` has a name"],
    ["a word of the language", modelOf({ or: direct }, ["or"]), "`or` has a name"],
    ["a name in a definition", modelOf({ a: computed("é") }), "the relation in `doc#a` `é` has a name"],
    [
      "a condition's name",
      modelOf({}, [], { conditions: { "a.b": { name: "a.b", expression: "true" } } }),
      "`a.b`",
    ],
    ["a parameter's name", conditionOf({ parameters: { "x y": { type_name: "TYPE_NAME_INT" } } }), "`x y`"],
    ["no parameters", conditionOf({ parameters: undefined }), "the condition `c` has no parameters"],
    [
      "any",
      conditionOf({ parameters: { x: { type_name: "TYPE_NAME_ANY" } } }),
      "parameter `x` of condition `c` has a type",
    ],
    [
      "nested types",
      conditionOf({
        parameters: {
          x: {
            type_name: "TYPE_NAME_LIST",
            generic_types: [{ type_name: "TYPE_NAME_LIST", generic_types: [{ type_name: "TYPE_NAME_INT" }] }],
          },
        },
      }),
      "nested types",
    ],
    ["a brace", conditionOf({ expression: "x > 1 }" }), "the expression of condition `c`"],
    ["a name that differs", conditionOf({ name: "d" }), "condition key is `c`"],
    ["two lists", modelOf({ a: { union: { child: [direct, direct] } } }, ["a"]), unsupported("a")],
    [
      "a list behind but not",
      modelOf({ a: { difference: { base: computed("b"), subtract: direct } } }, ["a"]),
      unsupported("a"),
    ],
    ["one operand", modelOf({ a: { union: { child: [direct] } } }, ["a"]), unsupported("a")],
    ["no types", modelOf({ a: direct }), unsupported("a")],
    ["types without a list", modelOf({ a: computed("b") }, ["a"]), unsupported("a")],
  ])("%s", (_, model, message) => {
    expect(printModel(model)).toEqual({ problem: expect.stringContaining(message) })
  })

  test("a list inside of parentheses comes first, as anywhere", () => {
    const inner = { intersection: { child: [computed("b"), direct] } }
    const model = modelOf({ a: { union: { child: [computed("c"), inner] } } }, ["a"])
    expect(printModel(model)).toEqual({ text: expect.stringContaining("define a: ([user] and b) or c\n") })
  })

  test("no JSON makes the printer throw, and what it prints is understood", () => {
    const names = fc.oneof(
      fc.constantFrom("a", "user", "or", "a b", "__proto__", "1"),
      fc.string({ maxLength: 5 }),
    )
    const leaf = fc.oneof(
      fc.constant({ this: {} }),
      names.map(computed),
      fc.record({
        tupleToUserset: fc.record({
          tupleset: fc.record({ relation: names }),
          computedUserset: fc.record({ relation: names }),
        }),
      }),
    )
    const part = fc.oneof(
      leaf,
      fc.record({ union: fc.record({ child: fc.array(leaf, { maxLength: 3 }) }) }),
      fc.record({ difference: fc.record({ base: leaf, subtract: leaf }) }),
    )
    const condition = fc.record({
      name: names,
      expression: fc.string(),
      parameters: fc.dictionary(names, fc.constant({ type_name: "TYPE_NAME_INT" })),
    })
    const model = fc.record({
      schema_version: fc.constantFrom("1.1", "", "x"),
      type_definitions: fc.array(
        fc.record({
          type: names,
          relations: fc.dictionary(names, part),
          metadata: fc.record({
            relations: fc.dictionary(names, fc.constant(byUser)),
            module: fc.option(fc.string(), { nil: undefined }),
          }),
        }),
        { maxLength: 3 },
      ),
      conditions: fc.dictionary(names, condition),
    })
    fc.assert(
      fc.property(model, (json) => {
        const printed = printModel(json as AuthorizationModel, { sourceInfo: true })
        if ("text" in printed) {
          const report = new Report()
          parseModel(new ModelMistakes(new SourceFile("model.fga", printed.text), report))
          expect(report.sorted()).toEqual([])
        } else expect(printed.problem).not.toBe("")
      }),
      { numRuns: 500 },
    )
  })
})

describe("the text door of the API", () => {
  test("reads a model, and prints it", () => {
    const text = "model\n  schema 1.1\n\ntype user\n\ntype doc\n  relations\n    define a: [user]\n"
    const read = modelText.read(text)
    expect(read).toEqual({ model: modelOf({ a: direct }, ["a"]) })
    if ("model" in read) expect(modelText.print(read.model)).toEqual({ text })
  })

  test("says where what is wrong, without warnings", () => {
    expect(
      modelText.read("model\n  schema 1.1\ntype user\ntype doc\n  relations\n    define a: [usr]\n"),
    ).toEqual({
      problems: [
        { line: 6, column: 16, message: "Unknown type: `usr` is not a valid type; did you mean `user`?" },
      ],
    })
    expect(modelText.read("module a\n")).toHaveProperty("problems")
    expect(modelText.read("")).toHaveProperty("problems")
  })
})
