import { renameSync, writeFileSync } from "node:fs"
import { resolve } from "node:path"
import type { PlanRecord } from "../../../runtime/control/api.ts"
import { canonicalJson } from "../../../runtime/plan/canonical.ts"
import type { SealedPlan } from "../../../runtime/plan/plan.ts"
import { sealPlan } from "../../../runtime/plan/read.ts"
import { CliError, type CommandLine, command, exitCode } from "../command.ts"
import type { Io } from "../io.ts"
import { configOption, formatOption, type ProjectArgs, readFormat, readProject, textOf } from "../options.ts"
import { planOf } from "../project.ts"
import { connect } from "../remote.ts"
import { runningPlan } from "../running.ts"
import { showChanges } from "../views/changes.ts"

interface PlanArgs {
  readonly project: ProjectArgs
  readonly out: string | undefined
  readonly format: "text" | "json"
}

const planLine: CommandLine<PlanArgs> = {
  options: [
    configOption,
    ["--out <file>", "write the plan, sealed: `apply FILE` sends exactly that"],
    formatOption,
  ],
  examples: [
    ["sallyport plan", "compare the text with what is running"],
    ["sallyport plan --out next.json && sallyport apply next.json", "review, then apply what was reviewed"],
  ],
  parse: (_, options) => ({
    project: readProject(options),
    out: textOf(options, "out"),
    format: readFormat(options, ["text", "json"]),
  }),
}

export const plan = command(planLine, async ({ project, out, format }, io) => {
  const remote = await connect(io)
  const next = await planOf(io, project)
  const running = await runningPlan(remote)
  if (format === "text")
    io.out(
      running === undefined
        ? "Nothing is running yet.\n\n"
        : `Compared with serial ${running.record.serial}, applied by ${running.record.who}.\n\n`,
    )
  showChanges(io, running?.plan.plan, next.plan, format, next.origins)
  if (out !== undefined) {
    write(io, out, sealPlan(running === undefined ? null : sealedBaseOf(running.record), next))
    if (format === "text") io.out(`\nWritten to ${out}. \`sallyport apply ${out}\` applies exactly this.\n`)
  }
  return running?.record.digest === next.digest ? exitCode.ok : exitCode.changes
})

function sealedBaseOf({ serial, stamp, digest }: PlanRecord): NonNullable<SealedPlan["base"]> {
  return { serial, stamp, digest }
}

/** Canonical, so that the same plan over the same base is the same file; moved into place, so that nobody applies half of one. */
function write(io: Io, out: string, sealed: SealedPlan): void {
  const path = resolve(io.cwd, out)
  try {
    writeFileSync(`${path}.${process.pid}`, `${canonicalJson(sealed)}\n`)
    renameSync(`${path}.${process.pid}`, path)
  } catch (error) {
    throw new CliError(`the plan cannot be written to ${out} (${(error as NodeJS.ErrnoException).code})`)
  }
}
