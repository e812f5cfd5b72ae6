import { describe, expect, test } from "vitest"
import { Report } from "../../compiler/core/diagnostic.ts"
import { MemoryFiles } from "../../compiler/core/files.ts"
import { SourceFile, type Span } from "../../compiler/core/source.ts"
import { ModelMistakes } from "../../compiler/model/mistakes.ts"
import { readModFile } from "../../compiler/model/mod-file.ts"
import { readModel } from "../../runtime/model/read.ts"
import { compile } from "../compile.ts"
import {
  conformanceFiles,
  conformanceText,
  conformanceYaml,
  describeConformance,
  type ExpectedError,
} from "./conformance.ts"
import { compileFiles, modOf } from "./modules.ts"

interface ModCase {
  readonly name: string
  readonly modFile: string
  readonly json?: string
  readonly expected_errors?: readonly ExpectedError[]
}

interface ModuleError extends ExpectedError {
  readonly file: string
  readonly type?: string
}

function placeOf({ file, start, end }: Span): string {
  const [from, to] = [file.position(start), file.position(end)]
  return `${from.line - 1}:${from.column - 1}-${to.line - 1}:${to.column - 1}`
}

function expectedPlace({ line, column }: Pick<ExpectedError, "line" | "column">): string {
  return `${line?.start}:${column?.start}-${line?.end}:${column?.end}`
}

/** Ours quote names, add what may have been meant, and write no full stop. */
function plain(message: string): string {
  return message.replace(/; did you mean `.*`\?$/, "").replace(/[`.]/g, "")
}

const folder = "language/transformer-module"

/** Findings of theirs that follow from another one: the type that does not exist is said where it stands, and may have the relation. */
const consequences = new Set([
  "the can_manage relation definition on type employe is not valid: can_manage does not exist on manager, which is of type employee",
])

/** The files of one of the public modular models, by their names inside of it. */
function moduleFiles(name: string): Record<string, string> {
  const prefix = `${folder}/${name}/module/`
  const paths = conformanceFiles(folder).filter((path) => path.startsWith(prefix))
  return Object.fromEntries(paths.map((path) => [path.slice(prefix.length), conformanceText(path)]))
}

describeConformance("fga.mod", () => {
  test.each(conformanceYaml<ModCase[]>("language/fga-mod-transformer-cases.yaml"))(
    "$name",
    ({ modFile, json, expected_errors }) => {
      const report = new Report()
      const read = readModFile(new ModelMistakes(new SourceFile("fga.mod", modFile), report))
      const found = report.sorted().map(({ span, detail }) => `${placeOf(span as Span)} ${plain(detail)}`)
      const wanted = (expected_errors ?? []).map((each) => `${expectedPlace(each)} ${plain(each.msg)}`)
      expect(found.sort()).toEqual(wanted.sort())
      if (json === undefined) return
      const { schema, contents } = JSON.parse(json)
      expect([read?.schema.text, placeOf(read?.schema.span as Span)]).toEqual([
        schema.value,
        expectedPlace(schema),
      ])
      expect(placeOf(read?.contents.span as Span)).toBe(expectedPlace(contents))
      expect(read?.contents.value.map(({ text, span }) => [text, placeOf(span)])).toEqual(
        contents.value.map((each: { value: string } & ModuleError) => [each.value, expectedPlace(each)]),
      )
    },
  )
})

describeConformance("modular models", () => {
  const names = [...new Set(conformanceFiles(folder).map((path) => path.split("/")[2] as string))]
  const has = (name: string, file: string) =>
    conformanceFiles(`${folder}/${name}`).some((path) => path.endsWith(file))
  // One public model comes without its modules: its JSON is read, and printed in language.test.ts.
  const valid = names.filter((name) => has(name, "combined.fga"))
  const wrong = names.filter((name) => has(name, "expected_errors.json"))

  test.each(valid)("files to JSON: %s", (name) => {
    const files = moduleFiles(name)
    const { compiled, report } = compileFiles({ ...files, "fga.mod": modOf(Object.keys(files)) })
    expect(report.sorted().filter(({ severity }) => severity === "error")).toEqual([])
    const wanted = readModel(JSON.parse(conformanceText(`${folder}/${name}/authorization-model.json`)))
    expect({ model: compiled?.model }).toEqual(wanted)
    const modules = JSON.parse(conformanceText(`${folder}/${name}/expected_modules.json`)) as string[]
    expect(modulesOf(compiled?.model)).toEqual(modules.sort())
  })

  test.each(wrong)("messages: %s", (name) => {
    const files = moduleFiles(name)
    const { compiled, report } = compileFiles({ ...files, "fga.mod": modOf(Object.keys(files)) })
    expect(compiled).toBeUndefined()
    const errors: readonly ModuleError[] = JSON.parse(
      conformanceText(`${folder}/${name}/expected_errors.json`),
    )
    // Messages about syntax are the words of their parser; here counts that one is at that place. Where a file is no
    // module they name no place; ours marks the header that says so.
    const own = errors.filter((each) => !consequences.has(plain(each.msg)))
    const theirs = own.map((each) => {
      if (each.type === "syntax") return `${each.file} ${each.line?.start}:${each.column?.start} syntax`
      const place = each.msg === "file is not a module" ? "0:0" : expectedPlace(each)
      return `${each.file} ${place} ${plain(each.msg)}`
    })
    const ours = report.sorted().map(({ code, span, detail }) => {
      const place = placeOf(span as Span)
      const start = place.split("-")[0]
      const path = span?.file.path
      if (code === "SP4009") return `${path} ${start} syntax`
      return `${path} ${code === "SP4055" ? start : place} ${plain(detail)}`
    })
    expect(ours.sort()).toEqual(theirs.sort())
  })
})

function modulesOf(model: unknown): string[] {
  const found = new Set<string>()
  JSON.stringify(model, (key, value) => {
    if (key === "module") found.add(value)
    return value
  })
  return [...found].sort()
}

const core = "module core\ntype user\ntype team\n  relations\n    define member: [user]\n"
const billing =
  "module billing\nextend type team\n  relations\n    define payer: member and [user]\ntype invoice\n"

describe("a modular model", () => {
  test("names the part of the file that is wrong, in the file it is in", () => {
    const { report } = compileFiles(
      {
        "models/fga.mod": modOf(["core.fga", "team/billing.fga", "gone.fga"]),
        "models/core.fga": core,
        "models/team/billing.fga": billing,
      },
      "models/fga.mod",
    )
    const found = report
      .sorted()
      .map(({ code, span }) => `${code} ${span?.file.path} ${placeOf(span as Span)}`)
    expect(found).toEqual(["SP0001 models/fga.mod 4:4-4:12", "SP4015 models/team/billing.fga 3:29-3:35"])
  })

  test("is the same in whatever order its files are listed, but for the order of its parts", () => {
    const files = {
      "core.fga": core,
      "billing.fga": billing
        .replace("member and [user]", "[user] and member")
        .replace("type invoice", "type invoice\n  relations\n    define payer: [team#payer]"),
    }
    const models = [
      ["core.fga", "billing.fga"],
      ["billing.fga", "core.fga"],
    ].map((order) => {
      const { compiled } = compileFiles({ ...files, "fga.mod": modOf(order) })
      return compiled?.model.type_definitions.toSorted((a, b) => (a.type < b.type ? -1 : 1))
    })
    expect(models[0]).toBeDefined()
    expect(models[1]).toEqual(models[0])
  })

  test("knows where its names are declared, in each file", () => {
    const { compiled } = compileFiles({
      "fga.mod": modOf(["core.fga", "billing.fga"]),
      "core.fga": core,
      "billing.fga": "module billing\nextend type team\n  relations\n    define payer: [user]\n",
    })
    const relations = compiled?.types.get("team")?.relations
    expect([...(relations ?? [])].map(([name, span]) => `${name} ${span.file.path}`)).toEqual([
      "member core.fga",
      "payer billing.fga",
    ])
  })
})

describe("a store's modular model", () => {
  const conf = 'authz {\n  listen 127.0.0.1:8080\n  store acme { model "models/fga.mod" }\n}\n'
  const files = {
    "gateway.conf": conf,
    "models/fga.mod": modOf(["core.fga", "more/billing.fga"]),
    "models/core.fga": core,
    "models/more/billing.fga": "module billing\nextend type team\n  relations\n    define payer: [user]\n",
  }

  test("is part of the plan, and all its files are watched", () => {
    const { plan, diagnostics, sources } = compile(new MemoryFiles(Object.entries(files)), "gateway.conf")
    expect(diagnostics).toEqual([])
    const [model] = Object.values(plan?.plan.models ?? {})
    expect(model?.relations.relations.map(({ type, relation }) => `${type}#${relation}`)).toEqual([
      "team#member",
      "team#payer",
    ])
    expect(sources).toEqual(Object.keys(files).sort())
  })

  test("does not compile with a mistake in one of its files", () => {
    const wrong = { ...files, "models/core.fga": core.replace("[user]", "[usr]") }
    const { plan, diagnostics } = compile(new MemoryFiles(Object.entries(wrong)), "gateway.conf")
    expect(plan).toBeUndefined()
    expect(diagnostics.map(({ code, span }) => `${code} ${span?.file.path}`)).toEqual([
      "SP4021 models/core.fga",
    ])
  })

  test("may be given as JSON, with places in it", () => {
    const json = `{
  "schema_version": "1.1",
  "type_definitions": [
    {"type": "user"},
    {"type": "doc", "relations": {"viewer": {"this": {}}},
     "metadata": {"relations": {"viewer": {"directly_related_user_types": [{"type": "user"}]}}}}
  ]
}`
    const given = { "gateway.conf": conf.replace("fga.mod", "acme.json"), "models/acme.json": json }
    const { plan, diagnostics } = compile(new MemoryFiles(Object.entries(given)), "gateway.conf")
    expect(diagnostics).toEqual([])
    expect(Object.keys(plan?.plan.models ?? {}).length).toBe(1)
    const wrong = { ...given, "models/acme.json": json.replace('[{"type": "user"}]', '[{"type": "usr"}]') }
    const found = compile(new MemoryFiles(Object.entries(wrong)), "gateway.conf").diagnostics
    expect(found.map(({ code, span }) => `${code} ${span?.file.path} ${placeOf(span as Span)}`)).toEqual([
      "SP4021 models/acme.json 5:84-5:89",
    ])
  })
})
