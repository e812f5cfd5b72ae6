import type {
  ApplyAnswer,
  ControlProblem,
  KeptPlansAnswer,
  OutageRollbackAnswer,
  PlanAnswer,
} from "../../../runtime/control/api.ts"
import type { ChangeClass } from "../../../runtime/plan/change-rules.ts"
import { authorOf } from "../author.ts"
import { CliError, type CommandLine, command, type ExitCode, exitCode } from "../command.ts"
import { confirm } from "../confirm.ts"
import { readWait, waitForFleet, waitOptions } from "../fleet.ts"
import type { Io } from "../io.ts"
import { allowOption, messageOption, readAllow, readCount, textOf } from "../options.ts"
import { connect, expectOk, type Remote, type RemoteAnswer } from "../remote.ts"
import { baseOf } from "../running.ts"
import { showChanges } from "../views/changes.ts"

interface RollbackArgs {
  readonly serial: number
  readonly yes: boolean
  /** Classes of changes that the caller consents to. */
  readonly allow: readonly ChangeClass[]
  readonly reason: string | undefined
  /** Milliseconds, see `readWait`. */
  readonly waitMs: number | undefined
  /** Change only the process that is asked, while the database is unavailable. */
  readonly withoutDatabase: boolean
  /** Also when a canary runs, or may run. */
  readonly despiteCanary: boolean
}

const rollbackLine: CommandLine<RollbackArgs> = {
  operands: [["<serial>", "serial of the plan, see `sallyport history`"]],
  options: [
    ["--yes", "do not ask for confirmation"],
    allowOption,
    messageOption,
    ...waitOptions,
    [
      "--without-database",
      "while the database is unavailable: only the process that is asked serves the plan, which it keeps on disk; needs the role `admin`",
    ],
    [
      "--despite-canary",
      "with --without-database: also when a canary ran when the database last answered, or when that is unknown",
    ],
  ],
  examples: [
    ["sallyport rollback 41 --yes", "apply the plan of serial 41 again, under a new serial"],
    [
      'sallyport rollback 41 --without-database --message "42 fails"',
      "during an outage of the database; repeat it for each process",
    ],
  ],
  parse([serial], options) {
    if (serial === undefined) throw new CliError("rollback needs a serial", "`sallyport history` lists them.")
    const withoutDatabase = options["withoutDatabase"] === true
    if (withoutDatabase && (options["allow"] !== undefined || options["wait"] !== undefined))
      throw new CliError(
        "--without-database changes one process, and no consent can be stored",
        "Omit --allow, --wait and --no-wait.",
      )
    const despiteCanary = options["despiteCanary"] === true
    if (despiteCanary && !withoutDatabase)
      throw new CliError("--despite-canary is for --without-database", "Omit it, or add --without-database.")
    return {
      serial: readCount(serial, "the serial"),
      yes: options["yes"] === true,
      allow: readAllow(options),
      reason: textOf(options, "message"),
      waitMs: readWait(options),
      withoutDatabase,
      despiteCanary,
    }
  },
}

/** A rollback is a new serial with an old plan: serials only grow, so that every process can tell which plan is newer. */
export const rollback = command(rollbackLine, async (args, io) => {
  const remote = await connect(io)
  if (args.withoutDatabase) return rollBackOne(io, remote, args)
  // The plan is fetched, not only named, so that the changes can be shown before anything happens.
  const wanted = await remote.request("GET", `/v1/plans/${args.serial}`)
  if (wanted.status === 404)
    throw new CliError(`there is no plan with serial ${args.serial}`, "`sallyport history` lists them.")
  const old = expectOk<PlanAnswer>(orWithoutDatabase(wanted, args.serial))
  const running = expectOk<PlanAnswer>(await remote.request("GET", "/v1/plan"))
  // A digest says more than a serial: an earlier rollback may have brought this very plan back.
  if (running.record.digest === old.record.digest) {
    io.out(
      `Serial ${running.record.serial} is running and has the same content as serial ${args.serial}. Nothing to do.\n`,
    )
    return exitCode.ok
  }
  showChanges(io, running.plan.plan, old.plan.plan, "text", old.plan.origins)
  await confirm(
    io,
    `Roll back from serial ${running.record.serial} to the plan of serial ${args.serial}?`,
    args.yes,
  )
  const applied = await remote.request("POST", "/v1/rollback", {
    serial: args.serial,
    // Base serial and digest: if somebody applies a plan meanwhile, the server refuses this one as stale.
    ...baseOf(running.record),
    author: await authorOf(io, args.reason),
    allow: args.allow,
  })
  const { record } = expectOk<ApplyAnswer>(orWithoutDatabase(applied, args.serial))
  io.out(`\nApplied as serial ${record.serial}.\n`)
  // Ends only when the other processes run the plan, or says which do not.
  return waitForFleet(io, remote, record, args.waitMs)
})

/** Names the option where the database is what is missing. */
function orWithoutDatabase(answer: RemoteAnswer, serial: number): RemoteAnswer {
  const { type, detail = "" } = (answer.body ?? {}) as Partial<ControlProblem>
  if (answer.status !== 503 || type !== "urn:sallyport:control:unavailable") return answer
  throw new CliError(
    `Database unavailable: ${detail}`,
    `If it cannot wait: \`sallyport rollback ${serial} --without-database\` changes only the process that is asked, to a plan that it keeps on disk.`,
  )
}

/** The plans come from the disk of the process: it has no others now. */
async function rollBackOne(io: Io, remote: Remote, args: RollbackArgs): Promise<ExitCode> {
  const { serial } = args
  const { running } = expectOk<KeptPlansAnswer>(await remote.request("GET", "/v1/kept-plans"))
  if (running === null)
    throw new CliError(
      `the process at ${remote.url} serves no plan of the history`,
      "Ask a process that serves one.",
    )
  const old = expectOk<PlanAnswer>(await remote.request("GET", `/v1/kept-plans/${serial}`))
  if (running.digest === old.record.digest) {
    io.out(`This process serves the content of serial ${serial}. Nothing to do.\n`)
    return exitCode.ok
  }
  const now = await remote.request("GET", `/v1/kept-plans/${running.serial}`)
  if (now.status === 200)
    showChanges(io, (now.body as PlanAnswer).plan.plan, old.plan.plan, "text", old.plan.origins)
  else io.out(`The changes are unknown: the process does not keep serial ${running.serial} on disk.\n`)
  await confirm(
    io,
    `Serve the plan of serial ${serial} instead of serial ${running.serial}, only in the process at ${remote.url}?`,
    args.yes,
  )
  const { base } = expectOk<OutageRollbackAnswer>(
    await remote.request("POST", "/v1/rollback/without-database", {
      serial,
      ...baseOf(running),
      author: await authorOf(io, args.reason),
      ...(args.despiteCanary ? { despiteCanary: true } : {}),
    }),
  )
  io.out(`
The process at ${remote.url} serves the plan of serial ${serial}. No other process has changed: ask each of them.
When the database answers, this plan gets a new serial and all processes serve it, if serial ${base.serial} is still the newest one.
Otherwise this process serves the newest one. \`sallyport status\` and the audit log say which.
`)
  return exitCode.ok
}
