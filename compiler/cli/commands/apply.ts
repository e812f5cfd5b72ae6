import type { PlanAnswer } from "../../../runtime/control/api.ts"
import type { PlanSeal, SealedPlan } from "../../../runtime/plan/seal.ts"
import type { Change } from "../../diff/change.ts"
import { CliError, type CommandLine, command, exitCode } from "../command.ts"
import { confirm } from "../confirm.ts"
import { readWait, waitForFleet, waitOptions } from "../fleet.ts"
import type { Io } from "../io.ts"
import { configOption, messageOption, type ProjectArgs, readProject, textOf } from "../options.ts"
import { readPlanFile } from "../plan-file.ts"
import { withProgress } from "../progress.ts"
import { compilePlan, demandEntry } from "../project.ts"
import { connect } from "../remote.ts"
import { applyOver, runningPlan } from "../running.ts"
import { showChanges } from "../views/changes.ts"

interface ApplyArgs {
  readonly project: ProjectArgs
  /** A sealed plan; undefined: compile the text now. */
  readonly file: string | undefined
  readonly yes: boolean
  /** With `yes`: also apply changes that `plan` calls a danger. */
  readonly allowDanger: boolean
  /** The reason, for the history. */
  readonly reason: string | undefined
  /** Milliseconds, see `readWait`. */
  readonly waitMs: number | undefined
}

const applyLine: CommandLine<ApplyArgs> = {
  operands: [["[file]", "a plan file from `sallyport plan --out` (default: compile gateway.conf)"]],
  options: [
    configOption,
    ["--yes", "do not ask; exit 3 when the plan would empty, halve or double the configuration"],
    ["--allow-danger", "with --yes: apply such a plan as well"],
    messageOption,
    ...waitOptions,
  ],
  examples: [
    ["sallyport apply", "compile, show the changes, ask for confirmation, apply"],
    [
      "sallyport apply next.json --yes --wait 1m",
      "in CI: apply the reviewed plan; exit 3 when another was applied since, 4 when a process does not serve it after a minute",
    ],
  ],
  parse: ([file], options) => ({
    project: readProject(options),
    file,
    yes: options["yes"] === true,
    allowDanger: options["allowDanger"] === true,
    reason: textOf(options, "message"),
    waitMs: readWait(options),
  }),
}

/** The order matters: a stale plan is refused before its changes are shown, because they would be compared with the wrong plan. */
export const apply = command(applyLine, async (args, io) => {
  const sealed = args.file === undefined ? undefined : sealedPlan(io, args.file)
  const files = sealed === undefined ? demandEntry(io, args.project) : undefined
  const remote = await connect(io)
  const next = sealed?.plan ?? (await compilePlan(io, args.project, files))
  const running = await runningPlan(remote)
  if (running?.record.digest === next.digest) {
    io.out(`Serial ${running.record.serial} is running and has the same content. Nothing to do.\n`)
    return exitCode.ok
  }
  if (sealed !== undefined) refuseStale(sealed.seal.base, running)
  const changes = showChanges(io, running?.plan.plan, next.plan, "text", next.origins)
  if (args.yes && !args.allowDanger) refuseDanger(changes)
  await confirm(io, questionFor(running), args.yes)
  const { record, applied } = await withProgress(io, "applying", () =>
    applyOver(io, remote, { plan: next, sealed, reason: args.reason }, running?.record),
  )
  io.out(
    applied ? `\nApplied as serial ${record.serial}.\n` : `\nSerial ${record.serial} is running already.\n`,
  )
  return applied ? waitForFleet(io, remote, record, args.waitMs) : exitCode.ok
})

/**
 * Most configuration outages were caused by a plan that had lost or doubled most of its content. Without a prompt, such a plan needs an
 * explicit option.
 */
function refuseDanger(changes: readonly Change[]): void {
  const danger = changes.find((change) => change.danger)
  if (danger === undefined) return
  throw new CliError(
    `not applied: ${danger.why}`,
    "If this is intended, add --allow-danger, or apply it on a terminal without --yes.",
    exitCode.refused,
  )
}

function sealedPlan(io: Io, path: string): SealedPlan {
  const { sealed } = readPlanFile(io, path)
  if (sealed !== undefined) return sealed
  throw new CliError(
    `${path} does not contain the running plan that it was compared with`,
    "Only sealed plans can be applied: `sallyport plan --out FILE` writes one.",
  )
}

/**
 * Stamp and digest distinguish two databases, or two histories of one, with the same serial. Plans from before stamps existed have only
 * digests.
 */
function refuseStale(base: PlanSeal["base"], running: PlanAnswer | undefined): void {
  const same =
    base === null
      ? running === undefined
      : running?.record.digest === base.digest &&
        (base.serial === undefined ||
          (running.record.serial === base.serial && running.record.stamp === base.stamp))
  if (same) return
  const then = base === null ? "nothing was running" : wordsOf(base)
  const other =
    running !== undefined && running.record.serial === base?.serial
      ? " (another plan with this number: the database was set back to an earlier state, or is another one)"
      : ""
  const now =
    running === undefined
      ? "nothing is"
      : `serial ${running.record.serial} is, applied by ${running.record.who}${other}`
  throw new CliError(
    `the plan is stale: when it was made ${then}, now ${now}; nothing was changed`,
    "Run `sallyport plan --out FILE` again and review what changed since.",
    exitCode.refused,
  )
}

function wordsOf({ serial, digest }: NonNullable<PlanSeal["base"]>): string {
  return serial === undefined
    ? `it was compared with a plan in a file (digest ${digest.slice(7, 19)})`
    : `serial ${serial} was running`
}

function questionFor(running: PlanAnswer | undefined): string {
  return running === undefined
    ? "Apply this as the first plan?"
    : `Apply this over serial ${running.record.serial}?`
}
