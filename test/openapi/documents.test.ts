import { existsSync, readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { describe, expect, test } from "vitest"
import { parse } from "yaml"
import { Report } from "../../compiler/core/diagnostic.ts"
import { MemoryFiles } from "../../compiler/core/files.ts"
import { Project } from "../../compiler/core/load.ts"
import { exportParts } from "../../compiler/gateway/export-api.ts"
import type { ApiDocument } from "../../compiler/openapi/api-document.ts"
import { exportDocument } from "../../compiler/openapi/export-document.ts"
import { printGateway } from "../../compiler/openapi/print-gateway.ts"
import { readApiDocument } from "../../compiler/openapi/read-document.ts"
import { explanationJsonSchema, planJsonSchema } from "../../runtime/plan/json-schema.ts"
import type { StepId } from "../../runtime/plan/steps.ts"
import { SchemaSet } from "../../runtime/validation/schema-set.ts"
import { compile } from "../compile.ts"
import { reduced } from "../support/random-run.ts"
import { outlineOf } from "./outline.ts"

const folder = fileURLToPath(new URL("../cases/documents", import.meta.url))
const root = fileURLToPath(new URL("../..", import.meta.url))

/** A document of another origin than a file here: its text, or undefined where there is none. */
const others: readonly (readonly [string, () => string | undefined])[] = [
  ["made of the schema of explanations", () => madeOf(explanationJsonSchema())],
  ["of a configuration: knip", () => madeOfFile("node_modules/knip/schema.json")],
  [
    "refused: a configuration whose schema stands elsewhere",
    () => madeOfFile("node_modules/knip/schema-jsonc.json"),
  ],
  [
    "of JSON Schema itself, draft 7",
    () => madeOfFile("node_modules/ajv/dist/refs/json-schema-draft-07.json"),
  ],
  [
    "of JSON Schema itself, 2020-12: validation",
    () => madeOfFile("node_modules/ajv/dist/refs/json-schema-2020-12/meta/validation.json"),
  ],
  ["an export of our own", () => exportOf("petstore.yaml")],
  ["an export of an export", () => exportOf("several.json")],
  ...reduced<readonly (readonly [string, () => string | undefined])[]>(
    [],
    [
      ["made of the schema of plans", () => madeOf(planJsonSchema())],
      [
        "of a configuration: biome",
        () => madeOfFile("node_modules/@biomejs/biome/configuration_schema.json"),
      ],
    ],
  ),
]

function madeOfFile(path: string): string | undefined {
  const at = join(root, path)
  if (!existsSync(at) || !path.endsWith(".json")) return undefined
  return madeOf(JSON.parse(readFileSync(at, "utf8")) as object)
}

/** A document with one operation that takes and gives what a schema says; its definitions are those of the schema. */
function madeOf(schema: object): string {
  const moved = JSON.parse(
    JSON.stringify(schema)
      .replaceAll('"#/$defs/', '"#/components/schemas/')
      .replaceAll('"#/definitions/', '"#/components/schemas/'),
  ) as Record<string, unknown>
  const { $defs, definitions, ...whole } = moved
  const content = { "application/json": { schema: { $ref: "#/components/schemas/Whole" } } }
  return JSON.stringify({
    openapi: "3.1.0",
    info: { title: "Made", version: "1" },
    paths: {
      "/": { post: { requestBody: { content }, responses: { "200": { description: "ok", content } } } },
    },
    components: { schemas: { Whole: whole, ...($defs as object), ...(definitions as object) } },
  })
}

function exportOf(name: string): string {
  return JSON.stringify(
    exported(read(name, readFileSync(join(folder, name), "utf8")).document as ApiDocument),
  )
}

function read(path: string, text: string): { document: ApiDocument | undefined; report: Report } {
  const report = new Report()
  const project = new Project(new MemoryFiles([[path, text]]), report)
  const file = project.read(path, undefined)
  const document =
    file === undefined ? undefined : readApiDocument(file, report, (name, at) => project.readNamed(name, at))
  return { document, report }
}

/** A document as it is written again, without a gateway. */
function exported(document: ApiDocument): object {
  const facts = {
    security: undefined,
    limits: [],
    limitHeaders: [],
    retryAfter: "retry-after",
    problems: [],
    errors: "problem" as const,
    deprecated: false,
  }
  return exportDocument({
    title: document.title,
    release: document.release,
    description: document.description,
    servers: document.servers.map(({ url }) => ({ url })),
    operations: document.operations.map((operation) => ({ ...facts, operation, document })),
    securitySchemes: {},
  })
}

const files = readdirSync(folder).sort()
const documents = [
  ...files.map(
    (name) => [name, () => readFileSync(join(folder, name), "utf8") as string | undefined] as const,
  ),
  ...others.map(([name, make]) => [name, make] as const),
]

const conf = (name: string, bare: boolean): string => `
gateway g { listen 127.0.0.1:8000 }
issuer i { discovery "https://id.example/.well-known/openid-configuration"; audience a }
api a { path "/a"; auth jwt i; backend "http://127.0.0.1:9001"; openapi "${name}"${bare ? "" : "; validate request; validate response"} }
`

describe.each(documents)("%s", (name, make) => {
  test("is served and written again as it was read, or refused with its places", (context) => {
    const text = make()
    if (text === undefined) return context.skip("needs a package that is not installed")
    const path = /\.(?:json|ya?ml)$/.test(name) ? name : "made.json"
    const { document, report } = read(path, text)
    const compiled = (bare: boolean) =>
      compile(
        new MemoryFiles([
          ["gateway.conf", conf(path, bare)],
          [path, text],
        ]),
        "gateway.conf",
      )
    if (report.blocked) {
      expect(compiled(true).plan).toBeUndefined()
      expect(report.sorted().every(({ span }) => span !== undefined)).toBe(true)
      expect(name).toMatch(/^refused/)
      return
    }
    expect(name).not.toMatch(/^refused/)
    let result = compiled(false)
    // What no automaton can match is refused where something is judged by it, and served where nothing is.
    if (result.plan === undefined) {
      expect(
        result.diagnostics.filter(({ severity }) => severity === "error").map(({ code }) => code),
      ).toContain("SP8013")
      result = compiled(true)
    }
    expect(result.diagnostics.filter(({ severity }) => severity === "error")).toEqual([])
    const { plan, described } = result
    if (plan === undefined || document === undefined) throw new Error("no plan")
    const schemas = new SchemaSet(plan.plan.schemas)
    while (schemas.compileNext());
    // Written and read again it is the same, and with the gateway's own words it can be read.
    const once = exported(document)
    const again = read("made.json", JSON.stringify(once))
    expect(again.report.sorted().filter(({ severity }) => severity === "error")).toEqual([])
    expect(exported(again.document as ApiDocument)).toEqual(once)
    expect(operationsOf(again.document)).toEqual(operationsOf(document))
    const { routes, steps } = plan.plan
    const served = { routes, step: (id: StepId) => steps[id], errors: "problem" as const }
    const written = exportDocument(exportParts(served, described, "a", null))
    expect(read("made.json", JSON.stringify(written)).report.blocked).toBe(false)
    const text2 = printGateway(document, { name: "b", path: "/b", file: path, mock: false })
    expect(text2).toContain("api b {")
  })
})

/** Operations, parameters and security, without places in the file. */
function operationsOf(document: ApiDocument | undefined): string[] {
  return outlineOf(document)
    .split("\n")
    .filter((line) => /^(?:[A-Z]+ \/| {2}(?:path|query|header|cookie|security) |scheme )/.test(line))
    .map((line) => line.replace(/ \S+:\d+$/, "").replace(/ (?:#|\{|[\w./-]+#).*$/, ""))
}

test("there are twenty, of different origin", () => {
  expect(documents.length).toBeGreaterThanOrEqual(20)
  expect(files.some((name) => typeof parse(readFileSync(join(folder, name), "utf8")) === "object")).toBe(true)
})
