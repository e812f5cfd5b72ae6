import { chmodSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { describe, expect, test } from "vitest"
import { MemoryFiles } from "../../compiler/core/files.ts"
import { projectsIn } from "../cases.ts"
import { compile } from "../compile.ts"
import { Authority } from "../support/certificates.ts"
import { exampleFolder, folderWith, run, small } from "./run.ts"

const broken = small.replace("backend orders\n", "backend ordres\n")

describe("validate", () => {
  test("finds nothing in the example the project brings along", async () => {
    expect(await run({ cwd: exampleFolder() }, "validate")).toEqual({
      code: 0,
      out: "gateway.conf: no findings\n",
      err: "",
    })
  })

  test("prints findings with their frame, and exits 1", async () => {
    const { code, out } = await run({ cwd: folderWith({ "gateway.conf": broken }) }, "validate")
    expect(code).toBe(1)
    expect(out).toMatch(
      /^error SP2012 Unknown name\n {2}gateway\.conf:10:\d+ .*`ordres`.*did you mean `orders`/,
    )
    expect(out).toContain("gateway.conf: 1 error")
  })

  test.each(["json", "sarif", "markdown", "github"])("prints findings as %s", async (format) => {
    const { code, out } = await run(
      { cwd: folderWith({ "gateway.conf": broken }) },
      "validate",
      "--format",
      format,
    )
    expect(code).toBe(1)
    expect(out).toContain("SP2012")
    if (format === "json" || format === "sarif") JSON.parse(out)
  })

  test("warnings do not keep a plan from being made", async () => {
    const warned = `${small}\ninclude "none/*.conf"\n`
    const { code, out } = await run({ cwd: folderWith({ "gateway.conf": warned }) }, "validate")
    expect({ code, out }).toMatchObject({ code: 0, out: expect.stringContaining("warning SP0012") })
  })

  test("warns 14 days before a certificate on this machine ends, also outside of the project", async () => {
    const away = folderWith({})
    const authority = new Authority(away)
    authority.sign("soon", ["soon.example"], { days: 13 })
    authority.sign("later", ["later.example"], { days: 16 })
    const listens = small.replace(/listen (\S+)/, "listen $1 { tls { certificate soon later } }")
    const declared = ["soon", "later"].map(
      (name) => `certificate ${name} { cert file("${away}/${name}.pem"); key file("${away}/${name}.key") }\n`,
    )
    const cwd = folderWith({ "gateway.conf": `${listens}\n${declared.join("")}` })
    const { code, out } = await run({ cwd }, "validate")
    expect(out).toMatch(/^warning SP3051 .*\n.* certificate `soon` in `.*soon\.pem` expires in 12 days, on /)
    expect(out).toContain("gateway.conf: 1 warning")
    expect(code).toBe(0)
  })

  test("a project elsewhere, and none at all", async () => {
    const cwd = folderWith({ "sub/gw.conf": small })
    expect(await run({ cwd }, "validate", "--config", "sub/gw.conf")).toMatchObject({ code: 0 })
    const none = await run({ cwd }, "validate")
    expect(none.code).toBe(1)
    expect(none.out).toContain("`gateway.conf` does not exist")
  })

  test("says on a terminal that it compiles, and takes it back", async () => {
    const { err } = await run({ cwd: folderWith({ "gateway.conf": small }), progress: true }, "validate")
    expect(err === "" || err === "compiling …\r\u001b[2K").toBe(true)
  })
})

describe("fmt", () => {
  const ugly = small.replace("  GET", "      GET").replace("backend orders {", "backend   orders   {")

  test("formats in place what gateway.conf includes too, and is quiet the second time", async () => {
    const cwd = folderWith({
      "gateway.conf": `${ugly}\ninclude "more.conf"\n`,
      "more.conf": 'value    a = "x"\n',
    })
    chmodSync(join(cwd, "gateway.conf"), 0o640)
    const first = await run({ cwd }, "fmt")
    expect(first).toEqual({ code: 0, out: "gateway.conf formatted\nmore.conf formatted\n", err: "" })
    expect(readFileSync(join(cwd, "more.conf"), "utf8")).toBe('value a = "x"\n')
    expect(statSync(join(cwd, "gateway.conf")).mode & 0o777).toBe(0o640)
    expect(await run({ cwd }, "fmt")).toEqual({ code: 0, out: "", err: "" })
  })

  test("rewrites older spellings, and the file means the same", async () => {
    const [, files] = [...projectsIn("gateway")].find(([path]) => path.includes("sp2043-")) ?? []
    const older = new Map(files).get("gateway.conf") ?? ""
    const cwd = folderWith({ "gateway.conf": older })
    expect((await run({ cwd }, "validate")).out).toMatch(/: \d\d warnings$/m)
    expect(await run({ cwd }, "fmt")).toEqual({ code: 0, out: "gateway.conf formatted\n", err: "" })
    expect(await run({ cwd }, "validate")).toMatchObject({ code: 0, out: "gateway.conf: no findings\n" })
    const formatted = readFileSync(join(cwd, "gateway.conf"), "utf8")
    expect(formatted).toContain('backend "${elsewhere}"')
    const [before, after] = [older, formatted].map(
      (text) => compile(new MemoryFiles([["gateway.conf", text]]), "gateway.conf").plan?.plan,
    )
    expect(before).toBeDefined()
    expect(after).toEqual(before)
  })

  test("--check writes nothing and exits 1", async () => {
    const cwd = folderWith({ "gateway.conf": ugly })
    expect(await run({ cwd }, "fmt", "--check")).toMatchObject({
      code: 1,
      out: "gateway.conf is not formatted\n",
    })
    expect(readFileSync(join(cwd, "gateway.conf"), "utf8")).toBe(ugly)
    await run({ cwd }, "fmt")
    expect(await run({ cwd }, "fmt", "--check")).toMatchObject({ code: 0, out: "" })
  })

  test("leaves a file with a syntax error as it is, and formats the others", async () => {
    const cwd = folderWith({ "gateway.conf": ugly, "bad.conf": 'value a = "x\n' })
    const { code, err, out } = await run({ cwd }, "fmt", "gateway.conf", "bad.conf")
    expect({ code, out }).toEqual({ code: 1, out: "gateway.conf formatted\n" })
    expect(err).toContain("SP1005")
    expect(readFileSync(join(cwd, "bad.conf"), "utf8")).toBe('value a = "x\n')
  })

  test("a link stays a link, and what is outside the project is not touched", async () => {
    const cwd = folderWith({ "real.conf": ugly, "p/gateway.conf": small })
    symlinkSync("real.conf", join(cwd, "gateway.conf"))
    expect(await run({ cwd }, "fmt")).toMatchObject({ code: 0, out: "gateway.conf formatted\n" })
    expect(readFileSync(join(cwd, "real.conf"), "utf8")).toBe(readFileSync(join(cwd, "gateway.conf"), "utf8"))
    const outside = await run({ cwd }, "fmt", "--config", "p/gateway.conf", "real.conf")
    expect(outside).toMatchObject({ code: 1, err: expect.stringContaining("outside the project") })
  })

  const conf = 'authz {\n  listen 127.0.0.1:8080\n\n  store acme { model "models/fga.mod" }\n}\n'
  const core = "module core\n\ntype user\n"

  test("formats the models of the stores, with their modules", async () => {
    const cwd = folderWith({
      "gateway.conf": conf,
      "models/fga.mod": "schema: '1.2'\ncontents: [core.fga, wrong.fga]\n",
      "models/core.fga": core.replace("type", "   type"),
      "models/wrong.fga": "module wrong\ntype\n",
    })
    const { code, out, err } = await run({ cwd }, "fmt")
    expect({ code, out }).toEqual({ code: 1, out: "models/fga.mod formatted\nmodels/core.fga formatted\n" })
    expect(err).toContain("models/wrong.fga:2:5")
    expect(readFileSync(join(cwd, "models/core.fga"), "utf8")).toBe(core)
    expect(readFileSync(join(cwd, "models/wrong.fga"), "utf8")).toBe("module wrong\ntype\n")
    expect(await run({ cwd }, "fmt", "--check", "models/core.fga", "models/fga.mod")).toMatchObject({
      code: 0,
    })
    expect(await run({ cwd }, "fmt", "model.json")).toMatchObject({
      code: 1,
      err: expect.stringContaining("JSON"),
    })
  })

  test("the example is formatted", async () => {
    expect(await run({ cwd: exampleFolder() }, "fmt", "--check")).toEqual({ code: 0, out: "", err: "" })
  })
})

describe("a project whose first file is missing", () => {
  const commands = [["dev"], ["plan"], ["apply", "--yes"], ["diff", ".", "."]]
  const withConfig = [["serve"], ["explain", "request", "GET", "/"]].map((words) => [
    ...words,
    "--config",
    "gateway.conf",
  ])

  test.each([...commands, ...withConfig])("ends %s at once, and leaves nothing behind", async (...words) => {
    const cwd = folderWith({})
    expect(await run({ cwd }, ...words)).toEqual({
      code: 1,
      out: "",
      err: "error: gateway.conf does not exist in this folder\nhelp: Run `sallyport init` to create a project, or name the main file of one with --config.\n",
    })
    expect(readdirSync(cwd)).toEqual([])
  })

  test("names the nearest file, and the folder that was asked for", async () => {
    const cwd = folderWith({ "a/gateway.conf": small })
    const outcome = await run({ cwd }, "plan", "--config", "a/gatway.conf")
    expect(outcome.err).toMatch(
      /^error: gatway\.conf does not exist in a\/; did you mean `gateway\.conf`\?\n/,
    )
    const folder = await run({ cwd }, "plan", "--config", "b/gateway.conf")
    expect(folder.err).toBe("error: there is no folder b/\nhelp: Check the path.\n")
  })

  test("is a finding of validate, in its formats", async () => {
    const text = await run({ cwd: folderWith({}) }, "validate")
    expect(text).toMatchObject({ code: 1, err: "" })
    expect(text.out).toMatch(/^error SP0001 .*\n.*does not exist\n {2}help: Run `sallyport init`/)
    const json = await run({ cwd: folderWith({}) }, "validate", "--json")
    expect(json.code).toBe(1)
    expect(JSON.stringify(JSON.parse(json.out))).toContain("SP0001")
  })
})

test("serve --config ends at errors of the text with the findings of validate", async () => {
  const cwd = folderWith({ "gateway.conf": broken })
  const served = await run({ cwd }, "serve", "--config", "gateway.conf")
  const { out: findings } = await run({ cwd }, "validate")
  expect(served).toMatchObject({ code: 1, out: "" })
  expect(served.err).toBe(findings.replace("gateway.conf: 1 error", "error: there is no plan: 1 error"))
  expect(readdirSync(cwd)).toEqual(["gateway.conf"])
})

describe("diff", () => {
  test("order and formatting are not difference", async () => {
    const [head = "", ...parts] = small.trimEnd().split(/\n\n(?=\S)/)
    const other = [...parts.reverse(), head].join("\n\n\n").replaceAll("  ", "   ")
    const cwd = folderWith({ "a/gateway.conf": small, "b/gateway.conf": `${other}\n` })
    expect(await run({ cwd }, "diff", "a", "b")).toEqual({ code: 0, out: "No changes.\n", err: "" })
  })

  test("a difference exits 2, as text and as JSON", async () => {
    const cwd = folderWith({ "a/gateway.conf": small, "b/gateway.conf": small.replace('GET "/"', 'PUT "/"') })
    const text = await run({ cwd }, "diff", "a", "b")
    expect(text).toMatchObject({ code: 2, err: "" })
    expect(text.out).toMatch(/PUT \/orders/)
    expect(text.out).toMatch(/GET \/orders/)
    const json = await run({ cwd }, "diff", "a", "b/gateway.conf", "--format", "json")
    expect(json.code).toBe(2)
    const changes = JSON.parse(json.out) as { action: string; subject: { kind: string; name: string } }[]
    const routes = changes.filter(({ subject }) => subject.kind === "route")
    expect(routes.map(({ action, subject }) => `${action} ${subject.name}`).sort()).toEqual([
      "added PUT /orders",
      "removed GET /orders",
    ])
  })

  test("errors of either side are told, and exit 1", async () => {
    const cwd = folderWith({ "a/gateway.conf": small, "b/gateway.conf": broken })
    const outcome = await run({ cwd }, "diff", "a", "b")
    expect(outcome).toMatchObject({ code: 1, out: "" })
    expect(outcome.err).toContain("SP2012")
    expect(await run({ cwd }, "diff", "a", "c")).toMatchObject({
      code: 1,
      err: expect.stringContaining("c does not exist"),
    })
  })
})

test("explain says what a code means, and the nearest of an unknown one", async () => {
  const known = await run({ cwd: "/" }, "explain", "sp2012")
  expect(known).toMatchObject({ code: 0, err: "" })
  expect(known.out).toMatch(/^SP2012 Unknown name \(error\)\n\n.*What to do:/s)
  const unknown = await run({ cwd: "/" }, "explain", "SP2O12")
  expect(unknown).toMatchObject({ code: 1, out: "" })
  expect(unknown.err).toContain("there is no finding `SP2O12`")
})

test("schema prints a JSON Schema that knows the plan's parts", async () => {
  const { code, out } = await run({ cwd: "/" }, "schema")
  expect(code).toBe(0)
  const schema = JSON.parse(out) as { properties: Record<string, unknown> }
  expect(Object.keys(schema.properties).sort()).toEqual(["digest", "format", "origins", "plan"])
  const other = await run({ cwd: "/" }, "schema", "explanation")
  expect(JSON.parse(other.out)).toMatchObject({
    $id: "urn:sallyport:explanation:1",
    properties: { version: { const: 1 }, proof: expect.anything() },
  })
})

test("token signs with the keys of this folder, for the provider the last `dev` had here", async () => {
  const cwd = folderWith({})
  const none = await run({ cwd }, "token")
  expect(none).toMatchObject({ code: 1, err: expect.stringContaining("`sallyport dev` has not run here") })
  const { startIdentityProvider } = await import("../../runtime/dev/identity-provider.ts")
  const provider = await startIdentityProvider({
    host: "127.0.0.1",
    port: 0,
    folder: join(cwd, ".sallyport"),
  })
  await provider.close()
  const issuerOf = (token: string) =>
    JSON.parse(Buffer.from(token.split(".")[1] ?? "", "base64url").toString()) as { iss: string; sub: string }
  const usual = await run({ cwd }, "token", "--sub", "zoe")
  expect(issuerOf(usual.out)).toMatchObject({ iss: "http://127.0.0.1:8081/realms/acme", sub: "zoe" })
  const claims = ["--claim", "aud=documents-api", "--claim", "exp=0", "--claim", 'roles=["a"]']
  expect(issuerOf((await run({ cwd }, "token", ...claims)).out)).toMatchObject({
    ...{ sub: "ann", aud: "documents-api", exp: 0, roles: ["a"] },
  })
  expect(await run({ cwd }, "token", "--claim", "aud")).toMatchObject({
    ...{ code: 1, err: expect.stringContaining("Write `--claim name=value`.") },
  })
  writeFileSync(
    join(cwd, ".sallyport/dev.json"),
    JSON.stringify({ control: "http://127.0.0.1:1", identity: provider.url }),
  )
  expect(issuerOf((await run({ cwd }, "token")).out)).toMatchObject({ iss: provider.issuer, sub: "ann" })
  writeFileSync(join(cwd, ".sallyport/identity-provider.json"), "{")
  expect(await run({ cwd }, "token")).toMatchObject({ code: 1, err: expect.stringContaining("damaged") })
})

test("help finds the command before a word that it takes", async () => {
  const { code, out } = await run({ cwd: "/" }, "help", "explain", "request")
  expect({ code, out }).toMatchObject({
    code: 0,
    out: expect.stringContaining("sallyport explain [options]"),
  })
  expect(await run({ cwd: "/" }, "help", "tuple", "wriet")).toMatchObject({ code: 1 })
})

test("docs shows the section with most of the words when none has all", async () => {
  const { code, out } = await run({ cwd: "/" }, "docs", "token", "audience", "xyzzy")
  expect(code).toBe(0)
  expect(out).toContain("this one has most of them")
  expect(out.toLowerCase()).toContain("audience")
  expect(await run({ cwd: "/" }, "docs", "xyzzy")).toMatchObject({ code: 1 })
})
