import type { ApplyAnswer, PlanAnswer } from "../../../runtime/control/api.ts"
import type { ChangeClass } from "../../../runtime/plan/change-rules.ts"
import { authorOf } from "../author.ts"
import { CliError, type CommandLine, command, exitCode } from "../command.ts"
import { confirm } from "../confirm.ts"
import { readWait, waitForFleet, waitOptions } from "../fleet.ts"
import { allowOption, messageOption, readAllow, readCount, textOf } from "../options.ts"
import { connect, expectOk } from "../remote.ts"
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
}

const rollbackLine: CommandLine<RollbackArgs> = {
  operands: [["<serial>", "serial of the plan, see `sallyport history`"]],
  options: [["--yes", "do not ask for confirmation"], allowOption, messageOption, ...waitOptions],
  examples: [["sallyport rollback 41 --yes", "apply the plan of serial 41 again, under a new serial"]],
  parse([serial], options) {
    if (serial === undefined) throw new CliError("rollback needs a serial", "`sallyport history` lists them.")
    return {
      serial: readCount(serial, "the serial"),
      yes: options["yes"] === true,
      allow: readAllow(options),
      reason: textOf(options, "message"),
      waitMs: readWait(options),
    }
  },
}

/** A rollback is a new serial with an old plan: serials only grow, so that every process can tell which plan is newer. */
export const rollback = command(rollbackLine, async (args, io) => {
  const remote = await connect(io)
  // The plan is fetched, not only named, so that the changes can be shown before anything happens.
  const wanted = await remote.request("GET", `/v1/plans/${args.serial}`)
  if (wanted.status === 404)
    throw new CliError(`there is no plan with serial ${args.serial}`, "`sallyport history` lists them.")
  const old = expectOk<PlanAnswer>(wanted)
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
  const { record } = expectOk<ApplyAnswer>(
    await remote.request("POST", "/v1/rollback", {
      serial: args.serial,
      // Base serial and digest: if somebody applies a plan meanwhile, the server refuses this one as stale.
      ...baseOf(running.record),
      author: await authorOf(io, args.reason),
      allow: args.allow,
    }),
  )
  io.out(`\nApplied as serial ${record.serial}.\n`)
  // Ends only when the other processes run the plan, or says which do not.
  return waitForFleet(io, remote, record, args.waitMs)
})
