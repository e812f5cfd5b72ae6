import { existsSync, statSync } from "node:fs"
import { join, resolve } from "node:path"
import { setFlagsFromString } from "node:v8"
import type { Plan } from "../../runtime/plan/plan.ts"
import type { Compiled } from "../compile.ts"
import type { Diagnostic } from "../core/diagnostic.ts"
import { DiskFiles } from "../core/disk-files.ts"
import type { Files } from "../core/files.ts"
import { didYouMean } from "../core/nearest.ts"
import { renderDiagnostics, summaryOf } from "../render/diagnostics.ts"
import { CliError } from "./command.ts"
import type { Io } from "./io.ts"
import type { ProjectArgs } from "./options.ts"
import { withProgress } from "./progress.ts"

/** The project's files on disk. */
export function filesOf(io: Io, { folder }: ProjectArgs): Files {
  const root = resolve(io.cwd, folder)
  if (statSync(root, { throwIfNoEntry: false })?.isDirectory() !== true)
    throw new CliError(`there is no folder ${folder}`, "Check the path.")
  return new DiskFiles(root)
}

/** Compiles a project and runs the tests of its models. Loads the compiler only here, for the commands that need it. */
export async function compileProject(io: Io, { entry }: ProjectArgs, files: Files): Promise<Compiled> {
  return withProgress(io, "compiling", async () => {
    const { compileAndTest } = await import("../compile.ts")
    return compileAndTest(files, entry)
  })
}

/** Like `compileProject`, for a command that ends afterwards. */
export async function compileOnce(
  io: Io,
  project: ProjectArgs,
  files: Files = filesOf(io, project),
): Promise<Compiled> {
  optimizeLater()
  return compileProject(io, project, files)
}

/**
 * For a command that compiles once and ends: tells V8 to optimize only hotter functions. By default V8 would optimize most of the compiler,
 * which takes longer than the work when other processes need the cores too: 1.2 s instead of 0.7 s with 1,000 routes. Large functions are
 * still optimized. Only Node 20 (V8 11) has this flag; newer versions would print a warning, and compile with Maglev meanwhile.
 */
function optimizeLater(): void {
  if (!process.versions.v8.startsWith("11.")) return
  setFlagsFromString("--interrupt-budget=500000")
}

/** The project's files on disk. Ends a command whose project has no first file, before it starts anything. @throws CliError */
export function demandEntry(io: Io, project: ProjectArgs): Files {
  const { folder, entry } = project
  const files = filesOf(io, project)
  if (existsSync(join(resolve(io.cwd, folder), entry))) return files
  throw new CliError(
    `${entry} does not exist in ${folder === "." ? "this folder" : folder}${didYouMean(entry, files.glob("*.conf").paths)}`,
    "Run `sallyport init` to create a project, or name the main file of one with --config.",
  )
}

/** Compiles a project to a plan, for a command that ends afterwards. Prints the findings; without a plan the command ends. */
export async function compilePlan(
  io: Io,
  project: ProjectArgs,
  files: Files = demandEntry(io, project),
): Promise<Plan> {
  return planIn(io, await compileOnce(io, project, files))
}

/** The plan of a compilation. Prints the findings; without a plan the command ends. */
export function planIn(io: Io, { plan, diagnostics }: Compiled): Plan {
  showFindings(io, diagnostics)
  if (plan === undefined) throw new CliError(`there is no plan: ${summaryOf(diagnostics)}`)
  return plan
}

/** Prints findings for people, followed by an empty line. */
export function showFindings(io: Io, findings: readonly Diagnostic[]): void {
  if (findings.length > 0) io.err(`${renderDiagnostics(findings, "text", { colour: io.colour.err })}\n`)
}
