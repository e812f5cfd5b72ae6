import type {
  ApplyAnswer,
  CanaryChanged,
  CanaryRecord,
  HistoryAnswer,
  PlanAnswer,
  PlanRecord,
} from "../../runtime/control/api.ts"
import type { ChangeClass } from "../../runtime/plan/change-rules.ts"
import type { Plan } from "../../runtime/plan/plan.ts"
import type { SealedPlan } from "../../runtime/plan/seal.ts"
import { authorOf } from "./author.ts"
import type { CanaryTermsArgs } from "./canary-options.ts"
import type { Io } from "./io.ts"
import { expectOk, type Remote } from "./remote.ts"

/** The running plan and its record; undefined if no plan was ever applied. */
export async function runningPlan(remote: Remote): Promise<PlanAnswer | undefined> {
  const answer = await remote.request("GET", "/v1/plan")
  return answer.status === 404 ? undefined : expectOk<PlanAnswer>(answer)
}

/** The plan that another was compared with, in the format of the control API. */
export function baseOf(running: Pick<PlanRecord, "serial" | "stamp"> | undefined) {
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
  application: Application,
  running: PlanRecord | undefined,
): Promise<ApplyAnswer> {
  const body = await bodyOf(io, application, running)
  return expectOk<ApplyAnswer>(await remote.request("PUT", "/v1/plan", body))
}

/** Begins a canary in the same way. */
export async function beginCanary(
  io: Io,
  remote: Remote,
  application: Application,
  running: PlanRecord | undefined,
  terms: CanaryTermsArgs,
): Promise<CanaryRecord> {
  const body = { ...(await bodyOf(io, application, running)), ...terms }
  return expectOk<CanaryChanged>(await remote.request("POST", "/v1/canary", body)).canary
}

async function bodyOf(
  io: Io,
  { plan, sealed, reason, allow }: Application,
  running: PlanRecord | undefined,
): Promise<object> {
  const author = await authorOf(io, reason)
  const { seal, signature } = sealed ?? {}
  // The commit that the plan was made of, not that of the folder it is applied from.
  const made = seal && { commit: seal.author.commit, message: author.message ?? seal.author.message }
  return { plan, ...baseOf(running), author: { ...author, ...made }, seal, signature, allow }
}

/** What identifies the history for seals; null: a Sallyport of an earlier version. */
export async function historyOf(remote: Remote): Promise<string | null> {
  const { status, body } = await remote.request("GET", "/v1/plans?limit=1")
  return status === 200 ? ((body as Partial<HistoryAnswer>).history ?? null) : null
}
