import { statSync } from "node:fs"
import { resolve } from "node:path"
import type { Plan } from "../../../runtime/plan/plan.ts"
import { CliError, type CommandLine, command, exitCode } from "../command.ts"
import type { Io } from "../io.ts"
import { formatOptions, readFormat } from "../options.ts"
import { readPlanFile } from "../plan-file.ts"
import { compilePlan } from "../project.ts"
import { showChanges } from "../views/changes.ts"

interface DiffArgs {
  readonly before: string
  readonly after: string
  readonly format: "text" | "json"
}

const diffLine: CommandLine<DiffArgs> = {
  operands: [
    ["<before>", "a folder with gateway.conf, a .conf file or a plan file"],
    ["<after>", "a folder with gateway.conf, a .conf file or a plan file"],
  ],
  options: formatOptions,
  examples: [["sallyport diff ../main .", "show what this branch changes"]],
  parse([before, after], options) {
    if (before === undefined || after === undefined)
      throw new CliError("diff needs two folders or plan files", "For example: sallyport diff ../main .")
    return { before, after, format: readFormat(options, ["text", "json"]) }
  },
}

export const diff = command(diffLine, async ({ before, after, format }, io) => {
  const old = await read(io, before)
  const next = await read(io, after)
  showChanges(io, old.plan, next.plan, format, next.origins)
  // By digest: two texts may differ and compile to the same plan.
  return old.digest === next.digest ? exitCode.ok : exitCode.changes
})

/** Reads a plan. A folder is compiled from its gateway.conf, a file ending in .conf with its folder; any other file is a plan. */
async function read(io: Io, path: string): Promise<Plan> {
  if (isFolder(resolve(io.cwd, path))) return compilePlan(io, { folder: path, entry: "gateway.conf" })
  if (!path.endsWith(".conf")) return readPlanFile(io, path).plan
  const cut = path.lastIndexOf("/") + 1
  return compilePlan(io, { folder: path.slice(0, cut) || ".", entry: path.slice(cut) })
}

function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true
}
