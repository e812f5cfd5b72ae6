import type { ApplyAnswer, PlanAnswer } from "../../runtime/control/api.ts"
import type { Plan } from "../../runtime/plan/plan.ts"
import { authorOf } from "./author.ts"
import type { Io } from "./io.ts"
import { expectOk, type Remote } from "./remote.ts"

/** The running plan and its record; undefined when none was ever applied. */
export async function runningPlan(remote: Remote): Promise<PlanAnswer | undefined> {
  const answer = await remote.request("GET", "/v1/plan")
  return answer.status === 404 ? undefined : expectOk<PlanAnswer>(answer)
}

/** Applies a plan over the one it was compared with (`base`). Stale is a `CliError` that exits 3. */
export async function applyOver(
  io: Io,
  remote: Remote,
  plan: Plan,
  base: number | null,
): Promise<ApplyAnswer> {
  const body = { plan, base, author: await authorOf(io) }
  return expectOk<ApplyAnswer>(await remote.request("PUT", "/v1/plan", body))
}
