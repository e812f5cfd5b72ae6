import { type CanaryCounts, canaryCounts, sumCounts } from "../canary/counts.ts"
import { canaryLimits } from "../canary/verdict.ts"
import type { CanaryReport, StoredCanary } from "../store/canaries.ts"
import type { CanaryRecord } from "./api.ts"

/** A canary as the API shows it. `counts`: of a running one; those of its end are stored with it. */
export function canaryRecordOf(stored: StoredCanary, counts?: CanaryCounts): CanaryRecord {
  const { id, base, digest, percent, seconds, startedAt, state, endedAt, serial } = stored
  return {
    ...{ id, base: base.serial, digest, percent, seconds, limits: limitsOf(stored) },
    who: stored.appliedBy,
    commit: stored.gitCommit || null,
    message: stored.message || null,
    startedAt: startedAt.toISOString(),
    state,
    endedAt: endedAt?.toISOString() ?? null,
    endedBy: stored.endedBy || null,
    reason: stored.reason || null,
    counts: counts ?? readCounts(stored.counts) ?? null,
    serial: serial ?? null,
  }
}

/** Those of another version may not be readable here: then the defaults count. */
export function limitsOf({ limits }: Pick<StoredCanary, "limits">): CanaryRecord["limits"] {
  return canaryLimits.safeParse(JSON.parse(limits)).data ?? canaryLimits.parse({})
}

/** What all processes have counted. */
export function countsOf(reports: readonly CanaryReport[]): CanaryCounts {
  return sumCounts(reports.flatMap(({ counts }) => readCounts(counts) ?? []))
}

function readCounts(json: string | undefined): CanaryCounts | undefined {
  return json === undefined ? undefined : canaryCounts.safeParse(JSON.parse(json)).data
}
