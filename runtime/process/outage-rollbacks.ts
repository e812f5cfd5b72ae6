import { join } from "node:path"
import * as z from "zod"
import { type PlanRecord, planRecord } from "../control/api.ts"
import type { JournalPlace } from "../control/audit.ts"
import type { OutageJournal } from "../control/plan-keeper.ts"
import type { OutageRollback } from "../control/ports.ts"
import type { Plan } from "../plan/plan.ts"
import { addressText } from "../plan/resources.ts"
import { type JournalRollback, type RollbackOutcome, takeJournal } from "../store/audit-journals.ts"
import type { AuditContent, AuditRow } from "../store/audit-log.ts"
import type { Database } from "../store/database.ts"
import type { PlanIdentity } from "../store/plans.ts"
import type { Log } from "../telemetry/log.ts"
import { type KeptPlanFile, keptPlanOf } from "./kept-plan.ts"
import type { KeptPlans } from "./kept-plans.ts"
import { digestOf } from "./own-file.ts"
import { type Journal, RollbackJournal } from "./rollback-journal.ts"
import type { RuntimeSettings } from "./settings.ts"

const place = z.strictObject({ serial: z.number().int(), stamp: z.string(), digest: z.string() })

/** The row of a journal that is on disk before this process serves another plan. */
const rollbackRow = z.looseObject({
  event: z.literal("rolled-back"),
  at: z.string(),
  details: z.strictObject({
    base: place,
    from: place,
    to: place,
    who: z.string(),
    commit: z.string().nullable(),
    message: z.string().nullable(),
  }),
})

/** A rollback of a journal, with the row in which it is. */
interface FoundRollback extends OutageRollback {
  readonly seq: number
  readonly commit: string | null
}

/** What the audit log and the history of plans got of a journal. */
export interface OutageTaken {
  readonly rows: readonly AuditRow[]
  /** The plan that is now the newest one; undefined: none. */
  readonly record: PlanRecord | undefined
}

/**
 * Rollbacks of this process while the database is unavailable: their journal on disk, and how they come into the audit log and into the history of plans when
 * the database answers.
 */
export class OutageRollbacks implements OutageJournal {
  readonly #database: Database
  readonly #log: Log
  readonly #journal: RollbackJournal
  readonly plans: KeptPlans
  #trouble: string | undefined
  /** Called with the rows that the audit log got. */
  onTaken: (taken: OutageTaken) => void = () => undefined

  /**
   * `name` tells processes apart that share the folder; it stays the same after a restart. `key`: a secret that authenticates the journal, also the same
   * after a restart.
   */
  constructor(parts: {
    readonly database: Database
    readonly log: Log
    readonly plans: KeptPlans
    readonly name: string
    readonly key: string
  }) {
    const { database, log, plans, name, key } = parts
    this.#database = database
    this.#log = log
    this.plans = plans
    this.#journal = new RollbackJournal(join(plans.folder, `${digestOf(name).slice(0, 16)}.journal`), key)
  }

  append(content: AuditContent): Promise<JournalPlace> {
    return this.#journal.append(content)
  }

  async settle(): Promise<void> {
    const trouble = await this.#journal.settle((journal) => this.#take(journal))
    if (trouble !== undefined && trouble !== this.#trouble)
      this.#log.error({ reason: trouble }, "the journal of changes without the database cannot be removed")
    this.#trouble = trouble
  }

  async pending(base: PlanIdentity): Promise<{ plan: Plan; rollback: OutageRollback } | string | undefined> {
    const journal = await this.#journal.read()
    if (journal?.damage !== undefined) return journal.damage
    const rollback = journal && lastRollback(journal)
    if (rollback === undefined || rollback.base.serial !== base.serial || rollback.base.stamp !== base.stamp)
      return undefined
    const { to } = rollback
    const found = await this.plans.find(to.serial, to.stamp)
    if (typeof found === "string") return found
    if (found === undefined) return `plan ${to.serial}, which was rolled back to, is not on disk any more`
    return { plan: found.plan, rollback }
  }

  async #take(journal: Journal): Promise<void> {
    const { id, damage } = journal
    const rows: { seq: number; content: AuditContent }[] = journal.rows.map(({ seq, at, content }) => ({
      seq,
      content: { ...withoutOwn(content), journal: { id, seq, at } },
    }))
    // What an altered journal says is kept as far as its chain is whole, and decides nothing.
    if (damage !== undefined) {
      const seq = rows.length + 1
      rows.push({
        seq,
        content: { action: "plan.rollback", event: "altered", reason: damage, journal: { id, seq } },
      })
      this.#log.error(
        { reason: damage },
        "a journal of changes without the database was altered; nothing of it is applied",
      )
    }
    const last = damage === undefined ? lastRollback(journal) : undefined
    const rollback = last && { seq: last.seq, ...(await this.#insertOf(last)) }
    const about = { action: "plan.rollback", journal: { id } }
    const taken = await takeJournal(this.#database, {
      ...{ id, rows, rollback },
      outcomeRow: (outcome) => ({ ...about, ...eventOf(outcome), to: last?.to, base: last?.base }),
    })
    this.onTaken({ rows: taken.rows, record: last && recordOf(last, taken.outcome) })
    if (last !== undefined && taken.outcome !== undefined) this.#tell(last, taken.outcome)
  }

  async #insertOf({ base, to, who, commit, message }: FoundRollback): Promise<JournalRollback> {
    const found = await this.plans.find(to.serial, to.stamp)
    const { digest } = to
    if (typeof found === "string") return { base, digest, insert: found }
    if (found?.plan.digest !== digest)
      return { base, digest, insert: `plan ${to.serial} is not on disk any more` }
    const { seal, signature } = found.record.provenance ?? {}
    const provenance = seal === undefined ? undefined : JSON.stringify({ seal, signature })
    const texts = { gitCommit: commit ?? undefined, message: message ?? undefined }
    return { base, digest, insert: { plan: found.plan, appliedBy: who, ...texts, provenance } }
  }

  #tell({ base, to, who }: FoundRollback, outcome: RollbackOutcome): void {
    const fields = { base: base.serial, to: to.serial, who }
    if (outcome.kind === "refused")
      this.#log.warn(
        { ...fields, reason: outcome.reason },
        "a rollback without the database ends: the newest plan of the database is served",
      )
    else {
      const serial = outcome.kind === "same" ? outcome.serial : outcome.identity.serial
      this.#log.info({ ...fields, serial }, "a rollback without the database is in the history")
    }
  }
}

function withoutOwn({ journal: _, seq: __, at: ___, ...content }: AuditContent): AuditContent {
  return content
}

/** The last one decides: an earlier one was replaced by it. */
function lastRollback({ rows }: Journal): FoundRollback | undefined {
  for (const { seq, content } of rows.toReversed()) {
    const { data } = rollbackRow.safeParse(content)
    if (data !== undefined) return { seq, at: data.at, ...data.details }
  }
  return undefined
}

function eventOf(outcome: RollbackOutcome): AuditContent {
  if (outcome.kind === "refused") return { event: "not-taken", reason: outcome.reason }
  const serial = outcome.kind === "same" ? outcome.serial : outcome.identity.serial
  return { event: "taken", serial }
}

function recordOf(
  { to, who, commit, message }: FoundRollback,
  outcome: RollbackOutcome | undefined,
): PlanRecord | undefined {
  if (outcome?.kind !== "taken") return undefined
  const { serial, stamp } = outcome.identity
  const at = new Date().toISOString()
  return planRecord.parse({ serial, stamp, digest: to.digest, at, who, commit, message })
}

/** The plans on disk. `outage`: undefined in a process that has no operators, or keeps no plans. */
export function planDiskOf(
  settings: RuntimeSettings,
  database: Database,
): { readonly disk: KeptPlanFile | undefined; readonly outage: OutageRollbacks | undefined } {
  const { roles, control, log, plan } = settings
  const disk = keptPlanOf(settings)
  if (disk === undefined || control === undefined || plan !== undefined || !roles.includes("control"))
    return { disk, outage: undefined }
  // Processes of one machine have different addresses.
  const name = addressText(control.listen)
  const { token: key = "" } = control
  return { disk, outage: new OutageRollbacks({ database, log, plans: disk.plans, name, key }) }
}
