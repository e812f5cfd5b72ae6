import { statSync } from "node:fs"
import { resolve } from "node:path"
import type { Plan } from "../../../runtime/plan/plan.ts"
import type { DiffArgs } from "../args/diff.ts"
import { type CommandAction, exitCode } from "../command.ts"
import type { Io } from "../io.ts"
import { readPlanFile } from "../plan-file.ts"
import { planOf } from "../project.ts"
import { showChanges } from "../views/changes.ts"

export const diff: CommandAction<DiffArgs> = async ({ before, after, format }, io) => {
  const old = await read(io, before)
  const next = await read(io, after)
  showChanges(io, old.plan, next.plan, format, next.origins)
  return old.digest === next.digest ? exitCode.ok : exitCode.changes
}

/** A folder is compiled from its gateway.conf, a file that ends in .conf with its folder; anything else is a plan. */
async function read(io: Io, path: string): Promise<Plan> {
  if (isFolder(resolve(io.cwd, path))) return planOf(io, { folder: path, entry: "gateway.conf" })
  if (!path.endsWith(".conf")) return readPlanFile(io, path).plan
  const cut = path.lastIndexOf("/") + 1
  return planOf(io, { folder: path.slice(0, cut) || ".", entry: path.slice(cut) })
}

function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true
}
