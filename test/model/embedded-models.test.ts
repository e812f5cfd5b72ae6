import { expect, test } from "vitest"
import { Report } from "../../compiler/core/diagnostic.ts"
import { SourceFile } from "../../compiler/core/source.ts"
import { compileModel } from "../../compiler/model/compile-model.ts"
import { conformanceFiles, conformanceText, conformanceYaml, describeConformance } from "./conformance.ts"
import { compileFiles } from "./modules.ts"

interface EngineTests {
  readonly tests: readonly { readonly name: string; readonly stages: readonly { readonly model: string }[] }[]
}

/** Models in OpenFGA's tests of its server, and in its sample stores. Modules are compiled together, below. */
function* models(): Generator<[name: string, text: string]> {
  for (const file of ["openfga/abac_tests.yaml", "openfga/consolidated_1_1_tests.yaml"]) {
    for (const { name, stages } of conformanceYaml<EngineTests>(file).tests) {
      for (const [stage, { model }] of stages.entries()) yield [`${file} ${name} ${stage}`, model]
    }
  }
  for (const file of conformanceFiles("sample-stores")) {
    if (file.includes("/modular/")) continue
    if (file.endsWith(".fga")) yield [file, conformanceText(file)]
    else if (file.endsWith(".fga.yaml")) {
      const { model } = conformanceYaml<{ model?: string }>(file)
      if (model !== undefined) yield [file, model]
    }
  }
}

describeConformance("the modular model OpenFGA ships", () => {
  test("compiles", () => {
    const prefix = "sample-stores/modular/"
    const paths = conformanceFiles("sample-stores/modular")
    const files = paths.map((path) => [path.slice(prefix.length), conformanceText(path)] as const)
    const { compiled, report } = compileFiles(Object.fromEntries(files))
    expect(report.sorted()).toEqual([])
    expect(compiled?.model.type_definitions.map(({ type }) => type)).toContain("organization")
  })
})

describeConformance("models OpenFGA ships", () => {
  const all = [...models()]

  test("are found", () => {
    expect(all.length).toBeGreaterThan(200)
  })

  test.each(all)("%s", (name, text) => {
    const report = new Report()
    const compiled = compileModel(new SourceFile(name, text), report)
    const errors = report.sorted().filter(({ severity }) => severity === "error")
    expect(errors.map(({ code, detail }) => `${code} ${detail}`)).toEqual([])
    expect(compiled?.model.type_definitions.length).toBeGreaterThan(0)
  })
})
