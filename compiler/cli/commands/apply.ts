import type { PlanAnswer } from "../../../runtime/control/api.ts"
import type { ChangeClass } from "../../../runtime/plan/change-rules.ts"
import type { Change } from "../../diff/change.ts"
import { CliError, type CommandLine, command, exitCode } from "../command.ts"
import { confirm } from "../confirm.ts"
import { readWait, waitForFleet, waitOptions } from "../fleet.ts"
import {
  allowOption,
  configOption,
  messageOption,
  type ProjectArgs,
  readAllow,
  readProject,
  textOf,
} from "../options.ts"
import { withProgress } from "../progress.ts"
import { compilePlan, demandEntry } from "../project.ts"
import { connect } from "../remote.ts"
import { applyOver, runningPlan } from "../running.ts"
import { readSealedFile, refuseStale } from "../sealed-file.ts"
import { showChanges } from "../views/changes.ts"

interface ApplyArgs {
  readonly project: ProjectArgs
  /** A sealed plan; undefined: compile the text now. */
  readonly file: string | undefined
  readonly yes: boolean
  /** With `yes`: also apply changes that `plan` calls a danger. */
  readonly allowDanger: boolean
  /** Run the tests of the gateway with the plan first. */
  readonly probe: boolean
  /** Classes of changes that the caller consents to. */
  readonly allow: readonly ChangeClass[]
  /** The reason, for the history. */
  readonly reason: string | undefined
  /** Milliseconds, see `readWait`. */
  readonly waitMs: number | undefined
}

const applyLine: CommandLine<ApplyArgs> = {
  operands: [["[file]", "a plan file from `sallyport plan --out` (default: compile gateway.conf)"]],
  options: [
    configOption,
    [
      "--yes",
      "do not ask; exit 3 when the plan opens something, or would empty, halve or double the configuration",
    ],
    allowOption,
    ["--allow-danger", "with --yes: also apply a plan that would empty, halve or double the configuration"],
    [
      "--probe",
      "first run the tests of the gateway (*.gw.yaml below this folder) with exactly this plan; exit 3 when one fails",
    ],
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
    allow: readAllow(options),
    probe: options["probe"] === true,
    reason: textOf(options, "message"),
    waitMs: readWait(options),
  }),
}

/** The order matters: a stale plan is refused before its changes are shown, because they would be compared with the wrong plan. */
export const apply = command(applyLine, async (args, io) => {
  const sealed = args.file === undefined ? undefined : readSealedFile(io, args.file)
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
  if (args.yes && !args.allow.includes("opens")) refuseOpening(changes, running)
  if (args.probe) await (await import("../probe.ts")).probe(io, next, args.project)
  await confirm(io, questionFor(running), args.yes)
  const { record, applied } = await withProgress(io, "applying", () =>
    applyOver(io, remote, { plan: next, sealed, reason: args.reason, allow: args.allow }, running?.record),
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

/**
 * A prompt shows what opens; without one, the caller must say that it is intended. Where the running plan has a rule for it, the control API decides:
 * somebody else may have consented.
 */
function refuseOpening(changes: readonly Change[], running: PlanAnswer | undefined): void {
  const rules = running?.plan.plan.change?.consents ?? []
  if (running === undefined || rules.some((rule) => rule.class === "opens")) return
  const opening = changes.filter(({ risk }) => risk === "opens")
  const [first] = opening
  if (first === undefined) return
  const more = opening.length === 1 ? "" : `, and ${opening.length - 1} more`
  throw new CliError(
    `not applied: the plan opens something: ${first.why}${more}`,
    "If this is intended, add `--allow opens`, or apply it on a terminal without --yes.",
    exitCode.refused,
  )
}

function questionFor(running: PlanAnswer | undefined): string {
  return running === undefined
    ? "Apply this as the first plan?"
    : `Apply this over serial ${running.record.serial}?`
}
