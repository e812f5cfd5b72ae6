import { type AuditContent, type AuditRow, type ChainEnd, lockChain } from "./audit-log.ts"
import { newestCanary } from "./canaries.ts"
import {
  type Database,
  isSqlError,
  type PreparedStatement,
  type Transaction,
  uniqueViolation,
} from "./database.ts"
import { MoveRefused } from "./declared-moves.ts"
import { noticesOf } from "./notices.ts"
import { insertPlanIn, type PlanIdentity, type PlanInsert, planHistory, StalePlan } from "./plans.ts"

/** A rollback of a journal: the plan that shall follow `base`, or why there is none. */
export interface JournalRollback {
  readonly base: PlanIdentity
  readonly digest: string
  readonly insert: Omit<PlanInsert, "base" | "canary"> | string
}

/** What became of a rollback. `same`: the newest plan has its content already. */
export type RollbackOutcome =
  | { readonly kind: "taken"; readonly identity: PlanIdentity }
  | { readonly kind: "same"; readonly serial: number }
  | { readonly kind: "refused"; readonly reason: string }

/** Rows that a process wrote on disk while the database was unavailable. */
export interface JournalToTake {
  readonly id: string
  /** In order; `seq` counts from 1 in the journal. */
  readonly rows: readonly { readonly seq: number; readonly content: AuditContent }[]
  /** The last rollback of the rows from this one on. */
  readonly rollback?: (JournalRollback & { readonly seq: number }) | undefined
  /** The row of the audit log about what became of it. */
  readonly outcomeRow: (outcome: RollbackOutcome) => AuditContent
}

/** `rows`: what the audit log got now. `outcome`: undefined without a rollback among the new rows. */
export interface JournalTaken {
  readonly rows: readonly AuditRow[]
  readonly outcome: RollbackOutcome | undefined
}

const rowsOf: PreparedStatement = {
  name: "audit-journal",
  text: "select rows from sallyport.audit_journals where id = $1",
}
const remember: PreparedStatement = {
  name: "audit-journal-taken",
  text: `insert into sallyport.audit_journals (id, rows) values ($1, $2)
    on conflict (id) do update set rows = excluded.rows, at = now()`,
}

/**
 * Takes a journal into the audit log, and its rollback into the history of plans, in one transaction. Rows that were taken before are left out. The
 * rollback becomes the newest plan only if its base still is the newest one and no canary runs. Rejects with `SourceUnavailable`; then nothing
 * may be assumed, and a repetition is safe.
 */
export async function takeJournal(database: Database, journal: JournalToTake): Promise<JournalTaken> {
  const { rollback } = journal
  const take = (tried: JournalToTake) => database.transaction((transaction) => takeIn(transaction, tried))
  const taken = await take(journal).catch((error: unknown) => {
    // Another plan was inserted at this moment: it is seen now.
    if (error instanceof StalePlan || isSqlError(error, uniqueViolation)) return take(journal)
    if (!(error instanceof MoveRefused) || rollback === undefined) throw error
    const insert = `store ${error.store}: ${error.message}`
    return take({ ...journal, rollback: { ...rollback, insert } })
  })
  if (taken.outcome?.kind === "taken") noticesOf(database).announce("plans")
  return taken
}

async function takeIn(transaction: Transaction, journal: JournalToTake): Promise<JournalTaken> {
  const { id, rows, rollback, outcomeRow } = journal
  const chain = await lockChain(transaction)
  const [known] = await transaction.query<[number]>(rowsOf, [id])
  const fresh = rows.filter(({ seq }) => seq > (known?.[0] ?? 0))
  if (fresh.length === 0) return { rows: [], outcome: undefined }
  const added = appended(chain, id, fresh)
  const isNew = rollback !== undefined && fresh.some(({ seq }) => seq >= rollback.seq)
  const outcome = isNew ? await outcomeOf(transaction, rollback) : undefined
  if (outcome !== undefined) added.push(chain.next(outcomeRow(outcome)))
  await transaction.commitWith([...chain.statements(), [remember, [id, fresh.at(-1)?.seq ?? 0]]])
  return { rows: added, outcome }
}

/** A row that refers to a row of the journal (`of`) gets the number of that row in the audit log. */
function appended(chain: ChainEnd, id: string, rows: JournalToTake["rows"]): AuditRow[] {
  const numbers = new Map<unknown, number>()
  return rows.map(({ seq, content }) => {
    const of = content["of"] as { journal?: unknown; seq?: unknown } | undefined
    const number = of?.journal === id ? numbers.get(of.seq) : undefined
    const row = chain.next(number === undefined ? content : { ...content, of: number })
    numbers.set(seq, row.seq)
    return row
  })
}

async function outcomeOf(
  transaction: Transaction,
  { base, digest, insert }: JournalRollback,
): Promise<RollbackOutcome> {
  const [newest] = await planHistory(transaction, 1)
  if (newest?.digest === digest) return { kind: "same", serial: newest.serial }
  if (newest?.serial !== base.serial || newest.stamp !== base.stamp) {
    const now = newest === undefined ? "the database has no plan" : `plan ${newest.serial} is the newest one`
    return { kind: "refused", reason: `it replaced plan ${base.serial}, and ${now}` }
  }
  if (typeof insert === "string") return { kind: "refused", reason: insert }
  const canary = await newestCanary(transaction)
  if (canary?.state === "running")
    return {
      kind: "refused",
      reason: `a canary of ${canary.appliedBy} runs over serial ${canary.base.serial}`,
    }
  return { kind: "taken", identity: await insertPlanIn(transaction, { ...insert, base }) }
}
