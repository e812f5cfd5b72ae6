import { basename, dirname, isAbsolute, normalize, sep } from "node:path"
import type { Plan } from "../../runtime/plan/plan.ts"
import { Report } from "../core/diagnostic.ts"
import { Project } from "../core/load.ts"
import { didYouMean } from "../core/nearest.ts"
import { type CompiledModel, compileModel } from "../model/compile-model.ts"
import { summaryOf } from "../render/diagnostics.ts"
import { CliError, type OptionValues } from "./command.ts"
import type { Io } from "./io.ts"
import { configOption, type ProjectArgs, readProject, readStore } from "./options.ts"
import { compileOnce, filesOf, showFindings } from "./project.ts"

/** Which model a command uses: a file, or the model of a store of gateway.conf. */
export interface ModelArgs {
  readonly project: ProjectArgs
  readonly file: string | undefined
  readonly store: string | undefined
}

/** The options that select the model. */
export const modelOptions = [
  ["--model <file>", "model file: .fga, fga.mod or JSON"],
  ["--store <name>", "store of gateway.conf whose model is used; required when there are several"],
  configOption,
] as const

/** Reads `modelOptions`. */
export function readModelArgs(options: OptionValues): ModelArgs {
  const file = options["model"]
  const store = readStore(options)
  if (file !== undefined && store !== undefined)
    throw new CliError("--model and --store exclude each other", "Remove one of them.")
  // A folder, `.` or `..`: the commonest mistakes of completion in a shell.
  if (typeof file === "string" && /^$|(?:^|\/)\.{0,2}$/.test(file))
    throw new CliError("--model needs a file", "For example: --model models/acme.fga")
  return { project: readProject(options), file: typeof file === "string" ? file : undefined, store }
}

/** The model of a command; `plan` and `store` if it belongs to a store. */
export interface ModelSource {
  readonly model: CompiledModel
  readonly store?: string
  readonly plan?: Plan
}

/** Compiles the selected model. Errors are printed and end the command. Warnings are left to `validate`. */
export async function modelSource(io: Io, args: ModelArgs): Promise<ModelSource> {
  if (args.file !== undefined) return { model: modelOfFile(io, args.file) }
  // The whole project, because a store's model may consist of modules and needs the names that gateway.conf declares.
  const { plan, diagnostics, models } = await compileOnce(io, args.project)
  if (plan === undefined) {
    showFindings(io, diagnostics)
    throw new CliError(
      `there is no plan: ${summaryOf(diagnostics)}`,
      "Correct the errors above, or name the file of the model with --model.",
    )
  }
  // Without a name the only store is meant; several are no guess.
  const store = args.store ?? onlyStore([...models.keys()])
  const model = models.get(store)
  if (model === undefined)
    throw new CliError(
      `there is no store ${store}${didYouMean(store, models.keys())}`,
      `${args.project.entry} declares: ${[...models.keys()].join(", ") || "none"}.`,
    )
  return { model, store, plan }
}

function onlyStore(names: readonly string[]): string {
  const [only] = names
  if (only === undefined)
    throw new CliError("gateway.conf declares no store", "Name the file of the model with --model.")
  if (names.length > 1)
    throw new CliError(`there are several stores: ${names.join(", ")}`, "Name one with --store NAME.")
  return only
}

/** Compiles a model file by itself, without gateway.conf. Errors are printed and end the command. */
export function modelOfFile(io: Io, path: string): CompiledModel {
  // A store file for tests looks like a model and is next to it.
  if (/\.ya?ml$/.test(path))
    throw new CliError(
      `${path} contains tests of a model, not a model`,
      "Use the file in its `model_file`, or put the text of its `model` into a .fga file.",
    )
  const report = new Report()
  const { folder, entry } = whereIs(path)
  const project = new Project(filesOf(io, { folder, entry }), report)
  const file = project.read(entry, undefined)
  const model = file === undefined ? undefined : compileModel(file, report, { parts: project })
  if (model !== undefined) return model
  const findings = report.sorted()
  showFindings(io, findings)
  throw new CliError(`${path} contains no valid model: ${summaryOf(findings)}`)
}

/** A file below the current folder has its path from there. For any other file, the project is its own folder. */
function whereIs(path: string): { folder: string; entry: string } {
  const below = normalize(path)
  if (!isAbsolute(below) && below !== ".." && !below.startsWith(`..${sep}`))
    return { folder: ".", entry: below.split(sep).join("/") }
  return { folder: dirname(path), entry: basename(path) }
}
