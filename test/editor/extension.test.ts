import { execFileSync } from "node:child_process"
import { mkdtempSync, readFileSync, rmSync } from "node:fs"
import { createRequire } from "node:module"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { unzipSync } from "fflate"
import { describe, expect, test } from "vitest"
import { MemoryFiles } from "../../compiler/core/files.ts"
import { explainWords, programOf, requestText } from "../../compiler/editor/extension/program.ts"
import { outcomesOf, testsIn } from "../../compiler/editor/extension/test-results.ts"
import { run } from "../cli/run.ts"
import { compile } from "../compile.ts"

const root = fileURLToPath(new URL("../..", import.meta.url))
const text = (bytes: Uint8Array | undefined) => new TextDecoder().decode(bytes)

/** The .vsix file as the script writes it. */
function packed(): Uint8Array {
  const folder = mkdtempSync(join(tmpdir(), "sallyport-vsix-"))
  try {
    const path = execFileSync(process.execPath, [`${root}/compiler/editor/pack.mjs`, folder], {
      encoding: "utf8",
    })
    return readFileSync(path.trim())
  } finally {
    rmSync(folder, { recursive: true })
  }
}

describe("the packed extension", () => {
  const archive = packed()
  const files = new Map(Object.entries(unzipSync(archive)))
  const manifest = JSON.parse(text(files.get("extension/package.json")))

  test("has every file that its manifest names, in formats that can be read", () => {
    const { contributes } = manifest
    const named: string[] = [
      manifest.main,
      ...contributes.languages.flatMap((each: { configuration?: string }) => each.configuration ?? []),
      ...[...contributes.grammars, ...contributes.snippets].map((each: { path: string }) => each.path),
      ...contributes.yamlValidation.map((each: { url: string }) => each.url),
    ]
    for (const path of named) {
      const bytes = files.get(`extension/${path.replace("./", "")}`)
      expect(bytes, path).toBeDefined()
      if (path.endsWith(".json")) expect(() => JSON.parse(text(bytes))).not.toThrow()
    }
    const ids = contributes.languages.map(({ id }: { id: string }) => id)
    for (const { language } of [...contributes.grammars, ...contributes.snippets])
      expect(ids).toContain(language)
    const shown = contributes.commands.map(({ command }: { command: string }) => command)
    const code = text(files.get("extension/extension.cjs"))
    for (const command of shown) expect(code).toContain(`"${command}"`)
  })

  test("needs only VS Code and Node.js", () => {
    const code = text(files.get("extension/extension.cjs"))
    const modules = [...code.matchAll(/\brequire\("([^"./][^"]*)"\)/g)].map(([, name = ""]) => name)
    const { builtinModules } = createRequire(import.meta.url)("node:module") as { builtinModules: string[] }
    const strange = modules.filter(
      (name) => name !== "vscode" && !builtinModules.includes(name.replace("node:", "")),
    )
    expect([...new Set(strange)]).toEqual([])
  })

  test("has the version and licence of the product, a content type for each file, and the same bytes each time", () => {
    const own = JSON.parse(readFileSync(`${root}/package.json`, "utf8"))
    expect([manifest.version, manifest.license]).toEqual([own.version, own.license])
    const types = text(files.get("[Content_Types].xml"))
    for (const path of files.keys())
      if (path !== "[Content_Types].xml")
        expect(types).toContain(`Extension="${path.slice(path.lastIndexOf("."))}"`)
    expect(Buffer.from(packed()).equals(archive)).toBe(true)
  })

  /** A snippet as it is inserted, with the proposed texts. */
  const inserted = (body: readonly string[]) =>
    body.join("\n").replace(/\$\{\d+:((?:\\.|[^}\\])*)\}/g, (_, own: string) => own.replace(/\\(.)/g, "$1"))

  const snippets = (language: string) =>
    Object.entries(
      JSON.parse(text(files.get(`extension/snippets/${language}.json`))) as Record<
        string,
        { body: string[] }
      >,
    )

  test.each(snippets("gateway"))("the snippet %s has no mistake", (_, { body }) => {
    const own = inserted(body)
    const head = `gateway test { listen 127.0.0.1:8000 }
backend service { url "http://127.0.0.1:9001" }
api other { path "/other"; auth none; GET "/" { backend service } }
`
    const { diagnostics } = compile(
      new MemoryFiles(new Map([["gateway.conf", `${head}${own}\n`]])),
      "gateway.conf",
    )
    expect(diagnostics.filter(({ severity }) => severity === "error").map(({ title }) => title)).toEqual([])
  })

  test.each(snippets("fga"))("the snippet %s has no mistake", (name, { body }) => {
    const own = inserted(body)
    const model =
      name === "Model"
        ? own
        : `model\n  schema 1.1\ntype user\ntype doc\n  relations\n    define viewer: [user with open]\n\n${own}`
    const files = new MemoryFiles(
      new Map([
        [
          "gateway.conf",
          'gateway test { listen 127.0.0.1:8000 }\nauthz { listen 127.0.0.1:8080; store s { model "s.fga" } }\n',
        ],
        ["s.fga", `${model}\n`],
      ]),
    )
    const { diagnostics } = compile(files, "gateway.conf")
    expect(diagnostics.filter(({ severity }) => severity === "error").map(({ title }) => title)).toEqual([])
  })
})

test("what a person types is passed in words, without a shell", () => {
  expect(explainWords(`GET /a;rm --as "ann b" -H 'x: $HOME'`)).toEqual([
    ...["explain", "request", "GET", "/a;rm", "--as", "ann b", "-H", "x: $HOME"],
  ])
})

test("the program of the project comes before the one in PATH, and the setting before both", () => {
  expect(programOf("/opt/sallyport", root)).toBe("/opt/sallyport")
  expect(programOf("", "/nowhere")).toBe("sallyport")
})

test("a proposed request has its host as an option", () => {
  expect(requestText({ method: "GET", path: "/a/{id}" })).toBe("GET /a/{id}")
  expect(requestText({ method: "GET", path: "/", host: "a.example" })).toBe("GET / --host a.example")
})

describe("results of tests", () => {
  const folder = `${root}/models/examples/docs-app`
  test.each(["tests/documents.gw.yaml", "models/docs.fga.yaml"])(
    "of %s are at the lines of the tests",
    async (file) => {
      const found = testsIn(readFileSync(`${folder}/${file}`, "utf8"))
      const { out } = await run({ cwd: folder }, "test", file, "--format", "json")
      const outcomes = outcomesOf(out)
      expect(found.length).toBeGreaterThan(0)
      expect([...new Set(outcomes.map(({ line }) => line))]).toEqual(found.map(({ line }) => line))
      expect(outcomes.flatMap(({ failures }) => failures)).toEqual([])
    },
  )

  test("of a failed test say what was expected", () => {
    const failure = {
      line: 6,
      request: "GET /x",
      what: "status",
      expected: "200",
      got: "404",
      why: ["no route matched"],
    }
    const question = {
      line: 9,
      kind: "check",
      user: "user:a",
      relation: "viewer",
      object: "doc:1",
      expected: true,
      got: false,
      passed: false,
    }
    const printed = JSON.stringify({
      findings: [],
      stores: [{ tests: [{ name: "b", line: 8, passed: false, questions: [question] }] }],
      gateways: [{ tests: [{ name: "a", line: 4, passed: false, failures: [failure] }] }],
    })
    expect(outcomesOf(printed)).toEqual([
      {
        name: "b",
        line: 7,
        failures: [
          {
            message: "check user:a viewer doc:1: expected true, got false",
            line: 8,
            expected: "true",
            got: "false",
          },
        ],
      },
      {
        name: "a",
        line: 3,
        failures: [
          {
            message: "GET /x: status: expected 200, got 404\nno route matched",
            line: 5,
            expected: "200",
            got: "404",
          },
        ],
      },
    ])
  })

  test("that are no JSON, or findings alone, are an error with the reason", () => {
    expect(() => outcomesOf("boom\n")).toThrow("boom")
    expect(() => outcomesOf("")).toThrow("sallyport printed nothing")
    const printed = { findings: [{ message: "SP6012: this file is empty" }], stores: [], gateways: [] }
    expect(() => outcomesOf(JSON.stringify(printed))).toThrow("SP6012: this file is empty")
    const place = { file: "models/acme.fga.yaml", start: { line: 7, column: 3, offset: 80 } }
    const failed = { findings: [{ title: "Model test fails", detail: "check of `a`", place }] }
    expect(() => outcomesOf(JSON.stringify(failed))).toThrow("models/acme.fga.yaml:7: check of `a`")
  })

  test("a file with a mistake of YAML has no tests, or those before it", () => {
    expect(testsIn("tests: [")).toEqual([])
    expect(testsIn("a: b")).toEqual([])
    expect(testsIn("tests:\n  - name: one\n  - request: GET /\n")).toEqual([
      { name: "one", line: 1 },
      { name: "test 2", line: 2 },
    ])
  })
})
