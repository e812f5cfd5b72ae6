import { readFileSync } from "node:fs"
import { join } from "node:path"
import { describe, expect, test } from "vitest"
import { parse } from "yaml"
import { projectRoot } from "../structure/tree.ts"
import { folderWith, run } from "./run.ts"

const documents = join(projectRoot, "test/cases/documents")
const file = (name: string): string => readFileSync(join(documents, name), "utf8")
const gateway = "gateway g { listen 127.0.0.1:8000; trust none }\n"

describe("import openapi", () => {
  test.each(["petstore.yaml", "orders-2.0.json", "uploads.yaml", "minimal.json"])(
    "%s: the text compiles as it is",
    async (name) => {
      const printed = await run(
        { cwd: folderWith({ [name]: file(name) }) },
        "import",
        "openapi",
        name,
        "--name",
        "made",
      )
      expect(printed).toMatchObject({ code: 0, err: "" })
      const { out } = await run({ cwd: folderWith({ "gateway.conf": gateway + printed.out }) }, "validate")
      const errors = [...out.matchAll(/^error (SP\d{4})/gm)].map(([, code]) => code)
      expect(errors).toEqual([])
    },
  )

  test("says what the text is", async () => {
    const cwd = folderWith({ "pets.yaml": file("petstore.yaml") })
    const { out } = await run({ cwd }, "import", "openapi", "pets.yaml")
    expect(out).toContain("# Pets 1.0.0, from pets.yaml.")
    expect(out).toContain('api pets {\n  path "/pets"\n')
    expect(out).toContain(
      '  DELETE "/pets/{petId}" {\n    auth subscription { header "api_key"; query none }\n  }\n',
    )
  })

  test("a document with mistakes is not imported", async () => {
    const cwd = folderWith({ "a.yaml": file("refused-path.yaml") })
    const { code, out, err } = await run({ cwd }, "import", "openapi", "a.yaml")
    expect({ code, out }).toEqual({ code: 1, out: "" })
    expect(err).toContain("error SP8007")
    expect(err).toContain("a.yaml:4:3")
    const json = await run({ cwd }, "import", "openapi", "a.yaml", "--format", "json")
    expect(json.err).toContain('"SP8007"')
  })

  test.each([
    [["import", "openapi", "."], "is a file"],
    [["import", "openapi", "a.yaml", "--name", "a b"], "can't be the name"],
    [["import", "openapi", "a.yaml", "--path", "a"], "can't be the path"],
    [["import", "openapi", "none.yaml"], "does not exist"],
  ])("%j is refused", async (words, why) => {
    const { code, err } = await run({ cwd: folderWith({}) }, ...words)
    expect(code).toBe(1)
    expect(err).toContain(why)
  })
})

describe("export openapi", () => {
  const conf = `${gateway}
issuer i { discovery "https://id.example/.well-known/openid-configuration"; audience a }
api pets { path "/p"; auth jwt i; backend "http://127.0.0.1:9001"; limit 10 per 1m by jwt.sub; version v1 { openapi "pets.yaml"; deprecated; validate request }; version v2 { ANY "/x/{rest*}" } }
`
  const world = () => ({ cwd: folderWith({ "gateway.conf": conf, "pets.yaml": file("petstore.yaml") }) })

  test("has security, limits, the gateway's own answers and where it is served", async () => {
    const { code, out } = await run(world(), "export", "openapi", "pets", "--api-version", "v1")
    expect(code).toBe(0)
    const made = JSON.parse(out)
    expect(made).toMatchObject({
      openapi: "3.1.0",
      info: { title: "Pets", version: "1.0.0" },
      servers: [{ url: "/v1/p" }],
      components: { securitySchemes: { jwt_i: { scheme: "bearer" }, key: { name: "api_key" } } },
    })
    const get = made.paths["/pets"].get
    expect(get).toMatchObject({
      deprecated: true,
      security: [{ jwt_i: [] }],
      "x-rate-limits": [{ calls: 10, periodSeconds: 60, by: "jwt.sub" }],
    })
    expect(Object.keys(get.responses)).toEqual(["200", "400", "401", "403", "429", "default"])
    expect(made.paths["/pets/{petId}"].delete.security).toEqual([{ key: [] }])
  })

  test("as YAML, and of operations nobody described", async () => {
    const { out } = await run(world(), "export", "openapi", "pets", "--api-version", "v2", "--format", "yaml")
    const made = parse(out) as { paths: Record<string, Record<string, unknown>> }
    expect(Object.keys(made.paths)).toEqual(["/x/{rest}"])
    expect(Object.keys(made.paths["/x/{rest}"] ?? {})).toHaveLength(7)
  })

  test.each([
    [["pets"], "has several versions"],
    [["pets", "--api-version", "v3"], "has no version"],
    [["cats"], "there is no API"],
  ])("%j is refused", async (words, why) => {
    const { code, err } = await run(world(), "export", "openapi", ...words)
    expect(code).toBe(1)
    expect(err).toContain(why)
  })
})
