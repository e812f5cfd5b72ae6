import { readFileSync } from "node:fs"
import { builtinModules } from "node:module"
import { expect, test } from "vitest"
import { projectRoot } from "../structure/tree.ts"

interface Output {
  readonly entryPoint?: string
  readonly imports: readonly { readonly path: string; readonly external?: boolean }[]
  readonly inputs: Readonly<Record<string, unknown>>
}

const manifest = JSON.parse(readFileSync(`${projectRoot}package.json`, "utf8")) as {
  imports: Record<string, string | Record<string, string>>
  dependencies?: Record<string, string>
}
const { outputs } = JSON.parse(readFileSync(`${projectRoot}dist/meta.json`, "utf8")) as {
  outputs: Record<string, Output>
}
const entries = Object.entries(outputs).filter(([, output]) => output.entryPoint !== undefined)

/** Everything that is loaded, at once or later, by one file of dist/. */
function contentsOf(start: string): { sources: string[]; externals: string[] } {
  const seen = new Set([start])
  const sources = new Set<string>()
  const externals = new Set<string>()
  for (const name of seen) {
    for (const source of Object.keys(outputs[name]?.inputs ?? {})) sources.add(source)
    for (const { path, external } of outputs[name]?.imports ?? []) (external ? externals : seen).add(path)
  }
  return { sources: [...sources], externals: [...externals] }
}

test.each(entries.filter(([, output]) => output.entryPoint?.startsWith("runtime/")))(
  "%s holds nothing of the compiler and no chevrotain",
  (name) => {
    const { sources } = contentsOf(name)
    expect(sources.filter((path) => path.startsWith("compiler/") || path.includes("/chevrotain"))).toEqual([])
  },
)

/** What packages ask for and do without: native halves of pg and ws, and a module of newer Node versions that undici's cache could use. */
const asked = ["pg-native", "bufferutil", "utf-8-validate", "node:sqlite"]

test.each(entries)("%s loads from outside only Node's modules and declared dependencies", (name) => {
  const declared = [...Object.keys(manifest.dependencies ?? {}), ...asked]
  const unknown = contentsOf(name).externals.filter((path) => {
    const bare = path.replace(/^node:/, "")
    return (
      !builtinModules.includes(bare) &&
      !builtinModules.includes(path) &&
      !declared.some((known) => path === known || path.startsWith(`${known}/`))
    )
  })
  expect(unknown).toEqual([])
})

test("every file of dist/ that package.json names is one the build makes", () => {
  const made = entries.map(([name]) => `./${name}`)
  expect(made).toEqual(
    expect.arrayContaining(
      Object.values(manifest.imports).filter(
        (path) => typeof path === "string" && path.startsWith("./dist/"),
      ),
    ),
  )
})

test("of zod only what is used is in dist/: `import * as z`, and no value of the namespace `z.core`", () => {
  // `import { z }` is a value to esbuild, and brings 400 kB of locales and codecs that every start would read.
  const locales = Object.values(outputs).flatMap(({ inputs }) =>
    Object.keys(inputs).filter((path) => path.startsWith("node_modules/zod/v4/locales/")),
  )
  expect([...new Set(locales)]).toEqual(["node_modules/zod/v4/locales/en.js"])
})

/** The oldest Node of each alternative of a range: `^20.9.0 || >=22` → 20.9, 22. */
const oldestOf = (range: string) =>
  range.split("||").map((each) => Number.parseFloat(/\d+(?:\.\d+)?/.exec(each)?.[0] ?? "0"))

test("no package of an installation wants a newer Node than ours", () => {
  const { packages } = JSON.parse(readFileSync(`${projectRoot}package-lock.json`, "utf8")) as {
    packages: Record<string, { readonly dev?: boolean; readonly engines?: { readonly node?: string } }>
  }
  const ours = 20.19
  const newer = Object.entries(packages).filter(
    ([, { dev, engines }]) =>
      dev !== true && engines?.node !== undefined && Math.min(...oldestOf(engines.node)) > ours,
  )
  expect(newer).toEqual([])
  // They count in this folder, and not where the package is installed: what the lock says would be no proof.
  expect(manifest).not.toHaveProperty("overrides")
})
