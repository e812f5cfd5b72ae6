import { renameSync, rmSync, writeFileSync } from "node:fs"
import { resolve } from "node:path"
import type { PlanRecord } from "../../../runtime/control/api.ts"
import { canonicalJson } from "../../../runtime/plan/canonical.ts"
import type { Plan, SealedPlan } from "../../../runtime/plan/plan.ts"
import { sealPlan } from "../../../runtime/plan/read.ts"
import { CliError, type CommandLine, command, exitCode } from "../command.ts"
import type { Io } from "../io.ts"
import { configOption, formatOptions, type ProjectArgs, readFormat, readProject, textOf } from "../options.ts"
import { readPlanFile } from "../plan-file.ts"
import { compilePlan, demandEntry } from "../project.ts"
import { connect, orWithout } from "../remote.ts"
import { runningPlan } from "../running.ts"
import { showChanges } from "../views/changes.ts"

interface PlanArgs {
  readonly project: ProjectArgs
  /** A plan file, or `empty`; undefined: the running plan. */
  readonly against: string | undefined
  readonly out: string | undefined
  readonly format: "text" | "json"
}

const planLine: CommandLine<PlanArgs> = {
  options: [
    configOption,
    [
      "--against <file>",
      "compare with the plan in this file, or with `empty`: everything is new; no Sallyport needs to run (default: the running plan)",
    ],
    ["--out <file>", "write the plan, sealed, for `apply FILE` and `serve --plan FILE`"],
    ...formatOptions,
  ],
  examples: [
    ["sallyport plan", "compare gateway.conf with the running plan"],
    [
      "sallyport plan --out next.json; sallyport apply next.json",
      "review, then apply exactly the reviewed plan",
    ],
    ["sallyport plan --against empty --out plan.json", "make a plan file without a running Sallyport"],
    ["sallyport plan --against plan.json", "what changed since that file was written, for a pull request"],
  ],
  parse: (_, options) => ({
    project: readProject(options),
    against: textOf(options, "against"),
    out: textOf(options, "out"),
    format: readFormat(options, ["text", "json"]),
  }),
}

/** Exit code 2 means changes, so that a script can tell them from errors. */
export const plan = command(planLine, async ({ project, against, out, format }, io) => {
  const files = demandEntry(io, project)
  const old = await comparedWith(against, io)
  const next = await compilePlan(io, project, files)
  if (format === "text") io.out(`${old.title}\n\n`)
  showChanges(io, old.plan?.plan, next.plan, format, next.origins)
  if (out !== undefined) {
    write(io, out, sealPlan(old.base, next))
    if (format === "text") io.out(`\nWritten to ${out}. ${useOf(out, old)}\n`)
  }
  return old.plan?.digest === next.digest ? exitCode.ok : exitCode.changes
})

/** What the text is compared with. */
interface Compared {
  readonly title: string
  /** Undefined: everything is new. */
  readonly plan: Plan | undefined
  readonly base: SealedPlan["base"]
  /** Where the written plan can be applied; undefined: over the running plan under any name. */
  readonly where?: string
}

/**
 * What the new plan is compared with. `base` is sealed into a plan file, so that `apply` can refuse it when another plan was applied since.
 */
async function comparedWith(against: string | undefined, io: Io): Promise<Compared> {
  if (against === "empty")
    return {
      title: "Compared with nothing: everything is new.",
      plan: undefined,
      base: null,
      where: "no plan was applied yet",
    }
  if (against !== undefined) {
    const { plan: old } = readPlanFile(io, against)
    return {
      title: `Compared with the plan in ${against}.`,
      plan: old,
      base: { digest: old.digest },
      where: `the plan in ${against} is running`,
    }
  }
  const running = await orWithout(
    "To compare without a running Sallyport, add `--against empty` or `--against FILE`.",
    async () => runningPlan(await connect(io)),
  )
  if (running === undefined)
    return { title: "No plan was applied yet: everything is new.", plan: undefined, base: null }
  const { serial, who } = running.record
  return {
    title: `Compared with serial ${serial}, applied by ${who}.`,
    plan: running.plan,
    base: baseOfRecord(running.record),
  }
}

function baseOfRecord({ serial, stamp, digest }: PlanRecord): NonNullable<SealedPlan["base"]> {
  return { serial, stamp, digest }
}

function useOf(out: string, { where }: Compared): string {
  if (where === undefined) return `\`sallyport apply ${out}\` applies exactly this.`
  return `\`sallyport serve --plan ${out}\` serves it; \`sallyport apply ${out}\` applies it where ${where}.`
}

/**
 * Writes canonical JSON, so that the same plan over the same base gives the same file. Renames the finished file, so that a half-written
 * plan is never applied.
 */
function write(io: Io, out: string, sealed: SealedPlan): void {
  const path = resolve(io.cwd, out)
  const own = `${path}.${process.pid}`
  try {
    writeFileSync(own, `${canonicalJson(sealed)}\n`)
    renameSync(own, path)
  } catch (error) {
    rmSync(own, { force: true })
    throw new CliError(
      `the plan cannot be written to ${out} (${(error as NodeJS.ErrnoException).code})`,
      "Name a file in an existing folder that this user may write to.",
    )
  }
}
