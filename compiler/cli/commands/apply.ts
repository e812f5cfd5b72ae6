import type { PlanAnswer } from "../../../runtime/control/api.ts"
import type { ChangeClass } from "../../../runtime/plan/change-rules.ts"
import type { Change } from "../../diff/change.ts"
import { visible } from "../../render/width.ts"
import { type CanaryTermsArgs, canaryOptions, readCanary } from "../canary-options.ts"
import { waitForCanary } from "../canary-wait.ts"
import { CliError, type CommandLine, command, type ExitCode, exitCode } from "../command.ts"
import { confirm } from "../confirm.ts"
import { readWait, waitForFleet, waitOptions } from "../fleet.ts"
import type { Io } from "../io.ts"
import { type MadeThing, removeMade, toRemove } from "../made-at-run-time.ts"
import type { MadeKind } from "../made-kinds.ts"
import {
  allowOption,
  configOption,
  messageOption,
  type ProjectArgs,
  readAllow,
  readProject,
  readRemove,
  removeOption,
  textOf,
} from "../options.ts"
import { withProgress } from "../progress.ts"
import { compilePlan, demandEntry } from "../project.ts"
import { connect, type Remote } from "../remote.ts"
import { type Application, applyOver, beginCanary, runningPlan } from "../running.ts"
import { readSealedFile, refuseStale } from "../sealed-file.ts"
import { canaryText, limitsText } from "../views/canary.ts"
import { showChanges } from "../views/changes.ts"
import { removalText } from "../views/made-at-run-time.ts"

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
  /** What to delete of what was made at run time. */
  readonly remove: readonly MadeKind[]
  /** Serve only a share of the callers first. */
  readonly canary: CanaryTermsArgs | undefined
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
    ...canaryOptions,
    removeOption,
    messageOption,
    ...waitOptions,
  ],
  examples: [
    ["sallyport apply", "compile, show the changes, ask for confirmation, apply"],
    [
      "sallyport apply next.json --yes --wait 1m",
      "in CI: apply the reviewed plan; exit 3 when another was applied since, 4 when a process does not serve it after a minute",
    ],
    [
      "sallyport apply --canary 5% --for 30m",
      "serve 5 % of the callers with it, and all after half an hour, unless errors, denials or latency rise",
    ],
  ],
  parse([file], options) {
    const [canary, remove] = [readCanary(options), readRemove(options)]
    if (canary !== undefined && remove.length > 0)
      throw new CliError(
        "--canary and --remove exclude each other: the old plan still serves callers",
        "Promote the canary, then run `sallyport apply --remove` with the same plan.",
      )
    return {
      project: readProject(options),
      file,
      yes: options["yes"] === true,
      allowDanger: options["allowDanger"] === true,
      allow: readAllow(options),
      probe: options["probe"] === true,
      ...{ canary, remove },
      reason: textOf(options, "message"),
      waitMs: readWait(options),
    }
  },
}

/** The order matters: a stale plan is refused before its changes are shown, because they would be compared with the wrong plan. */
export const apply = command(applyLine, async (args, io) => {
  const sealed = args.file === undefined ? undefined : readSealedFile(io, args.file)
  const files = sealed === undefined ? demandEntry(io, args.project) : undefined
  const remote = await connect(io)
  const next = sealed?.plan ?? (await compilePlan(io, args.project, files))
  const running = await runningPlan(remote)
  const things = await toRemove(remote, args.remove, [running?.plan.plan, next.plan])
  if (running?.record.digest === next.digest) {
    const same = `Serial ${running.record.serial} is running and has the same content.`
    io.out(args.remove.length === 0 ? `${same} Nothing to do.\n` : `${same}\n`)
    return removeOnly(io, remote, args, things)
  }
  if (sealed !== undefined) refuseStale(sealed.seal.base, running)
  const changes = showChanges(io, running?.plan.plan, next.plan, "text", next.origins)
  if (args.yes && !args.allowDanger) refuseDanger(changes)
  if (args.yes && !args.allow.includes("opens")) refuseOpening(changes, running)
  if (args.probe) await (await import("../probe.ts")).probe(io, next, args.project)
  if (args.remove.length > 0) io.out(removalText(things))
  const { canary, allow, reason, waitMs } = args
  await confirm(io, questionFor(running, canary), args.yes)
  const application = { plan: next, sealed, reason, allow }
  if (canary !== undefined) return tryFirst(io, remote, { application, running, canary, waitMs })
  const { record, applied } = await withProgress(io, "applying", () =>
    applyOver(io, remote, application, running?.record),
  )
  io.out(
    applied ? `\nApplied as serial ${record.serial}.\n` : `\nSerial ${record.serial} is running already.\n`,
  )
  const code = applied ? await waitForFleet(io, remote, record, waitMs) : exitCode.ok
  if (code === exitCode.ok) await remove(io, remote, things)
  else if (things.length > 0) io.err("Nothing was removed, because not every process serves the plan.\n")
  return code
})

/** The same plan runs already, so that there is only something to delete. */
async function removeOnly(
  io: Io,
  remote: Remote,
  args: ApplyArgs,
  things: readonly MadeThing[],
): Promise<ExitCode> {
  if (args.remove.length === 0) return exitCode.ok
  io.out(removalText(things))
  if (things.length === 0) return exitCode.ok
  await confirm(io, "Delete this?", args.yes)
  await remove(io, remote, things)
  return exitCode.ok
}

/** Deletes exactly what was shown. */
async function remove(io: Io, remote: Remote, things: readonly MadeThing[]): Promise<void> {
  if (things.length === 0) return
  await withProgress(io, "removing", () => removeMade(remote, things))
  io.out(`Removed ${things.map(({ kind, name }) => `${kind.slice(0, -1)} ${visible(name)}`).join(", ")}.\n`)
}

/** Begins a canary. The server continues it; this command waits for its end only with `--wait`. */
async function tryFirst(
  io: Io,
  remote: Remote,
  begin: {
    readonly application: Application
    readonly running: PlanAnswer | undefined
    readonly canary: CanaryTermsArgs
    readonly waitMs: number | undefined
  },
): Promise<ExitCode> {
  const { application, running, canary: terms, waitMs = 0 } = begin
  const canary = await withProgress(io, "preparing the canary", () =>
    beginCanary(io, remote, application, running?.record, terms),
  )
  io.out(`\n${canaryText(canary)}It returns at: ${limitsText(canary.limits)}.\n`)
  if (waitMs > 0) return waitForCanary(io, remote, canary, waitMs)
  io.err("`sallyport canary status` compares both plans; `canary promote` and `canary cancel` end it.\n")
  return exitCode.ok
}

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

function questionFor(running: PlanAnswer | undefined, canary: CanaryTermsArgs | undefined): string {
  if (canary !== undefined) return `Serve ${canary.percent} % of the callers with this?`
  return running === undefined
    ? "Apply this as the first plan?"
    : `Apply this over serial ${running.record.serial}?`
}
