import { spawnSync } from "node:child_process"
import { chmodSync, cpSync, mkdirSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { describe, expect, test } from "vitest"
import { parse } from "yaml"
import { commands } from "../../compiler/cli/commands.ts"
import { projectRoot } from "../structure/tree.ts"
import { exampleFolder, folderWith, run, small } from "./run.ts"

describe("ci", () => {
  test("runs all checks of a project without mistakes, and compares it with another", async () => {
    const [before, after] = [folderWith({}), folderWith({})]
    for (const folder of [before, after])
      cpSync(`${projectRoot}models/examples/b2b`, folder, { recursive: true })
    const text = readFileSync(join(before, "gateway.conf"), "utf8")
    writeFileSync(join(after, "gateway.conf"), text.replace("9001/echo", "9001/other"))
    const { code, out } = await run({ cwd: after }, "ci", "--base", before, "--comment", "comment.md")
    expect(code).toBe(0)
    expect(out).toMatch(
      /\npassed {3}fmt --check\npassed {3}validate\npassed {3}test --coverage\nchanges {2}diff /,
    )
    const comment = readFileSync(join(after, "comment.md"), "utf8")
    expect(comment).toContain("<!-- sallyport ci -->\n### Sallyport: all checks passed\n")
    expect(comment).toContain("| `validate` | passed |")
    expect(comment).toContain("<details><summary>sallyport diff ")
  })

  test("goes on after a check that failed, and ends with one exit code", async () => {
    const cwd = folderWith({
      "gateway.conf": small.replace("limit   10", "limit 10").replace("auth    none", "auht none"),
    })
    const { code, out } = await run({ cwd }, "ci", "--format", "json")
    expect(code).toBe(1)
    const { passed, steps } = JSON.parse(out)
    expect(passed).toBe(false)
    expect(steps.map(({ command, status }: Record<string, string>) => [command, status])).toEqual([
      ["sallyport fmt --check", "failed"],
      ["sallyport validate", "failed"],
      ["sallyport test --coverage", "skipped"],
      ["sallyport plan", "skipped"],
    ])
    expect(steps[1].output).toContain("SP2001")
    expect(steps[3].note).toBe("neither --base nor a control API (--control) is given")
  })

  test("prints annotations in groups for GitHub, and Markdown with what failed unfolded", async () => {
    const cwd = folderWith({ "gateway.conf": small.replace("auth    none", "auht    none") })
    const github = await run({ cwd }, "ci", "--format", "github")
    expect(github.out).toContain("::group::sallyport validate: failed\n::error file=gateway.conf,line=11,")
    const markdown = await run({ cwd }, "ci", "--format", "markdown")
    expect(markdown.out).toContain("<details open><summary>sallyport validate</summary>")
  })

  test("reports a control API that does not answer as a failed check", async () => {
    const cwd = folderWith({ "gateway.conf": small })
    const { code, out } = await run({ cwd, env: { SALLYPORT_CONTROL_URL: "http://127.0.0.1:1" } }, "ci")
    expect(code).toBe(1)
    expect(out).toContain("failed   plan")
  })
})

describe("doctor", () => {
  test("finds nothing wrong, names variables without a value, and says what else is to be done", async () => {
    const cwd = exampleFolder()
    const { code, out } = await run({ cwd }, "doctor")
    expect(code).toBe(0)
    expect(out).toMatch(/^ok {7}Node\.js /)
    expect(out).toContain("ok       gateway.conf: no findings\n")
    expect(out).toContain("warning  variables without a value: ACME_CI_KEY\n         help: Set them")
    const set = await run({ cwd, env: { ACME_CI_KEY: "x" } }, "doctor", "--format", "json")
    expect(JSON.parse(set.out).checks).toContainEqual({
      status: "ok",
      what: "all 1 variables of the plan are set",
    })
  })

  test("fails for a project that does not compile, and for a control API that does not answer", async () => {
    const cwd = folderWith({ "gateway.conf": small.replace("auth    none", "auht    none") })
    const { code, out } = await run({ cwd, env: { SALLYPORT_CONTROL_URL: "http://127.0.0.1:1" } }, "doctor")
    expect(code).toBe(1)
    expect(out.match(/^failed/gm)).toHaveLength(2)
    expect((await run({ cwd: folderWith({}) }, "doctor")).code).toBe(1)
  })
})

describe("completion", () => {
  const completed = async (...words: readonly string[]): Promise<string[]> => {
    const { out } = await run({ cwd: projectRoot }, "completion", "bash")
    const line = ["sallyport", ...words]
    const ask = `COMP_WORDS=(${line.map((word) => `'${word}'`).join(" ")}); COMP_CWORD=${line.length - 1}; _sallyport; printf '%s\\n' "\${COMPREPLY[@]}"`
    const { stdout, stderr } = spawnSync("bash", ["-c", `${out}\n${ask}`], { encoding: "utf8" })
    expect(stderr).toBe("")
    return stdout.trim().split("\n")
  }

  test("of bash knows commands, members of groups, options and their values", async () => {
    expect(await completed("vali")).toEqual(["validate"])
    expect(await completed("tuple", "")).toEqual(expect.arrayContaining(["write", "import", "export"]))
    expect(await completed("validate", "--f")).toEqual(["--format", "--fix"])
    expect(await completed("validate", "--format", "")).toEqual(
      expect.arrayContaining(["text", "sarif", "gitlab", "junit"]),
    )
    expect(await completed("test", "")).toEqual([""])
  })

  test.each([
    ["zsh", ["-n"]],
    ["fish", ["--no-execute"]],
  ])("of %s has every command, and is valid there", async (shell, check) => {
    const { out } = await run({ cwd: projectRoot }, "completion", shell)
    for (const { name } of commands) expect(out).toContain(name.split(" ").at(-1))
    const path = join(folderWith({ script: out }), "script")
    const { status, error, stderr } = spawnSync(shell, [...check, path], { encoding: "utf8" })
    // Where the shell is not installed, the form is not checked.
    if (error === undefined) expect(`${status} ${stderr}`).toBe("0 ")
  })
})

describe("files for pipelines", () => {
  const read = (name: string): string => readFileSync(`${projectRoot}runtime/deploy/ci/${name}`, "utf8")

  test.each(["github.yaml", "gitlab.yaml"])(
    "%s is YAML, and its command lines are those of this version",
    async (name) => {
      const text = read(name)
      expect(() => parse(text)).not.toThrow()
      const lines = [...text.matchAll(/npx sallyport (?<line>[^|>\n]+)/g)].map(
        ({ groups }) => groups?.["line"] ?? "",
      )
      expect(lines.length).toBeGreaterThan(0)
      for (const line of lines) {
        const [command = "", ...words] = line.trim().split(" ")
        const { line: known } = await (
          commands.find((row) => row.name === command) as (typeof commands)[0]
        ).load()
        const flags = (known.options ?? []).map(([flag]) => flag.split(" ")[0])
        for (const word of words) if (word.startsWith("--")) expect(flags).toContain(word)
      }
    },
  )

  test("the hook checks what is staged", () => {
    const cwd = folderWith({ "gateway.conf": small })
    const git = (...words: string[]) =>
      spawnSync("git", ["-c", "user.name=a", "-c", "user.email=a@b.example", ...words], {
        cwd,
        encoding: "utf8",
        env: environment(cwd),
      })
    git("init", "-q")
    mkdirSync(join(cwd, ".git", "hooks"), { recursive: true })
    cpSync(`${projectRoot}runtime/deploy/ci/pre-commit`, join(cwd, ".git", "hooks", "pre-commit"))
    git("add", ".")
    expect(git("commit", "-qm", "first").status).toBe(0)
    writeFileSync(join(cwd, "gateway.conf"), small.replace("auth    none", "auht    none"))
    // The working tree is wrong, and what is staged is not.
    expect(git("commit", "-qm", "nothing", "--allow-empty").status).toBe(0)
    git("add", ".")
    const refused = git("commit", "-qm", "second")
    expect(refused.status).not.toBe(0)
    expect(refused.stdout + refused.stderr).toContain("SP2001")
  })
})

/** An environment in which `npx --no-install sallyport` is the program of this folder. */
function environment(cwd: string): NodeJS.ProcessEnv {
  const bin = join(cwd, ".git", "bin")
  mkdirSync(bin, { recursive: true })
  const shim = `#!/bin/sh\nshift 2\nexec "${process.execPath}" "${projectRoot}compiler/cli/sallyport.mjs" "$@"\n`
  writeFileSync(join(bin, "npx"), shim)
  chmodSync(join(bin, "npx"), 0o755)
  return { ...process.env, PATH: `${bin}:${process.env["PATH"]}` }
}
