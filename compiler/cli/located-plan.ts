import { statSync } from "node:fs"
import { resolve } from "node:path"
import type { Plan } from "../../runtime/plan/plan.ts"
import type { Io } from "./io.ts"
import { readPlanFile } from "./plan-file.ts"
import { compilePlan } from "./project.ts"

/** A plan, and the folder of its files. */
export interface LocatedPlan {
  readonly plan: Plan
  readonly folder: string
}

/** Reads a plan. A folder is compiled from its gateway.conf, a file ending in .conf with its folder; any other file is a plan. */
export async function readLocatedPlan(io: Io, path: string): Promise<LocatedPlan> {
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
