import { expect, test } from "vitest"
import { Report } from "../../compiler/core/diagnostic.ts"
import { MemoryFiles } from "../../compiler/core/files.ts"
import { Project } from "../../compiler/core/load.ts"
import { SourceFile } from "../../compiler/core/source.ts"
import { compileModel } from "../../compiler/model/compile-model.ts"
import { parseModel } from "../../compiler/model/document.ts"
import { lowerModel } from "../../compiler/model/lower.ts"
import { ModelMistakes } from "../../compiler/model/mistakes.ts"
import { StoreFiles } from "../../compiler/model-test/store-file.ts"
import type { ModelFinding } from "../../runtime/model/finding.ts"
import { isObjectId } from "../../runtime/model/object-id.ts"
import { readModel } from "../../runtime/model/read.ts"
import { validateModel } from "../../runtime/model/validate.ts"
import {
  conformanceFiles,
  conformanceText,
  conformanceYaml,
  describeConformance,
  type ExpectedError,
  type LanguageCase,
} from "./conformance.ts"

/** Files of the public data that no test of ours reads, with the reason. All others are read by this file, modular, print or format.test.ts. */
const unread: readonly (readonly [RegExp, string])[] = [
  [/authorization-model\.dot$/, "drawings of OpenFGA's weighted graph: the plans here have another graph"],
]

/**
 * Models their language calls valid and their server refuses ("an authorization model cannot contain a cycle"): relations of one type that
 * are computed from each other. We say so at once (SP4026).
 */
const refusedByTheirServer = new Set([
  "union does not require all child to have entry",
  "union does not require all child to have entry even for intersection child",
  "union does not require all child to have entry even for exclusion child",
])

interface Found {
  readonly code: string
  readonly place: string
  readonly detail: string
}

function findingsOf(text: string): Found[] {
  const report = new Report()
  const file = new SourceFile("model.fga", text)
  compileModel(file, report)
  return report.sorted().map(({ code, severity, span, detail }) => {
    const start = file.position(span?.start ?? 0)
    const end = file.position(span?.end ?? 0)
    const place = `${start.line - 1}:${start.column - 1}-${end.line - 1}:${end.column - 1}`
    // What may have been meant is our addition.
    const plain = detail.replace(/; did you mean `.*`\?$/, "")
    return { code: severity === "error" ? code : "lint", place, detail: plain }
  })
}

/** Codes of the grammar and of names defined twice: what the language's tools find before they look at the meaning. */
function isSyntax({ code }: Found): boolean {
  const ofGrammar = code >= "SP4001" && code <= "SP4018" && code !== "SP4012" && code !== "SP4013"
  return ofGrammar || ["SP4028", "SP4029", "SP4030", "SP4033"].includes(code)
}

function placeOf({ line, column }: ExpectedError): string {
  return `${line?.start}:${column?.start}-${line?.end}:${column?.end}`
}

/** OpenFGA's name of an error, by our code. */
const errorTypes: Record<string, string> = {
  SP4012: "invalid-schema",
  SP4013: "schema-version-required",
  SP4020: "missing-definition",
  SP4021: "invalid-type",
  SP4022: "invalid-relation-type",
  SP4023: "invalid-relation-on-tupleset",
  SP4024: "tupleuserset-not-direct",
  SP4025: "relation-no-entry-point",
  SP4027: "duplicated-error",
  SP4031: "duplicated-error",
  SP4032: "duplicated-error",
  SP4034: "reserved-",
  SP4035: "invalid-name",
  SP4036: "condition-not-defined",
  SP4037: "condition-not-used",
}

describeConformance("the language's public cases", () => {
  const all = (file: string) => conformanceYaml<LanguageCase[]>(`language/${file}`)
  const cases = (file: string) => all(file).filter((each) => each.skip !== true)

  test.each(cases("dsl-syntax-validation-cases.yaml"))("syntax: $name", ({ dsl, expected_errors }) => {
    const [first] = expected_errors ?? []
    const found = findingsOf(dsl).filter(isSyntax)
    const place = first === undefined ? undefined : `${first.line?.start}:${first.column?.start}`
    expect(found[0]?.place.split("-")[0], JSON.stringify(found)).toBe(place)
  })

  const valid = cases("dsl-syntax-validation-cases.yaml").filter((each) => !each.expected_errors?.length)
  test.each(valid)("valid as a whole: $name", ({ name, dsl }) => {
    const codes = new Set(findingsOf(dsl).map(({ code }) => code))
    codes.delete("lint")
    expect([...codes]).toEqual(refusedByTheirServer.has(name) ? ["SP4026"] : [])
  })

  test.each(cases("dsl-semantic-validation-cases.yaml"))("meaning: $name", ({ dsl, expected_errors }) => {
    const found = findingsOf(dsl).filter((each) => each.code !== "lint")
    const wanted = (expected_errors ?? []).map((each) => {
      // Their finding about a missing version has no extent; ours marks the header.
      const place = each.metadata?.errorType === "schema-version-required" ? "0:0" : placeOf(each)
      return `${each.metadata?.errorType?.replace(/^reserved-.*/, "reserved-")} ${place} ${each.msg.replace(/\.$/, "")}`
    })
    const actual = found.map(({ code, place, detail }) => {
      return `${errorTypes[code] ?? code} ${code === "SP4013" ? place.split("-")[0] : place} ${detail}`
    })
    expect(actual.sort()).toEqual(wanted.sort())
  })

  // Their tools pass these over: they do not see cycles with entry points. Ours does, at the places they name.
  const skipped = ["dsl-syntax-validation-cases.yaml", "dsl-semantic-validation-cases.yaml"].flatMap((file) =>
    all(file).filter((each) => each.skip === true),
  )
  test.each(skipped)("cycles they do not catch: $name", ({ name, dsl, expected_errors }) => {
    const found = findingsOf(dsl).filter((each) => each.code !== "lint")
    expect(new Set(found.map(({ code }) => code))).toEqual(new Set(["SP4026"]))
    if (!refusedByTheirServer.has(name))
      expect(found.map(({ place }) => place)).toEqual((expected_errors ?? []).map(placeOf))
  })

  test.each(cases("dsl-semantic-validation-cases.yaml"))("symbols: $name", ({ dsl, expected_errors }) => {
    const report = new Report()
    const { model, broken } = lowerModel(
      parseModel(new ModelMistakes(new SourceFile("model.fga", dsl), report)),
    )
    const found: ModelFinding[] = validateModel(model, { rules: "language", broken })
    for (const { msg, metadata } of expected_errors ?? []) {
      const same = found.filter((each) => each.message === msg && each.kind === metadata?.errorType)
      expect(same.length, msg).toBeGreaterThan(0)
      if (metadata?.symbol !== undefined) expect(same.map((each) => each.symbol)).toContain(metadata.symbol)
    }
  })

  test.each(cases("json-validation-cases.yaml"))("JSON: $name", ({ json, expected_errors }) => {
    const read = readModel(JSON.parse(json))
    const found = "model" in read ? validateModel(read.model, { rules: "language" }) : read.findings
    const wanted = (expected_errors ?? []).map((each) => [
      each.metadata?.errorType,
      each.msg,
      each.metadata?.symbol,
    ])
    expect(found.map((each) => [each.kind, each.message, each.symbol])).toEqual(wanted)
  })

  const ids = conformanceYaml<{ name: string; object_id: string; valid: boolean }[]>(
    "language/object-id-validation-cases.yaml",
  )
  test.each(ids)("object id: $name", ({ object_id, valid }) => {
    expect(isObjectId(object_id)).toBe(valid)
  })

  test.each([
    ["00-valid-model", 0],
    ["01-valid-model-file", 0],
    ["02-missing-model", 1],
    ["03-additional-properties", 2],
  ])("store file: %s", (name, errors) => {
    const folder = `language/stores/${name}/`
    const files = conformanceFiles(folder.slice(0, -1)).map(
      (path) => [path.slice(folder.length), conformanceText(path)] as const,
    )
    const report = new Report()
    const project = new Project(new MemoryFiles(files), report)
    const file = project.read("store.fga.yaml", undefined)
    if (file !== undefined) new StoreFiles(project, report).read(file)
    expect(report.sorted().filter(({ severity }) => severity === "error").length).toBe(errors)
  })

  test("every file of the public data is read, or named with a reason", () => {
    const read = [
      /^language\/[a-z-]+-cases\.yaml$/,
      /^language\/transformer\/[^/]+\/authorization-model\.(?:fga|json)$/,
      /^language\/transformer-module\/[^/]+\/(?:module\/.*\.fga|combined.*\.fga|authorization-model\.json|expected_.*\.json)$/,
      /^language\/stores\/[^/]+\/(?:store\.fga\.yaml|model\.fga|expected_errors\.json)$/,
    ]
    const patterns = [...read, ...unread.map(([pattern]) => pattern)]
    expect(conformanceFiles("language").filter((path) => !patterns.some((each) => each.test(path)))).toEqual(
      [],
    )
  })

  const models = conformanceFiles("language/transformer").filter((path) => path.endsWith(".fga"))
  test.each(models)("text to JSON: %s", (path) => {
    const report = new Report()
    const { model } = lowerModel(
      parseModel(new ModelMistakes(new SourceFile(path, conformanceText(path)), report)),
    )
    expect(report.sorted()).toEqual([])
    const wanted: unknown = JSON.parse(conformanceText(path.replace(/fga$/, "json")))
    expect(withoutEmpty(model)).toEqual(withoutEmpty(wanted))
    expect(readModel(wanted)).toEqual({ model })
  })
})

/** `this: {}` and `wildcard: {}` say something; all other empty values mean the same as absent ones. */
function withoutEmpty(value: unknown, key = ""): unknown {
  if (value === null) return undefined
  if (Array.isArray(value)) return value.length === 0 ? undefined : value.map((each) => withoutEmpty(each))
  if (typeof value !== "object") return value
  const entries = Object.entries(value as object).flatMap(([name, each]) => {
    const kept = withoutEmpty(each, name)
    return kept === undefined ? [] : [[name, kept]]
  })
  return entries.length === 0 && key !== "this" && key !== "wildcard"
    ? undefined
    : Object.fromEntries(entries)
}
