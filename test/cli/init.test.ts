import { existsSync, readdirSync, readFileSync, statSync } from "node:fs"
import { join } from "node:path"
import { expect, test } from "vitest"
import { examples } from "../../compiler/cli/commands/init.ts"
import { projectRoot } from "../structure/tree.ts"
import { folderWith, run } from "./run.ts"

test("init writes the files of an example and says what comes next", async () => {
  const cwd = folderWith({})
  const { code, out, err } = await run({ cwd }, "init", "my/gateway")
  expect({ code, err }).toEqual({ code: 0, err: "" })
  expect(out).toMatch(/^Wrote the example `minimal` to my\/gateway:\n/)
  expect(out).toMatch(/\nNext:\n {2}cd my\/gateway\n {2}npx sallyport validate /)
  const files = readdirSync(join(cwd, "my/gateway"), { recursive: true, encoding: "utf8" })
  for (const file of files.filter((path) => statSync(join(cwd, "my/gateway", path)).isFile())) {
    expect(out).toContain(`\n  ${file}\n`)
    expect(readFileSync(join(cwd, "my/gateway", file), "utf8")).toBe(
      readFileSync(`${projectRoot}models/examples/minimal/${file}`, "utf8"),
    )
  }
})

test("init overwrites nothing, and writes nothing where it would have to", async () => {
  const cwd = folderWith({ "gateway.conf": "mine\n" })
  expect(await run({ cwd }, "init")).toEqual({
    code: 1,
    out: "",
    err: `error: gateway.conf in ${cwd} would be overwritten; nothing was written\nhelp: Write the example into a folder of its own: \`sallyport init --example minimal my-gateway\`.\n`,
  })
  expect(readdirSync(cwd)).toEqual(["gateway.conf"])
  expect(readFileSync(join(cwd, "gateway.conf"), "utf8")).toBe("mine\n")
})

test("init says where it cannot write", async () => {
  const cwd = folderWith({ file: "" })
  const { code, err } = await run({ cwd }, "init", "file/below")
  expect({ code, err }).toEqual({
    code: 1,
    err: expect.stringMatching(/^error: .*file\/below cannot be written \(E\w+\)\nhelp: .*init --example/),
  })
})

test("init lists the examples where one is not known", async () => {
  const { code, err } = await run({ cwd: "/" }, "init", "--example", "b3b")
  expect(code).toBe(1)
  for (const [name, text] of Object.entries(examples)) {
    expect(err).toMatch(new RegExp(`\n  ${name} +\\S`))
    expect(err).toContain(text)
  }
  expect(existsSync("/gateway.conf")).toBe(false)
})
