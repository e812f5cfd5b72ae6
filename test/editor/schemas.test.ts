import { readdirSync, readFileSync } from "node:fs"
import { basename } from "node:path"
import { Ajv, type ValidateFunction } from "ajv"
import { describe, expect, test } from "vitest"
import { parseAllDocuments } from "yaml"
import { Report } from "../../compiler/core/diagnostic.ts"
import { MemoryFiles } from "../../compiler/core/files.ts"
import { Project } from "../../compiler/core/load.ts"
import { readGatewayTests } from "../../compiler/gateway-test/test-file.ts"
import { ModelMistakes } from "../../compiler/model/mistakes.ts"
import { readModFile } from "../../compiler/model/mod-file.ts"
import { StoreFiles } from "../../compiler/model-test/store-file.ts"
import { projectsIn } from "../cases.ts"
import { compile } from "../compile.ts"
import { projectRoot } from "../structure/tree.ts"
import {
  everyGatewayKey,
  everyStoreKey,
  fullProject,
  wrongGatewayTests,
  wrongModules,
  wrongStores,
} from "./yaml-files.ts"

interface Schema {
  readonly $id: string
  readonly title?: string
  readonly description?: string
  readonly additionalProperties?: boolean | Schema
  readonly properties?: Readonly<Record<string, Schema>>
  readonly definitions?: Readonly<Record<string, Schema>>
}

const folder = `${projectRoot}compiler/editor/schemas/`
const schemaOf = (name: string): Schema => JSON.parse(readFileSync(`${folder}${name}.schema.json`, "utf8"))
const ajv = new Ajv({ allowUnionTypes: true, strictRequired: false, allErrors: true })
const validators = new Map<string, ValidateFunction>(
  ["store-file", "gateway-tests", "modules"].map((name) => [name, ajv.compile(schemaOf(name))]),
)

/** What the schema finds in the documents of a YAML file. */
function mistakesOf(name: string, text: string): string[] {
  const validate = validators.get(name) as ValidateFunction
  return parseAllDocuments(text, { merge: true, prettyErrors: false }).flatMap((document) =>
    validate(document.toJS())
      ? []
      : (validate.errors ?? []).map((each) => `${each.instancePath} ${each.message}`),
  )
}

type Read = (files: MemoryFiles, path: string) => Promise<Report> | Report

/** The findings of the product about a file. */
const readers: Readonly<Record<string, Read>> = {
  "store-file": (files, path) => {
    const report = new Report()
    const project = new Project(files, report)
    const file = project.read(path, undefined)
    if (file !== undefined) new StoreFiles(project, report).read(file)
    return report
  },
  "gateway-tests": async (files, path) => {
    const report = new Report()
    const file = new Project(files, report).read(path, undefined)
    const { plan, models } = compile(files, "gateway.conf")
    if (plan === undefined) throw new Error("the project does not compile")
    const projectOf = async () => ({ config: "gateway.conf", plan, folder: "/nonexistent", models })
    if (file !== undefined) await readGatewayTests(file, report, projectOf)
    return report
  },
  modules: (files, path) => {
    const report = new Report()
    const file = new Project(files, report).read(path, undefined)
    if (file !== undefined) readModFile(new ModelMistakes(file, report))
    return report
  },
}

async function findingsOf(name: string, files: MemoryFiles, path: string): Promise<number> {
  return (await (readers[name] as Read)(files, path)).sorted().length
}

const nameOf = (path: string): string | undefined => {
  if (/\.fga\.ya?ml$/.test(path)) return "store-file"
  if (/\.gw\.ya?ml$/.test(path)) return "gateway-tests"
  return path.endsWith(".mod") ? "modules" : undefined
}

describe("the schemas of YAML files", () => {
  test("accept every file of the project", () => {
    const paths = readdirSync(`${projectRoot}models`, { recursive: true, encoding: "utf8" }).filter(
      (path) => nameOf(path) !== undefined,
    )
    const found = paths.flatMap((path) =>
      mistakesOf(nameOf(path) as string, readFileSync(`${projectRoot}models/${path}`, "utf8")).map(
        (each) => `${path}: ${each}`,
      ),
    )
    expect(paths.length).toBeGreaterThan(10)
    expect(found).toEqual([])
  })

  test("accept every file of the cases that the product has no finding about", async () => {
    const found: string[] = []
    let accepted = 0
    for (const [path, sections] of projectsIn("model-test", "gateway-test", "model")) {
      const files = new MemoryFiles(sections)
      for (const [file, text] of sections) {
        const name = nameOf(file)
        if (name === undefined || (await findingsOf(name, files, file)) > 0) continue
        accepted++
        found.push(...mistakesOf(name, text).map((each) => `${basename(path)}: ${file}: ${each}`))
      }
    }
    expect(accepted).toBeGreaterThan(20)
    expect(found).toEqual([])
  })

  test.each([
    ["store-file", "store.fga.yaml", everyStoreKey],
    ["gateway-tests", "tests.gw.yaml", everyGatewayKey],
  ])("%s has the keys of the product", async (name, path, text) => {
    const report = await (readers[name] as Read)(new MemoryFiles([...fullProject, [path, text]]), path)
    const product = report.sorted().flatMap(({ code, detail, help }) => {
      const what = /is not a key of (.+?)(?:; .*|\. .*)?$/.exec(detail ?? "")?.[1]
      if (code !== "SP6003" || what === undefined) return []
      // Results of `list_users` are called by their relation.
      return [`${what === "`viewer`" ? "the result of `list_users`" : what}: ${keysOf(help ?? "")}`]
    })
    const closed = schemasOf(schemaOf(name)).filter((each) => each.additionalProperties === false)
    const own = closed.map(
      ({ title = "", properties = {} }) =>
        `${title.toLowerCase()}: ${Object.keys(properties).sort().join(" ")}`,
    )
    expect([...new Set(own)].sort()).toEqual([...new Set(product.map((each) => each.toLowerCase()))].sort())
  })

  test.each([
    ...wrongStores.map((text) => ["store-file", "store.fga.yaml", text] as const),
    ...wrongGatewayTests.map((text) => ["gateway-tests", "tests.gw.yaml", text] as const),
    ...wrongModules.map((text) => ["modules", "fga.mod", text] as const),
  ])("%s refuses what the product has a finding about: %s %j", async (name, path, text) => {
    const report = await (readers[name] as Read)(new MemoryFiles([...fullProject, [path, text]]), path)
    expect(report.sorted().length).toBeGreaterThan(0)
    expect(mistakesOf(name, text)).not.toEqual([])
  })

  test("describe every property", () => {
    const found = [...validators.keys()].flatMap((name) =>
      schemasOf(schemaOf(name)).flatMap(({ properties = {} }) =>
        Object.entries(properties).flatMap(([key, each]) =>
          each.description === undefined && !("$ref" in each) ? [`${name}: ${key}`] : [],
        ),
      ),
    )
    expect(found).toEqual([])
  })

  test("are in the catalogue with the names of their files", () => {
    const { schemas } = JSON.parse(readFileSync(`${folder}catalog.json`, "utf8")) as {
      schemas: { url: string; fileMatch: string[] }[]
    }
    const ids = [...validators.keys()].map((name) => schemaOf(name).$id)
    expect(schemas.map(({ url }) => url)).toEqual(ids)
    const names = schemas.map(({ fileMatch }) => fileMatch.map((each) => nameOf(each)))
    expect(names.map((each) => [...new Set(each)])).toEqual([...validators.keys()].map((name) => [name]))
  })
})

function schemasOf(schema: Schema): Schema[] {
  return [schema, ...Object.values(schema.definitions ?? {})]
}

/** The keys in a message, in alphabetical order. */
function keysOf(help: string): string {
  return [...help.matchAll(/`([^`]+)`/g)]
    .map(([, key]) => key)
    .sort()
    .join(" ")
}
