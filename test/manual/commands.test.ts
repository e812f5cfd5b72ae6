import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { expect, test } from "vitest"
import { commands } from "../../compiler/cli/commands.ts"
import { connectionOptions } from "../../compiler/cli/control-tls.ts"
import { variables } from "../../compiler/cli/variables.ts"
import { run } from "../cli/run.ts"
import { projectRoot } from "../structure/tree.ts"
import { fences, placeOf, sourcePages } from "./pages.ts"

const world = { cwd: projectRoot }

test("`help STATEMENT` says syntax, default, example and findings of each meaning", async () => {
  const { code, out } = await run(world, "help", "timeout")
  expect(code).toBe(0)
  expect(out.split("----")).toHaveLength(8)
  expect(out).toContain("  timeout connect DURATION [first-byte DURATION]")
  expect(out).toContain("Default: connect 2s, total none")
  expect(out).toContain("Example: timeout connect 2s first-byte 5s idle 30s total 60s")
  expect(out).toMatch(/Findings: SP2020 Invalid duration; SP2032 [^;]*; SP2042\s/)
})

test("`help BLOCK STATEMENT` says the meaning in that block", async () => {
  const { out } = await run(world, "help", "health", "timeout")
  expect(out).toContain("Blocks: `health`\n")
  expect(out).not.toContain("----")
})

test("`help require` names the blocks it opens", async () => {
  const { out } = await run(world, "help", "require")
  expect(out).toContain('  require RELATION of "…" for "…" [in STORE | by PDP] [{ … }]\n')
  expect(out).toContain("`question` holds: context, tuple, subject, resource, action")
})

test("`help` of a word that is a command and a statement prints both", async () => {
  const { out } = await run(world, "help", "validate")
  expect(out).toMatch(/^Usage: sallyport validate/)
  expect(out).toContain("\nStatement of gateway.conf:\n")
})

test("`help` of a command of a group", async () => {
  expect((await run(world, "help", "tuple", "write")).out).toMatch(/^Usage: sallyport tuple write/)
})

test("`help VARIABLE` says what an environment variable is for", async () => {
  const { code, out } = await run(world, "help", "SALLYPORT_SPOOL")
  expect(code).toBe(0)
  expect(out).toContain("Default: `.sallyport/spool`\n")
})

test("`help CODE` explains a finding, as `explain CODE` does", async () => {
  const { code, out } = await run(world, "help", "sp5012")
  expect(code).toBe(0)
  expect(out).toMatch(/^SP5012 Relation not in the model/)
  expect(out).toBe((await run(world, "explain", "SP5012")).out)
})

test.each([
  ["reqire", "require"],
  ["valdate", "validate"],
  ["SALLYPORT_SPOL", "SALLYPORT_SPOOL"],
])("`help %s` suggests the nearest word", async (word, meant) => {
  const { code, err } = await run(world, "help", word)
  expect(code).toBe(1)
  expect(err).toContain(`there is no command or statement \`${word}\``)
  expect(err).toContain(`Did you mean \`sallyport help ${meant}\`?`)
})

test("`docs` lists every page", async () => {
  const { code, out } = await run(world, "docs")
  expect(code).toBe(0)
  for (const { path } of sourcePages().filter((page) => !page.path.endsWith("README.md")))
    expect(out).toContain(`  ${path.replace(/^\w+\/docs\/|\.md$/g, "")} `)
})

test.each([
  [["rate", "limit"], "# limit, quota, concurrency: rate limits"],
  [["limit"], "# limit, quota, concurrency: rate limits"],
  [["retry", "budget"], "### `budget` in `retry`"],
  [["reference/limit"], "# limit, quota, concurrency: rate limits"],
])("`docs %s` prints the best place", async (words, heading) => {
  const { code, out } = await run(world, "docs", ...words)
  expect(code).toBe(0)
  expect(out.split("\n")[0]).toBe(heading)
})

test("`docs` of a word the manual does not have suggests one it has", async () => {
  const { code, err } = await run(world, "docs", "rate", "limti")
  expect(code).toBe(1)
  expect(err).toContain("the manual does not mention `limti`")
  expect(err).toContain("Did you mean `limit`?")
  expect((await run(world, "docs", "zeppelins")).err).toContain("the manual does not mention `zeppelins`")
})

test("every environment variable in the code is in the table, and no other", () => {
  const files = ["compiler/cli", "runtime"].flatMap((folder) =>
    readdirSync(join(projectRoot, folder), { recursive: true, encoding: "utf8" })
      .filter((path) => /\.ts$/.test(path) && !path.endsWith("variables.ts"))
      .map((path) => readFileSync(join(projectRoot, folder, path), "utf8")),
  )
  const named = new Set(files.join("\n").match(/\bSALLYPORT_[A-Z_]+\b/g))
  const listed = Object.keys(variables).filter((name) => name.startsWith("SALLYPORT_"))
  expect([...named].sort()).toEqual([...listed].sort())
  const known = commands.flatMap(({ name }) => [name, name.split(" ")[0]])
  for (const { commands: readBy } of Object.values(variables))
    expect(readBy.filter((each) => !["all", "explain request", ...known].includes(each))).toEqual([])
})

/** Lines of shell examples that call sallyport, by hand or by npx. */
const lines = fences()
  .filter(({ language }) => language === "sh" || language === "console")
  .flatMap((fence) =>
    fence.text
      .replaceAll("\\\n", " ")
      .split("\n")
      .map((line) => line.replace(/^\$ /, "").replace(/ +#.*$/, ""))
      .flatMap((line) => [...line.matchAll(/(?:^|&& |\| |\$\()(?:npx )?sallyport ([^|&)>]*)/g)])
      .map((found) => [placeOf(fence), (found[1] ?? "").trim()] as const),
  )

test.each(lines)("%s: `sallyport %s` is a command with options it has", async (_, line) => {
  const words = (line.match(/"[^"]*"|'[^']*'|\S+/g) ?? []).filter((word) => !/^[<>]/.test(word))
  const command = commands
    .filter(({ name }) => `${words.join(" ")} `.startsWith(`${name} `))
    .sort((a, b) => b.name.length - a.name.length)[0]
  if (["help", "--version", "--help"].includes(words[0] ?? "--help")) return
  expect(command?.name, line).toBeDefined()
  const known = (await command?.load())?.line
  const flags = [...(known?.options ?? []), ...connectionOptions].flatMap(
    ([names]) => names.match(/--?[\w-]+/g) ?? [],
  )
  const given = words
    .filter((word) => /^-/.test(word) && word !== "-")
    .map((word) => word.split("=")[0] ?? "")
  expect(given.filter((flag) => ![...flags, "--help"].includes(flag))).toEqual([])
})
