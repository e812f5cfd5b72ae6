import { appendFileSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { describe, expect, test } from "vitest"
import { WatchedFiles } from "../../compiler/cli/dev/watched-files.ts"
import { compile } from "../compile.ts"
import { exampleFolder, folderWith, run } from "./run.ts"

const modular = {
  "models/fga.mod": 'schema: "1.2"\ncontents:\n  - core.fga\n  - docs.fga\n',
  "models/core.fga": "module core\ntype user\n",
  "models/docs.fga":
    "module docs\ntype doc\n  relations\n    define viewer: [user] # who may see\n    define reader: viewer\n",
}

test("a module that is not there is told, and the rest is not a model", async () => {
  const cwd = folderWith({ ...modular, "models/fga.mod": `${modular["models/fga.mod"]}  - gone.fga\n` })
  const { code, out, err } = await run({ cwd }, "model", "print", "--model", "models/fga.mod")
  expect({ code, out }).toEqual({ code: 1, out: "" })
  expect(err).toContain("models/fga.mod:5:5  `models/gone.fga` does not exist")
})

describe("model rename, split and merge", () => {
  const conf = 'authz {\n  store s {\n    model "s.fga" # the model\n    tests "*.fga.yaml"\n  }\n}\n'
  const model =
    "model\n  schema 1.1\ntype user\ntype doc\n  relations\n    define viewer: [user]\n    define owner: [user]\n    define can: viewer or owner\n"
  const project = (text = conf) => {
    const cwd = folderWith({ "gateway.conf": text, "s.fga": model })
    const read = (name: string) => readFileSync(join(cwd, name), "utf8")
    return { cwd, conf: () => read("gateway.conf"), model: () => read("s.fga") }
  }

  test("write the first plan, then the second one", async () => {
    const files = project()
    const words = ["model", "rename", "doc#viewer", "doc#reader"]
    const dry = await run({ cwd: files.cwd }, ...words, "--dry-run")
    expect(files.conf()).toBe(conf)
    const first = await run({ cwd: files.cwd }, ...words)
    expect(first).toMatchObject({ code: 0, err: "" })
    expect(first.out).toContain('gateway.conf: move "doc#viewer" to "doc#reader"')
    expect(files.conf()).toContain('    model "s.fga"\n    move "doc#viewer" to "doc#reader" # the model\n')
    expect(files.model()).toContain("    define viewer: [user]\n    define reader: [user] or viewer\n")
    expect(files.model()).toBe(dry.out)
    expect((await run({ cwd: files.cwd }, "validate")).code).toBe(0)
    const second = await run({ cwd: files.cwd }, ...words)
    expect(second.out).toContain("sallyport model finish s")
    expect(files.conf()).toBe(conf)
    expect(files.model()).toContain(
      "    define reader: [user]\n    define owner: [user]\n    define can: reader or owner\n",
    )
  })

  test("on one line, and several moves at once", async () => {
    const files = project('authz { store s { model "s.fga" } }\n')
    const words = ["model", "merge", "doc#viewer", "doc#owner", "doc#staff"]
    await run({ cwd: files.cwd }, ...words)
    expect(files.conf()).toBe(
      'authz { store s { model "s.fga"; move "doc#viewer" to "doc#staff"; move "doc#owner" to "doc#staff" } }\n',
    )
    expect((await run({ cwd: files.cwd }, "validate")).err).toBe("")
    await run({ cwd: files.cwd }, ...words)
    expect(files.conf()).toBe('authz { store s { model "s.fga" } }\n')
    expect(files.model()).toContain("    define staff: [user]\n    define can: staff\n")
  })

  test("say what cannot be", async () => {
    const { cwd } = project()
    const unknown = await run({ cwd }, "model", "rename", "doc#viewr", "doc#b")
    expect(unknown).toMatchObject({ code: 1, err: expect.stringContaining("`doc` has no relation `viewr`") })
    const store = await run({ cwd }, "model", "rename", "doc#viewer", "doc#b", "--store", "t")
    expect(store).toMatchObject({ code: 1, err: expect.stringContaining("there is no store t") })
  })
})

describe("model compare", () => {
  const model = (body: string) =>
    `model\n  schema 1.1\ntype user\ntype doc\n  relations\n    define owner: [user]\n    define viewer: ${body}\n`
  const files = {
    "old.fga": model("[user] or owner"),
    "same.fga": `${model("[user] or owner or owner2")}    define owner2: owner\n`,
    "narrow.fga": model("[user]"),
    "bad.fga": "model\n  schema 1.1\ntype doc\n  relations\n    define a: b\n",
  }
  const compare = (before: string, after: string, ...more: string[]) =>
    run({ cwd: folderWith(files) }, "model", "compare", before, after, ...more)

  test("says who loses, by a test that can be pasted", async () => {
    const { code, out, err } = await compare("old.fga", "narrow.fga")
    expect({ code, err }).toEqual({ code: 2, err: "" })
    expect(out).toBe(
      [
        "doc#viewer: some lose it, nobody gains it (proved)  narrow.fga:7",
        "  - name: user:ann loses viewer on doc:1",
        "    tuples:",
        "      - user: user:ann",
        "        relation: owner",
        "        object: doc:1",
        "    check:",
        "      - user: user:ann",
        "        object: doc:1",
        "        assertions:",
        "          viewer: false",
        "",
      ].join("\n"),
    )
  })

  test("the printed tests hold for the new model, and fail for the old one", async () => {
    const cwd = folderWith({
      "old.fga": `${model("[user with early] or owner")}condition early(hour: int) {\n  hour < 12\n}\n`,
      "new.fga": `${model("[user, user:*, user with early]")}condition early(hour: int) {\n  hour < 9\n}\n`,
      "old.fga.yaml": "model_file: old.fga\ntests:\n",
      "new.fga.yaml": "model_file: new.fga\ntests:\n",
    })
    const { code, out } = await run({ cwd }, "model", "compare", "old.fga", "new.fga")
    expect(code).toBe(2)
    const printed = out.replace(/^\S.*\n/gm, "")
    expect(printed).toContain('context: {"hour":11}')
    for (const file of ["old.fga.yaml", "new.fga.yaml"]) appendFileSync(join(cwd, file), printed)
    const results = async (file: string) => {
      const ran = await run({ cwd }, "test", "--format", "json", file)
      return { code: ran.code, ...JSON.parse(ran.out).summary }
    }
    expect(await results("new.fga.yaml")).toMatchObject({ code: 0 })
    expect(await results("old.fga.yaml")).toMatchObject({ code: 1 })
  })

  test("says when nobody gains or loses anything", async () => {
    const { code, out } = await compare("old.fga", "old.fga")
    expect({ code, out }).toEqual({
      ...{ code: 0, out: "Nobody gains or loses a relation: both models decide in the same way.\n" },
    })
  })

  test("as JSON, with relations that one model alone has", async () => {
    const { code, out } = await compare("old.fga", "same.fga", "--format", "json")
    expect(code).toBe(2)
    expect(JSON.parse(out)).toEqual({ added: ["doc#owner2"], removed: [], relations: [] })
  })

  test("refuses a file that is no model, with its findings", async () => {
    const { code, err } = await compare("old.fga", "bad.fga")
    expect(code).toBe(1)
    expect(err).toContain("bad.fga contains no valid model")
    expect((await compare("gone.fga", "old.fga")).err).toContain("gone.fga")
  })
})

describe("model explain", () => {
  test("says what a relation depends on, what depends on it, and who could have it", async () => {
    const { code, out, err } = await run({ cwd: exampleFolder() }, "model", "explain", "order#editor")
    expect({ code, err }).toEqual({ code: 0, err: "" })
    expect(out).toMatch(
      /^order#editor {2}models\/acme\.fga:\d+:12\n {2}define editor: \[user\] or owner\n\nDepends on\n/,
    )
    expect(out).toContain("  or\n    tuples of order#editor: user\n    order#owner: [user]\n")
    expect(out).toMatch(/PUT \/v1\/orders\/\{id\} {2}requires order#editor {2}gateway\.conf:\d+\n/)
    expect(out).toContain("\n  user\n    order#editor ← [user]\n    order#editor ← order#owner ← [user]\n")
  })

  test("as JSON, of a file alone", async () => {
    const cwd = folderWith(modular)
    const { code, out } = await run(
      { cwd },
      "model",
      "explain",
      "doc#viewer",
      "--model",
      "models/fga.mod",
      "--format",
      "json",
    )
    expect(code).toBe(0)
    expect(JSON.parse(out)).toMatchObject({
      relation: "doc#viewer",
      definition: "[user]",
      place: "models/docs.fga:4:12",
      dependents: [
        { relation: "doc#reader", definition: "viewer", place: "models/docs.fga:5:12", direct: true },
      ],
      subjects: [{ subject: "user", paths: [{ relations: ["doc#viewer"], tuples: ["user"], only: [] }] }],
    })
    expect(JSON.parse(out)).not.toHaveProperty("routes")
  })

  test.each([
    [["order#viewr"], "no relation `viewr`; did you mean `viewer`?"],
    [["ordr#viewer"], "no type `ordr`; did you mean `order`?"],
    [["viewer"], "TYPE#RELATION"],
    [["order#viewer", "--store", "acm"], "there is no store acm; did you mean `acme`?"],
    [["order#viewer", "--store", "acme", "--model", "models/acme.fga"], "exclude each other"],
    [["order#viewer", "--model", "gateway.conf"], "gateway.conf contains no valid model"],
    [["order#viewer", "--model", "gone.fga"], "gone.fga contains no valid model"],
    [
      ["order#viewer", "--model", "gone.fga"],
      "Check the path; it is relative to the folder in which the command runs.",
    ],
    [["order#viewer", "--model", "models/tests/acme.fga.yaml"], "contains tests of a model, not a model"],
    [["order#viewer", "--config", "gone.conf"], "there is no plan"],
  ])("%j", async (words, message) => {
    const { code, out, err } = await run({ cwd: exampleFolder() }, "model", "explain", ...words)
    expect({ code, out }).toEqual({ code: 1, out: "" })
    expect(err).toContain(message)
  })
})

describe("model print", () => {
  test("prints modules as one text, and as JSON that prints as the same", async () => {
    const cwd = folderWith(modular)
    const text =
      "model\n  schema 1.2\n\ntype user\n\ntype doc\n  relations\n    define reader: viewer\n    define viewer: [user]\n"
    expect(await run({ cwd }, "model", "print", "--model", "models/fga.mod")).toEqual({
      code: 0,
      out: text,
      err: "",
    })
    const said = await run({ cwd }, "model", "print", "--model", "models/fga.mod", "--source-info")
    expect(said.out).toContain("type doc # module: docs, file: docs.fga\n")
    const json = await run({ cwd }, "model", "print", "--model", "models/fga.mod", "--format", "json")
    const again = folderWith({ "model.json": json.out })
    expect(await run({ cwd: again }, "model", "print", "--model", "model.json")).toMatchObject({
      code: 0,
      out: text,
    })
  })

  test("says what text has no words for", async () => {
    const model = { schema_version: "1.1", type_definitions: [{ type: "user" }, { type: "1st" }] }
    const cwd = folderWith({ "model.json": JSON.stringify(model) })
    const { code, err } = await run({ cwd }, "model", "print", "--model", "model.json")
    expect(code).toBe(1)
    expect(err).toContain("the type `1st` has a name that the text format cannot express")
  })
})

test("dev looks at every file of a modular model, and `plan` at what a module changes", async () => {
  const conf = 'authz {\n  listen 127.0.0.1:8080\n  store acme { model "models/fga.mod" }\n}\n'
  const before = folderWith({ ...modular, "gateway.conf": conf })
  const files = new WatchedFiles(before)
  expect(compile(files, "gateway.conf").plan).toBeDefined()
  expect(files.changed()).toBe(false)
  writeFileSync(
    join(before, "models/docs.fga"),
    modular["models/docs.fga"].replace("[user]", "[user, user:*]"),
  )
  expect(files.changed()).toBe(true)
  const after = folderWith({ ...modular, "gateway.conf": conf })
  const { code, out } = await run({ cwd: before }, "diff", after, ".")
  expect(code).toBe(2)
  expect(out).toContain("user:*")
})
