import { readFileSync } from "node:fs"
import { join, resolve } from "node:path"
import type { Compiled } from "../../compile.ts"
import type { Files } from "../../core/files.ts"
import { type FixedFile, fixedFiles } from "../../core/fixes.ts"
import {
  type DiagnosticsFormat,
  diagnosticsFormats,
  renderDiagnostics,
  summaryOf,
} from "../../render/diagnostics.ts"
import { unifiedDiff } from "../../render/unified-diff.ts"
import { CliError, type CommandLine, command, exitCode } from "../command.ts"
import type { Io } from "../io.ts"
import { configOption, jsonOption, type ProjectArgs, readFormat, readProject } from "../options.ts"
import { compileOnce, filesOf } from "../project.ts"
import { replaceFile } from "../replace-file.ts"

interface ValidateArgs {
  readonly project: ProjectArgs
  readonly format: DiagnosticsFormat
  /** Whether to fix what is safe to fix: in the files, or only as a difference. */
  readonly fix: "no" | "write" | "show"
}

const validateLine: CommandLine<ValidateArgs> = {
  options: [
    configOption,
    ["--format <format>", "text, json, sarif, markdown, github, gitlab or junit (default: text)"],
    jsonOption,
    ["--fix", "fix what has only one remedy, and report the rest"],
    ["--dry-run", "with --fix: print the changes as a diff, and change no file"],
  ],
  examples: [
    ["sallyport validate", "print all findings"],
    ["sallyport validate --fix --dry-run", "show what --fix would change"],
    ["sallyport validate --format github", "print annotations for a GitHub workflow"],
  ],
  parse(_, options) {
    const fix = options["fix"] === true
    const show = options["dryRun"] === true
    if (show && !fix) throw new CliError("--dry-run needs --fix", "Add --fix.")
    const format = readFormat(options, diagnosticsFormats)
    if (show && format !== "text")
      throw new CliError(`--dry-run prints a diff, not ${format}`, "Remove --format, or --dry-run.")
    return { project: readProject(options), format, fix: show ? "show" : fix ? "write" : "no" }
  },
}

export const validate = command(validateLine, async ({ project, format, fix }, io) => {
  const { plan, diagnostics } =
    fix === "no" ? await compileOnce(io, project) : await compileFixed(io, project, fix)
  // A diff is read by programs such as `git apply`.
  const out = fix === "show" ? io.err : io.out
  out(renderDiagnostics(diagnostics, format, { colour: fix === "show" ? io.colour.err : io.colour.out }))
  // The other formats are read by programs, which a summary would disturb.
  if (format === "text")
    out(`${diagnostics.length === 0 ? "" : "\n"}${project.entry}: ${summaryOf(diagnostics)}\n`)
  return plan === undefined ? exitCode.failed : exitCode.ok
})

/** A fix can show another mistake behind it, which may have one, too. */
const roundsMax = 10

/** Compiles and fixes until nothing is left to fix. Writes the files, or prints the difference to what they were. */
async function compileFixed(io: Io, project: ProjectArgs, how: "write" | "show"): Promise<Compiled> {
  const disk = filesOf(io, project)
  const changed = new Map<string, FixedFile>()
  // What is fixed is read from memory, so that a difference can be shown without writing.
  const files: Files = {
    read: (path, bytesMax) => {
      const fixed = changed.get(path)
      return fixed === undefined
        ? disk.read(path, bytesMax)
        : { kind: "bytes", bytes: Buffer.from(fixed.after) }
    },
    readAnywhere: (path, bytesMax) => disk.readAnywhere(path, bytesMax),
    glob: (pattern) => disk.glob(pattern),
  }
  let compiled = await compileOnce(io, project, files)
  for (let round = 0; round < roundsMax; round++) {
    const fixes = fixedFiles(compiled.diagnostics)
    if (fixes.length === 0) break
    for (const each of fixes) {
      const { before, count } = changed.get(each.path) ?? { before: each.before, count: 0 }
      changed.set(each.path, { ...each, before, count: count + each.count })
    }
    compiled = await compileOnce(io, project, files)
  }
  const sorted = [...changed.values()].sort((a, b) => (a.path < b.path ? -1 : 1))
  for (const { path, before, after, count } of sorted) {
    if (how === "show") io.out(unifiedDiff(path, before, after))
    else {
      writeFixed(join(resolve(io.cwd, project.folder), path), after)
      io.err(`${path}: ${count} ${count === 1 ? "finding" : "findings"} fixed\n`)
    }
  }
  return compiled
}

/** A byte order mark, which the compiler skips, stays. */
function writeFixed(path: string, text: string): void {
  const mark = readFileSync(path).subarray(0, 3).equals(Buffer.from("\ufeff")) ? "\ufeff" : ""
  replaceFile(path, mark + text)
}
