import type { ApplyAnswer, HistoryAnswer, PlanAnswer, PlanRecord } from "../../runtime/control/api.ts"
import type { ChangeClass } from "../../runtime/plan/change-rules.ts"
import type { Plan } from "../../runtime/plan/plan.ts"
import type { SealedPlan } from "../../runtime/plan/seal.ts"
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

/** A plan to apply, with the seal of its file, and the reason for the history. */
export interface Application {
  readonly plan: Plan
  readonly sealed?: SealedPlan | undefined
  readonly reason?: string | undefined
  /** What the caller consents to (default: nothing). */
  readonly allow?: readonly ChangeClass[]
}

/** Applies a plan over the one it was compared with; undefined: no plan was running. A stale plan is a `CliError` with exit code 3. */
export async function applyOver(
  io: Io,
  remote: Remote,
  { plan, sealed, reason, allow }: Application,
  running: PlanRecord | undefined,
): Promise<ApplyAnswer> {
  const author = await authorOf(io, reason)
  const { seal, signature } = sealed ?? {}
  // The commit that the plan was made of, not that of the folder it is applied from.
  const made = seal && { commit: seal.author.commit, message: author.message ?? seal.author.message }
  const body = { plan, ...baseOf(running), author: { ...author, ...made }, seal, signature, allow }
  return expectOk<ApplyAnswer>(await remote.request("PUT", "/v1/plan", body))
}

/** What identifies the history for seals; null: a Sallyport of an earlier version. */
export async function historyOf(remote: Remote): Promise<string | null> {
  const { status, body } = await remote.request("GET", "/v1/plans?limit=1")
  return status === 200 ? ((body as Partial<HistoryAnswer>).history ?? null) : null
}
