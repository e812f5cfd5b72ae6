import type { PlanAnswer } from "../../runtime/control/api.ts"
import type { PlanSeal, SealedPlan } from "../../runtime/plan/seal.ts"
import { CliError, exitCode } from "./command.ts"
import type { Io } from "./io.ts"
import { readPlanFile } from "./plan-file.ts"

/** Reads a sealed plan. A plan without a seal is a `CliError`. */
export function readSealedFile(io: Io, path: string): SealedPlan {
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
export function refuseStale(base: PlanSeal["base"], running: PlanAnswer | undefined): void {
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
