import { readFileSync } from "node:fs"
import { join } from "node:path"
import { describe, expect, test } from "vitest"
import { parse } from "yaml"
import { MemoryFiles } from "../../compiler/core/files.ts"
import { compile } from "../compile.ts"
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
      expect(printed.code).toBe(0)
      expect(printed.err).not.toMatch(/^error/m)
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

  const examples = `
openapi: 3.0.3
info: { title: Shop, version: "1" }
servers: [{ url: "http://{host}" }, { url: "https://shop.example//v1/" }]
paths:
  /items:
    get:
      parameters: [{ name: q, in: query, schema: { type: string } }]
      responses: { "200": { description: all, content: { application/json: { example: [{ a: "\\u2028 $" }, "\${x}"] } } } }
    post:
      requestBody: { content: { application/json: { schema: { type: object } } } }
      responses: { "201": { description: made } }
  /items/{id}:
    get:
      parameters: [{ name: id, in: path, required: true, schema: {} }]
      responses: { "2XX": { description: one, content: { application/vnd.a+json: { schema: { $ref: "#/components/schemas/Item" } } } } }
    put:
      parameters: [{ name: id, in: path, required: true, schema: {} }]
      responses: { "200": { description: a text, content: { text/csv: { example: "a\\tb\\n\\"c\\"" } } } }
    patch:
      parameters: [{ name: id, in: path, required: true, schema: {} }]
      responses: { "200": { description: a picture, content: { image/*: { schema: { type: string, format: binary } } } } }
    delete:
      parameters: [{ name: id, in: path, required: true, schema: {} }]
      responses: { "101": { description: none to give } }
components:
  schemas:
    Item: { type: object, properties: { name: { type: string, example: Lamp }, secret: { type: string, writeOnly: true } } }
`

  test("--mock: operations answer examples, and samples of what has none", async () => {
    const cwd = folderWith({ "shop.yaml": examples })
    const { code, out, err } = await run({ cwd }, "import", "openapi", "shop.yaml", "--mock")
    expect({ code, err }).toEqual({ code: 0, err: "" })
    expect(out).toContain('  # backend "https://shop.example/v1"\n')
    const compiled = compile(new MemoryFiles([["gateway.conf", gateway + out]]), "gateway.conf")
    expect(compiled.diagnostics.map(({ detail }) => detail)).toEqual([])
    const answers = Object.values(compiled.plan?.plan.steps ?? {}).flatMap((step) =>
      step.kind === "respond" ? [[step.status, step.media, JSON.stringify(step.body)]] : [],
    )
    expect(answers.sort()).toEqual([
      [
        200,
        "application/json",
        JSON.stringify({ text: '[\n  {\n    "a": "\\u2028 $"\n  },\n  "${x}"\n]\n' }),
      ],
      [200, "application/octet-stream", JSON.stringify({ text: "text" })],
      [200, "application/vnd.a+json", JSON.stringify({ text: '{\n  "name": "Lamp"\n}\n' })],
      [200, "text/csv", JSON.stringify({ text: 'a\tb\n"c"' })],
      [201, null, undefined],
      [501, null, undefined],
    ])
  })

  test("without it a backend is asked; what the text can't hold is said", async () => {
    const { out } = await run(
      { cwd: folderWith({ "shop.yaml": examples }) },
      "import",
      "openapi",
      "shop.yaml",
    )
    expect(out).toContain('  backend "https://shop.example/v1"\n')
    expect(out).toContain(
      "# Nothing here checks 5 parameters and the bodies of 1 operation against the schemas of the document. To check them,\n",
    )
    expect(out).not.toContain("respond")
  })

  test("a document in a folder refers to all of the project, and to nothing outside", async () => {
    const document = (reference: string): string =>
      JSON.stringify({
        openapi: "3.1.0",
        info: { title: "A", version: "1" },
        paths: { "/a": { $ref: reference } },
      })
    const cwd = folderWith({
      "apis/a.json": document("../common/paths.yaml#/a"),
      "apis/out.json": document("../../paths.yaml#/a"),
      "apis/url.json": document("https://example.com/paths.yaml#/a"),
      "common/paths.yaml": 'a: { get: { responses: { "200": { description: x } } } }',
    })
    const right = await run({ cwd }, "import", "openapi", "apis/a.json")
    expect(right).toMatchObject({ code: 0, err: "" })
    expect(right.out).toContain('GET "/a"')
    for (const [name, place] of [
      ["out", "apis/out.json:1:77"],
      ["url", "apis/url.json:1:77"],
    ] as const) {
      const wrong = await run({ cwd }, "import", "openapi", `apis/${name}.json`)
      expect({ code: wrong.code, out: wrong.out }).toEqual({ code: 1, out: "" })
      expect(wrong.err).toContain(place)
    }
  })

  test("ways in that no text can say are comments, and others stay", async () => {
    const key = (name: string, place = "header"): object => ({ type: "apiKey", in: place, name })
    const secured = (...ways: object[]): object => ({ responses: {}, security: ways })
    const text = JSON.stringify({
      openapi: "3.0.0",
      info: { title: "Keys", version: "1" },
      paths: {
        "/open": { get: secured({}) },
        "/two": { get: secured({ a: [] }, { b: [] }) },
        "/blank": { get: secured({ blank: [] }, { a: [] }) },
        "/cookie": { get: secured({ cookie: [] }) },
      },
      components: {
        securitySchemes: {
          a: key("X-A"),
          b: key("X-B"),
          blank: key("An API key"),
          cookie: key("k", "cookie"),
        },
      },
    })
    const { out } = await run({ cwd: folderWith({ "keys.json": text }) }, "import", "openapi", "keys.json")
    expect(out).toContain('GET "/open" {\n    auth none  # the document requires no authentication\n  }')
    expect(out).toContain(
      'GET "/two" {\n    auth subscription { header "X-A"; query none }\n    auth subscription { header "X-B"; query none }\n  }',
    )
    expect(out).toContain(
      "# the document requires a key in the header An API key (blank): write the matching auth here\n",
    )
    expect(out).toContain(
      "# the document requires a key in the cookie k (cookie): write the matching auth here\n",
    )
  })

  test("a document without operations is not imported", async () => {
    const text = '{ "openapi": "3.1.0", "info": { "title": "Hooks", "version": "1" }, "webhooks": {} }'
    const { code, err } = await run({ cwd: folderWith({ "a.json": text }) }, "import", "openapi", "a.json")
    expect(code).toBe(1)
    expect(err).toContain("it has no operation")
  })

  test("a document with mistakes is not imported", async () => {
    const cwd = folderWith({ "a.yaml": file("refused-limit.yaml") })
    const { code, out, err } = await run({ cwd }, "import", "openapi", "a.yaml")
    expect({ code, out }).toEqual({ code: 1, out: "" })
    expect(err).toContain("error SP8003")
    expect(err).toContain("a.yaml:4:97")
    const json = await run({ cwd }, "import", "openapi", "a.yaml", "--format", "json")
    expect(json.err).toContain('"SP8003"')
  })

  test.each([
    [["import", "openapi", "."], "needs the file of one"],
    [["import", "openapi", "a.yaml", "--name", "a b"], "is not a valid name"],
    [["import", "openapi", "a.yaml", "--path", "a"], "is not a valid path"],
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
    expect(Object.keys(get.responses)).toEqual(["200", "400", "401", "429", "default"])
    // What the document demands is met by the token here: nobody asks for the key.
    expect(made.paths["/pets/{petId}"].delete.security).toEqual([{ jwt_i: [] }])
    expect(Object.keys(get.responses["200"].headers)).toContain("RateLimit")
    expect(Object.keys(get.responses["429"].headers)).toEqual([
      "RateLimit",
      "RateLimit-Policy",
      "Retry-After",
    ])
    expect(get.responses["401"].content).toHaveProperty(["application/problem+json"])
  })

  test("asks for what the gateway asks for, by the document's names where they mean the same", async () => {
    const document = JSON.stringify({
      openapi: "3.0.3",
      info: { title: "A", version: "1" },
      security: [{ oauth: ["read"] }, { key: [] }],
      paths: {
        "/a": { get: { responses: { "403": { description: "own" } } } },
        "/b": { get: { responses: {}, security: [{ basic: [] }] } },
        "/c": { get: { responses: {} } },
      },
      components: {
        securitySchemes: {
          oauth: { type: "oauth2", flows: {} },
          key: { type: "apiKey", in: "header", name: "X-Key" },
          basic: { type: "http", scheme: "basic" },
        },
      },
    })
    const text = `
gateway g { listen 127.0.0.1:8000; trust none; errors apim }
issuer i { discovery "https://id.example/.well-known/openid-configuration"; audience a }
secret p = env(P)
users u { user "a" p }
api a {
  path "/a"
  backend "http://127.0.0.1:9001"
  openapi "a.json" { security oauth auth jwt i; security key auth subscription { header "X-Key"; query none }; security basic auth basic u }
  deny ip 10.0.0.0/8
  GET "/c" { auth jwt i { from cookie "session" }; quota 10 calls per 1h by ip; limit 5 per 1s by ip { remaining header "X-Left"; retry-after header "X-Wait" } }
}
`
    const cwd = folderWith({ "gateway.conf": text, "a.json": document })
    const { out, err } = await run({ cwd }, "export", "openapi", "a")
    expect(err).toBe("")
    const { paths, components } = JSON.parse(out)
    expect(paths["/a"].get.security).toEqual([{ oauth: ["read"] }, { key: [] }])
    expect(paths["/b"].get.security).toEqual([{ basic: [] }])
    expect(paths["/c"].get.security).toEqual([{ jwt_i: [] }])
    expect(components.securitySchemes.jwt_i).toEqual({ type: "apiKey", in: "cookie", name: "session" })
    expect(paths["/a"].get.responses["403"]).toEqual({ description: "own" })
    expect(Object.keys(paths["/c"].get.responses)).toEqual(["401", "403", "429"])
    const { headers, content } = paths["/c"].get.responses["429"]
    expect(Object.keys(headers)).toEqual(["RateLimit", "X-Left", "RateLimit-Policy", "X-Wait"])
    expect(content["application/json"].schema.required).toEqual(["statusCode", "message"])
  })

  test("as YAML, and of operations nobody described", async () => {
    const { out } = await run(world(), "export", "openapi", "pets", "--api-version", "v2", "--format", "yaml")
    const made = parse(out) as { paths: Record<string, Record<string, unknown>> }
    expect(Object.keys(made.paths)).toEqual(["/x/{rest}"])
    expect(Object.keys(made.paths["/x/{rest}"] ?? {})).toHaveLength(7)
  })

  test.each([
    [["pets"], "has several versions\nhelp: Add --api-version with one of `v1`, `v2`."],
    [["pets", "--api-version", "v3"], "has no version `v3`\nhelp: Add --api-version with one of `v1`, `v2`."],
    [["cats"], "there is no API `cats`\nhelp: The APIs are: `pets`."],
  ])("%j is refused", async (words, why) => {
    const { code, err } = await run(world(), "export", "openapi", ...words)
    expect(code).toBe(1)
    expect(err).toContain(why)
  })
})
