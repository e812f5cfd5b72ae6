import type { AuditPorts } from "../control/audit.ts"
import { CanaryJudge } from "../control/canary-judge.ts"
import { type CanaryHost, CanaryKeeper } from "../control/canary-keeper.ts"
import { canaryRecordOf } from "../control/canary-records.ts"
import type { PlanKeeper } from "../control/plan-keeper.ts"
import type { CanaryPorts, ChangeEvent } from "../control/ports.ts"
import { listCanaries, listCanaryReports, newestCanary } from "../store/canaries.ts"
import type { Database } from "../store/database.ts"
import type { Log } from "../telemetry/log.ts"
import { processName } from "./canary-reports.ts"

/** Follows the canary of the fleet in this process. */
export function openCanaries(parts: {
  readonly database: Database
  readonly log: Log
  readonly host: CanaryHost
  readonly keeper: Pick<PlanKeeper, "identity">
  /** The name of this process in the fleet. */
  readonly processId: string
}): CanaryKeeper {
  const { database, log, host, keeper, processId } = parts
  const process = { id: processId, name: processName }
  return new CanaryKeeper({ database, log, host, process, served: () => keeper.identity })
}

/** Lets this process decide about canaries, and returns what its control API needs. */
export function judgeCanaries(
  canaries: CanaryKeeper,
  parts: {
    readonly database: Database
    readonly log: Log
    readonly keeper: PlanKeeper
    readonly processId: string
    readonly audit: Pick<AuditPorts, "append">
    readonly notify: (event: ChangeEvent) => void
  },
): CanaryPorts {
  const { database, keeper, processId, ...rest } = parts
  const judge = new CanaryJudge({
    ...rest,
    database,
    process: { id: processId, name: processName },
    recordOf: async (serial) => (await keeper.plan(serial))?.record,
    onEnded: () => {
      keeper.look()
      void canaries.look()
    },
  })
  canaries.onSeen = (canary) => judge.look(canary)
  const running = async () => {
    const canary = await newestCanary(database)
    return canary?.state === "running" ? canary : undefined
  }
  return {
    running,
    newest: async () => {
      const canary = await newestCanary(database)
      if (canary === undefined) return undefined
      const reports = await listCanaryReports(database, canary.id)
      const verdict = canary.state === "running" ? judge.verdictText(canary, reports) : undefined
      return { canary, reports, verdict }
    },
    list: async (limit) => (await listCanaries(database, limit)).map((canary) => canaryRecordOf(canary)),
    begin: (entry) => canaries.begin(entry),
    end: (canary, ending) => judge.end(canary, ending),
  }
}
