import { dirname } from "node:path"
import { expect, test } from "vitest"
import { Workbench } from "../../compiler/playground/workbench.ts"
import { conformanceFiles, conformanceText, describeConformance } from "../model/conformance.ts"

describeConformance("OpenFGA's sample stores in the playground", () => {
  const files = conformanceFiles("sample-stores")
  const folders = [...new Set(files.map((path) => path.split("/").slice(0, 2).join("/")))]

  test("are all there", () => {
    expect(folders.length).toBeGreaterThan(15)
  })

  test.each(folders)("%s opens without an error, and its tests pass", async (folder) => {
    const inside = files.filter((path) => `${dirname(path)}/`.startsWith(`${folder}/`))
    const texts = Object.fromEntries(
      inside.map((path) => [path.slice(folder.length + 1), conformanceText(path)]),
    )
    const { findings, stores } = (await new Workbench().open(texts)).analysis
    expect(findings.filter(({ severity }) => severity === "error")).toEqual([])
    expect(stores.length).toBe(Object.keys(texts).filter((path) => path.endsWith(".fga.yaml")).length)
    const failed = stores.flatMap(({ name, tests }) =>
      tests.filter(({ passed }) => !passed).map((each) => `${name}: ${each.name}`),
    )
    expect(failed).toEqual([])
  })
})
