import { Ajv2020, type ValidateFunction } from "ajv/dist/2020.js"
import formats from "ajv-formats"
import { describe, expect, test } from "vitest"
import { commands } from "../../compiler/cli/commands.ts"
import { loadOutputSchemas, type OutputSchema, outputJsonSchema } from "../../compiler/cli/output-schemas.ts"
import { folderWith, run } from "./run.ts"

/** Commands without JSON, and why. */
const without: Readonly<Record<string, string>> = {
  "import openapi": "prints text for gateway.conf",
  "policy convert": "prints text for gateway.conf",
  "model rename": "writes files; `plan` has their changes as JSON",
  "model split": "writes files; `plan` has their changes as JSON",
  "model merge": "writes files; `plan` has their changes as JSON",
  "hash-password": "prints the hash for gateway.conf",
  "signing-key create": "prints a statement for gateway.conf",
  "signing-key show": "prints a statement for gateway.conf",
  dev: "runs until it is stopped; its log is JSON by choice",
  serve: "runs until it is stopped; its log is JSON by choice",
  lsp: "talks to an editor by its own protocol",
  token: "prints the token alone, for `$(…)`",
  apply: "asks a person, or exits with a code; `plan`, `history` and `status` have the facts as JSON",
  "canary promote": "asks a person, or exits with a code; `canary status` has the facts as JSON",
  "canary cancel": "asks a person, or exits with a code; `canary status` has the facts as JSON",
  consent: "asks a person, or exits with a code",
  rollback: "asks a person, or exits with a code; `history` and `status` have the facts as JSON",
  login: "a dialogue with a person",
  logout: "has no result but its exit code",
  shell: "prints the answers of the engine's API, by command",
  docs: "prints pages for people",
  schema: "prints a JSON Schema",
  completion: "prints a script for a shell",
}

function compiled(schema: object | undefined): ValidateFunction {
  const ajv = new Ajv2020({ strict: true, strictRequired: false, allowUnionTypes: true })
  formats.default(ajv)
  ajv.addFormat("base64", true)
  return ajv.compile(schema as object)
}

const outputs = await loadOutputSchemas()

describe("the JSON of commands", () => {
  test.each(commands.map((row) => [row.name, row] as const))("%s", async (name, row) => {
    const { line } = await row.load()
    const flags = (line.options ?? []).map(([flag]) => flag)
    const offers =
      flags.includes("--json") ||
      /\bjson\b/.test(String(line.options?.find(([flag]) => flag === "--format <format>")?.[1]))
    if (Object.hasOwn(without, name)) {
      expect(outputs, without[name]).not.toHaveProperty([name])
      return
    }
    expect(Object.keys(outputs)).toContain(name)
    if (name !== "audit export" && name !== "tuple export") expect(offers).toBe(true)
    const schema = outputJsonSchema(name, row.summary, outputs[name] as OutputSchema)
    const validate = compiled(schema)
    expect(validate(17)).toBe(false)
  })

  test("is described by `sallyport schema`", async () => {
    const world = { cwd: folderWith({ "gateway.conf": "gateway g {\n}\n" }) }
    const { out } = await run(world, "schema", "validate")
    const validate = compiled(JSON.parse(out))
    const { out: findings } = await run(world, "validate", "--json")
    expect(validate(JSON.parse(findings)), JSON.stringify(validate.errors)).toBe(true)
    expect(validate({ ...JSON.parse(findings), findings: "none" })).toBe(false)
    // A later version may say more.
    expect(validate({ ...JSON.parse(findings), later: 1 })).toBe(true)
    const unknown = await run(world, "schema", "model", "compar")
    expect(unknown).toMatchObject({ code: 1, err: expect.stringContaining("did you mean `model compare`?") })
  })
})
