import { execFile } from "node:child_process"
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  unlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, beforeAll, expect, test } from "vitest"
import { projectRoot } from "../structure/tree.ts"

/** A clone small enough to be broken: the real bin and build, a command line of one line. */
let clone = ""

beforeAll(() => {
  clone = mkdtempSync(join(tmpdir(), "sallyport-clone-"))
  mkdirSync(join(clone, "compiler/cli"), { recursive: true })
  mkdirSync(join(clone, "runtime"))
  for (const file of [
    "package.json",
    "compiler/cli/build.mjs",
    "compiler/cli/sbom.mjs",
    "compiler/cli/sallyport.mjs",
  ])
    cpSync(projectRoot + file, join(clone, file))
  symlinkSync(`${projectRoot}node_modules`, join(clone, "node_modules"))
  answer("one")
})

afterAll(() => rmSync(clone, { recursive: true, force: true }))

let changes = 0

function answer(text: string) {
  const path = join(clone, "compiler/cli/main.ts")
  writeFileSync(path, `export const main = async (): Promise<number> => (console.log("${text}"), 0)\n`)
  changes += 1
  utimesSync(path, changes, changes)
}

function run(program: string, flags: string[] = []): Promise<{ code: unknown; out: string; err: string }> {
  return new Promise((resolve) => {
    execFile(process.execPath, [...flags, program], { cwd: clone }, (error, out, err) =>
      resolve({ code: error?.code ?? 0, out, err }),
    )
  })
}

const bin = () => join(clone, "compiler/cli/sallyport.mjs")

test("builds when dist/ is missing, and again only when the sources have changed", async () => {
  expect(await run(bin())).toEqual({ code: 0, out: "one\n", err: "" })
  const stamp = readFileSync(join(clone, "dist/stamp"), "utf8")
  await run(bin())
  expect(readFileSync(join(clone, "dist/stamp"), "utf8")).toBe(stamp)
  answer("two")
  expect((await run(bin())).out).toBe("two\n")
})

test("runs without the packages that build it after npm wrote package.json anew, and says when its sources changed", async () => {
  expect((await run(bin())).code).toBe(0)
  const packages = join(clone, "node_modules")
  unlinkSync(packages)
  try {
    utimesSync(join(clone, "package.json"), 1, 1)
    expect(await run(bin())).toEqual({ code: 0, out: "two\n", err: "" })
    answer("unbuilt")
    expect(await run(bin())).toMatchObject({
      code: 1,
      err: expect.stringContaining("dist/ was built from other sources"),
    })
    rmSync(join(clone, "dist"), { recursive: true })
    expect(await run(bin())).toMatchObject({ code: 1, err: expect.stringContaining("is not built") })
  } finally {
    symlinkSync(`${projectRoot}node_modules`, packages)
  }
})

test("two starts at once both find a whole build", async () => {
  answer("three")
  const both = await Promise.all([run(bin()), run(bin()), run(bin())])
  expect(both.map((each) => each.out)).toEqual(["three\n", "three\n", "three\n"])
})

test("says that the sources are broken, and where", async () => {
  writeFileSync(join(clone, "compiler/cli/main.ts"), "export const main = (\n")
  const broken = await run(bin())
  expect(broken).toMatchObject({ code: 1, out: "" })
  expect(broken.err).toContain("compiler/cli/main.ts:2")
  expect(broken.err).toContain("could not be built")
  answer("four")
})

test("runs from dist/ alone, and says what to do when there is no dist/ either", async () => {
  await run(bin())
  const installed = join(clone, "installed")
  mkdirSync(join(installed, "compiler/cli"), { recursive: true })
  cpSync(bin(), join(installed, "compiler/cli/sallyport.mjs"))
  const bare = await run(join(installed, "compiler/cli/sallyport.mjs"))
  expect(bare).toMatchObject({ code: 1, out: "" })
  expect(bare.err).toMatch(/incomplete.*npm install/s)
  cpSync(join(clone, "dist"), join(installed, "dist"), { recursive: true })
  expect((await run(join(installed, "compiler/cli/sallyport.mjs"))).out).toBe("four\n")
})

test("says what an old Node is, instead of failing in it", async () => {
  const pretend = 'Object.defineProperty(process.versions,"node",{value:"18.20.4"})'
  const old = await run(bin(), ["--import", `data:text/javascript,${pretend}`])
  expect(old).toMatchObject({ code: 1, out: "" })
  expect(old.err).toContain("needs Node.js 20.19 or newer; this is 18.20.4")
})
