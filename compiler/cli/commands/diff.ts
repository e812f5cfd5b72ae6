import { statSync } from "node:fs"
import { resolve } from "node:path"
import { CliError, type CommandLine, command, exitCode } from "../command.ts"
import type { Io } from "../io.ts"
import { formatOptions, readFormat, requestsOption, textOf } from "../options.ts"
import { readPlanFile } from "../plan-file.ts"
import { compilePlan } from "../project.ts"
import { showChanges } from "../views/changes.ts"
import { type LocatedPlan, showRequests } from "../views/requests.ts"

interface DiffArgs {
  readonly before: string
  readonly after: string
  readonly format: "text" | "json"
  /** A file for the comparison of requests. */
  readonly requests: string | undefined
}

const diffLine: CommandLine<DiffArgs> = {
  operands: [
    ["<before>", "a folder with gateway.conf, a .conf file or a plan file"],
    ["<after>", "a folder with gateway.conf, a .conf file or a plan file"],
  ],
  options: [requestsOption, ...formatOptions],
  examples: [["sallyport diff ../main .", "show what this branch changes"]],
  parse([before, after], options) {
    if (before === undefined || after === undefined)
      throw new CliError("diff needs two folders or plan files", "For example: sallyport diff ../main .")
    return {
      ...{ before, after, format: readFormat(options, ["text", "json"]) },
      requests: textOf(options, "requests"),
    }
  },
}

export const diff = command(diffLine, async ({ before, after, format, requests }, io) => {
  const old = await read(io, before)
  const next = await read(io, after)
  showChanges(io, old.plan.plan, next.plan.plan, format, next.plan.origins)
  await showRequests(io, { before: old, after: next }, { isText: format === "text", file: requests })
  // By digest: two texts may differ and compile to the same plan.
  return old.plan.digest === next.plan.digest ? exitCode.ok : exitCode.changes
})

/** Reads a plan. A folder is compiled from its gateway.conf, a file ending in .conf with its folder; any other file is a plan. */
async function read(io: Io, path: string): Promise<LocatedPlan> {
  if (isFolder(resolve(io.cwd, path)))
    return { plan: await compilePlan(io, { folder: path, entry: "gateway.conf" }), folder: path }
  const cut = path.lastIndexOf("/") + 1
  const folder = path.slice(0, cut) || "."
  if (!path.endsWith(".conf")) return { plan: readPlanFile(io, path).plan, folder }
  return { plan: await compilePlan(io, { folder, entry: path.slice(cut) }), folder }
}

function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true
}
