import type { ApplyAnswer, PlanAnswer, PlanRecord } from "../../runtime/control/api.ts"
import type { Plan } from "../../runtime/plan/plan.ts"
import { authorOf } from "./author.ts"
import type { Io } from "./io.ts"
import { expectOk, type Remote } from "./remote.ts"

/** The running plan and its record; undefined if no plan was ever applied. */
export async function runningPlan(remote: Remote): Promise<PlanAnswer | undefined> {
  const answer = await remote.request("GET", "/v1/plan")
  return answer.status === 404 ? undefined : expectOk<PlanAnswer>(answer)
}

/** The plan that another was compared with, in the format of the control API. */
export function baseOf(running: PlanRecord | undefined) {
  return running === undefined ? { base: null } : { base: running.serial, baseStamp: running.stamp }
}

/** Applies a plan over the one it was compared with; undefined: no plan was running. A stale plan is a `CliError` with exit code 3. */
export async function applyOver(
  io: Io,
  remote: Remote,
  plan: Plan,
  running: PlanRecord | undefined,
  reason?: string,
): Promise<ApplyAnswer> {
  const body = { plan, ...baseOf(running), author: await authorOf(io, reason) }
  return expectOk<ApplyAnswer>(await remote.request("PUT", "/v1/plan", body))
}
