import type { CanaryCounts } from "../canary/counts.ts"
import { percentText, verdictOf } from "../canary/verdict.ts"
import { readPlan } from "../plan/read.ts"
import {
  type CanaryEnding,
  type CanaryReport,
  endCanary,
  holdCanary,
  listCanaryReports,
  newestCanary,
  planOfCanary,
  type StoredCanary,
} from "../store/canaries.ts"
import type { Database } from "../store/database.ts"
import { insertPlan, planHistory } from "../store/plans.ts"
import type { Log } from "../telemetry/log.ts"
import type { PlanRecord } from "./api.ts"
import type { AuditPorts } from "./audit.ts"
import { canaryRecordOf, countsOf, limitsOf } from "./canary-records.ts"
import type { ChangeEvent } from "./ports.ts"
import { isSamePlan, unreadable } from "./refused-plan.ts"

/** What a process needs to decide about canaries. */
export interface CanaryJudgeSettings {
  readonly database: Database
  readonly log: Log
  /** This process, as the holder of the judgement and in the audit log. */
  readonly process: { readonly id: string; readonly name: string }
  readonly audit: Pick<AuditPorts, "append">
  readonly notify: (event: ChangeEvent) => void
  /** Called after a canary has ended or become the newest plan, so that this process follows at once. */
  readonly onEnded: () => void
  /** The record of a plan that was applied. */
  readonly recordOf: (serial: number) => Promise<PlanRecord | undefined>
  /** The wall clock in milliseconds (default: that of the machine). */
  readonly now?: () => number
}

const superseded: CanaryEnding = {
  ...{ state: "superseded", by: "" },
  reason: "the plan that it was compared with is no longer the newest",
}

/** Decides about the canary of the fleet: one process at a time, from what all processes have counted. */
export class CanaryJudge {
  readonly #settings: CanaryJudgeSettings
  /** Why the plan of a canary cannot become that of all callers, found when it was tried. */
  #obstacle: { readonly canary: string; readonly reason: string } | undefined

  constructor(settings: CanaryJudgeSettings) {
    this.#settings = settings
  }

  /** Ends a canary that is worse than allowed, and one whose time is over. Rejects when the database does not answer; the next round repeats it. */
  async look(canary: StoredCanary | undefined): Promise<void> {
    if (canary?.state !== "running") return
    const { database, process } = this.#settings
    if (!(await holdCanary(database, canary.id, process.id))) return
    const reports = await listCanaryReports(database, canary.id)
    const [newest] = await planHistory(database, 1)
    // Another release applied a plan, or the database was set back.
    const ending = isSamePlan(newest, canary.base) ? this.#endingOf(canary, reports) : superseded
    if (ending === undefined) return
    const { state, reason } = ending
    // As with every change: no row of the audit log, no change.
    await this.#settings.audit.append({
      ...{ action: "plan.canary", event: "decided", who: { kind: "process", name: process.name } },
      details: { canary: canary.id, digest: canary.digest, state, reason },
    })
    await this.end(canary, ending)
    // With every round it would be decided, and written to the audit log, again.
    if (this.#obstacle?.canary === canary.id && state === "promoted") await this.look(canary)
  }

  /** Ends a running canary. `promoted`: its plan becomes that of all callers. Returns how it is now; undefined: it was over, or is no longer over the newest plan. */
  async end(canary: StoredCanary, ending: CanaryEnding): Promise<StoredCanary | undefined> {
    const { database, log, notify, onEnded, recordOf } = this.#settings
    const ended =
      ending.state === "promoted"
        ? await this.#promote(canary, ending)
        : await endCanary(database, canary.id, ending)
    if (!ended) return undefined
    log.info({ canary: canary.id, state: ending.state, reason: ending.reason }, "the canary has ended")
    const now = await newestCanary(database)
    if (now?.id !== canary.id) return undefined
    notify({ type: "canary.ended", data: canaryRecordOf(now) })
    const record = now.serial === undefined ? undefined : await recordOf(now.serial)
    if (record !== undefined) notify({ type: "plan.applied", data: record })
    onEnded()
    return now
  }

  /** What the counts say now, for people. */
  verdictText(canary: StoredCanary, reports: readonly CanaryReport[]): string {
    const verdict = verdictOf(countsOf(reports), limitsOf(canary))
    return verdict.kind === "as-good" ? "the new plan is as good as allowed" : verdict.reason
  }

  #endingOf(canary: StoredCanary, reports: readonly CanaryReport[]): CanaryEnding | undefined {
    const { now = Date.now } = this.#settings
    const counts = countsOf(reports)
    const returned = (reason: string): CanaryEnding => ({
      ...{ state: "returned", by: "", reason },
      counts: JSON.stringify(counts),
    })
    const broken = reports.find(({ error }) => error !== "")
    if (broken !== undefined) return returned(`${broken.name} cannot serve the plan: ${broken.error}`)
    const verdict = verdictOf(counts, limitsOf(canary))
    if (verdict.kind === "worse") return returned(verdict.reason)
    if (now() < canary.startedAt.getTime() + canary.seconds * 1_000) return undefined
    if (this.#obstacle?.canary === canary.id)
      return returned(`the plan cannot be promoted: ${this.#obstacle.reason}`)
    if (verdict.kind === "too-few") return returned(`the time is over, and ${verdict.reason}`)
    return { state: "promoted", by: "", reason: promotedText(counts), counts: JSON.stringify(counts) }
  }

  /** The plan gets the author and the consents with which the canary began. */
  async #promote(canary: StoredCanary, ending: CanaryEnding): Promise<boolean> {
    const { database } = this.#settings
    const { id, base, appliedBy, gitCommit, message, provenance } = canary
    const read = readPlan(await planOfCanary(database, id))
    if ("problems" in read) return this.#cannot(id, unreadable(read.problems))
    const inserted = await insertPlan(database, {
      ...{ plan: read.plan, base, appliedBy, gitCommit, message, provenance },
      canary: { id, ending },
    })
    return inserted.kind === "refused" ? this.#cannot(id, inserted.message) : inserted.kind === "inserted"
  }

  #cannot(canary: string, reason: string): false {
    this.#obstacle = { canary, reason }
    this.#settings.log.error({ canary, reason }, "the plan of the canary cannot be promoted")
    return false
  }
}

function promotedText({ old, new: fresh }: CanaryCounts): string {
  const [before, after] = [old, fresh].map(
    ({ requests, failed, denied }) =>
      `${requests} requests, ${percentText(failed, requests)} errors, ${percentText(denied, requests)} denials`,
  )
  return `new plan: ${after}; old plan: ${before}`
}
