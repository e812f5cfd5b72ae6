import { LoadError } from "../../runtime/gateway/generation/load-error.ts"
import type { OpenRecord } from "../../runtime/record/read-record.ts"
import type { RecordedRequest } from "../../runtime/record/recorded-request.ts"
import type { PlanToReplay, Replay, Treated } from "./replay.ts"
import { ReplayedPlans } from "./replayed-plans.ts"
import { ReplayTally } from "./tally.ts"

/**
 * Sends the requests of a record through both plans in this process, and compares what becomes of them. Backends respond as recorded, and questions
 * about relations have their recorded answers. The same record and the same plans give the same result. A text is the reason why a plan cannot run here.
 */
export async function replayRecord(
  record: OpenRecord,
  plans: { readonly before: PlanToReplay; readonly after: PlanToReplay },
): Promise<Replay | string> {
  const open = await ReplayedPlans.open(plans, record.mark).catch((error: unknown) => {
    if (error instanceof LoadError) return error.problems[0] ?? error.message
    throw error
  })
  if (typeof open === "string") return open
  const tally = new ReplayTally()
  try {
    for await (const request of record.requests()) tally.add(request, await treatedOf(open, request))
  } finally {
    open.close()
  }
  return tally.result(record.endings)
}

/** A request that is treated as before without being sent costs no promise. */
function treatedOf(open: ReplayedPlans, request: RecordedRequest): Treated | Promise<Treated> {
  return open.isUnchanged(request) ?? open.send(request)
}
