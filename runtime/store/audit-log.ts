import { hash } from "node:crypto"
import { canonicalJson } from "../plan/canonical.ts"
import type { Database, PreparedStatement, Statements, Transaction } from "./database.ts"

/** What a caller appends: any JSON. `seq` and `at` are added. */
export type AuditContent = Readonly<Record<string, unknown>>

/** A row of the log. `entry`: its canonical JSON, with `seq` and `at`. */
export interface AuditRow {
  readonly seq: number
  readonly entry: string
  readonly hash: string
}

/** A place in the chain; `seq` 0 and an empty hash: before the first row. */
export interface ChainPlace {
  readonly seq: number
  readonly hash: string
}

/** Rows in order, with the end of the chain, and the place before its first row that is kept. */
export interface AuditPage {
  readonly rows: readonly AuditRow[]
  readonly head: ChainPlace
  readonly anchor: ChainPlace
}

/** Which rows to read; times are inclusive at the beginning and exclusive at the end. */
export interface AuditRange {
  readonly after: number
  readonly from: Date | null
  readonly to: Date | null
  readonly limit: number
}

const lockHead: PreparedStatement = {
  name: "audit-lock",
  text: "select seq, hash, anchor_seq, anchor_hash, now() from sallyport.audit_head where id = 1 for update",
}
const readHead: PreparedStatement = {
  name: "audit-head",
  text: "select seq, hash, anchor_seq, anchor_hash, now() from sallyport.audit_head where id = 1",
}
const insert: PreparedStatement = {
  name: "audit-insert",
  text: "insert into sallyport.audit_log (seq, at, entry, hash) values ($1, $2, $3, $4)",
}
const moveHead: PreparedStatement = {
  name: "audit-move",
  text: "update sallyport.audit_head set seq = $1, hash = $2 where id = 1",
}
const page: PreparedStatement = {
  name: "audit-page",
  text: `select seq, entry, hash from sallyport.audit_log
    where seq > $1 and ($2::timestamptz is null or at >= $2) and ($3::timestamptz is null or at < $3) order by seq limit $4`,
}
const lastBefore: PreparedStatement = {
  name: "audit-last-before",
  text: `select seq, hash from sallyport.audit_log where at < now() - $1::float8 * interval '1 second'
    and seq < (select seq from sallyport.audit_head where id = 1) order by seq desc limit 1`,
}
const deleteUntil: PreparedStatement = {
  name: "audit-delete",
  text: "delete from sallyport.audit_log where seq <= $1 returning seq",
}
const moveAnchor: PreparedStatement = {
  name: "audit-anchor",
  text: "update sallyport.audit_head set anchor_seq = $1, anchor_hash = $2 where id = 1",
}

type HeadRow = [number, string, number, string, Date]

/** The hash of a row: SHA-256 of the hash before it, a line feed and its entry, in hex. */
export function chainHash(before: string, entry: string): string {
  return hash("sha256", `${before}\n${entry}`, "hex")
}

/** Appends a row to the chain. Callers in all processes wait for each other. Rejects with `SourceUnavailable`; then there is no row. */
export function appendAudit(database: Database, content: AuditContent): Promise<AuditRow> {
  return database.transaction(async (transaction) => {
    const end = await lockChain(transaction)
    const row = end.next(content)
    await transaction.commitWith(end.statements())
    return row
  })
}

/** The end of the chain, which this transaction alone may extend. */
export interface ChainEnd {
  /** The next row. It is written by `statements`. */
  next(content: AuditContent): AuditRow
  /** Writes the rows; empty without rows. */
  statements(): Statements
}

/** Locks the end of the chain until the transaction ends. */
export async function lockChain(transaction: Transaction): Promise<ChainEnd> {
  const { head, now } = await headOf(transaction, lockHead)
  const rows: AuditRow[] = []
  return {
    next(content) {
      const before = rows.at(-1) ?? head
      const seq = before.seq + 1
      const entry = canonicalJson({ ...content, seq, at: now.toISOString() })
      const row = { seq, entry, hash: chainHash(before.hash, entry) }
      rows.push(row)
      return row
    },
    statements() {
      const last = rows.at(-1)
      if (last === undefined) return []
      return [
        ...rows.map((row) => [insert, [row.seq, now, row.entry, row.hash]] as const),
        [moveHead, [last.seq, last.hash]],
      ]
    },
  }
}

/** Reads rows, and the ends of the chain at the same moment. */
export function readAudit(database: Database, { after, from, to, limit }: AuditRange): Promise<AuditPage> {
  return database.transaction(
    async (transaction) => {
      const { head, anchor } = await headOf(transaction, readHead)
      const rows = await transaction.query<[number, string, string]>(page, [after, from, to, limit])
      return { rows: rows.map(([seq, entry, own]) => ({ seq, entry, hash: own })), head, anchor }
    },
    { snapshot: true },
  )
}

/** Deletes rows that are older, except the last one, and remembers the place before the first that stays. Returns their number. */
export function pruneAudit(database: Database, olderThanSeconds: number): Promise<number> {
  return database.transaction(async (transaction) => {
    await headOf(transaction, lockHead)
    const [last] = await transaction.query<[number, string]>(lastBefore, [olderThanSeconds])
    if (last === undefined) return 0
    const deleted = await transaction.query(deleteUntil, [last[0]])
    await transaction.query(moveAnchor, [...last])
    return deleted.length
  })
}

async function headOf(
  transaction: Transaction,
  statement: PreparedStatement,
): Promise<{ head: ChainPlace; anchor: ChainPlace; now: Date }> {
  const [row] = await transaction.query<HeadRow>(statement)
  // Without the row nobody could append; `sallyport migrate` makes it once, and only a person can delete it.
  if (row === undefined)
    throw new Error("sallyport.audit_head is empty: the end of the audit log was deleted")
  const [seq, own, anchorSeq, anchorHash, now] = row
  return { head: { seq, hash: own }, anchor: { seq: anchorSeq, hash: anchorHash }, now }
}

/** Finds altered and removed rows of a chain, which it reads in order from its anchor. */
export class ChainVerifier {
  readonly #problems: string[] = []
  #place: ChainPlace
  #count = 0

  constructor(anchor: ChainPlace) {
    this.#place = anchor
  }

  /** Takes the next row. */
  take({ seq, entry, hash: own }: AuditRow): void {
    const before = this.#place
    this.#place = { seq, hash: own }
    this.#count += 1
    if (seqOf(entry) !== seq) this.#problems.push(`row ${seq} was altered: its entry has another number`)
    if (seq !== before.seq + 1) this.#problems.push(missing(before.seq + 1, seq - 1))
    else if (chainHash(before.hash, entry) !== own)
      this.#problems.push(
        `row ${seq} was altered, or row ${before.seq} before it: its hash does not fit its entry and the row before`,
      )
  }

  /** Problems in order, and the number of rows. `head`: the end of the chain as it was stored. */
  end(head: ChainPlace): { readonly problems: readonly string[]; readonly count: number } {
    const { seq, hash: own } = this.#place
    const atEnd =
      head.seq > seq
        ? [missing(seq + 1, head.seq)]
        : head.seq < seq
          ? [`rows ${head.seq + 1} to ${seq} were added behind the end of the chain`]
          : head.hash === own
            ? []
            : [`row ${seq} was altered: the end of the chain has another hash`]
    return { problems: [...this.#problems, ...atEnd], count: this.#count }
  }
}

function missing(first: number, last: number): string {
  if (last < first) return `row ${first} is out of order`
  return first === last ? `row ${first} was removed` : `rows ${first} to ${last} were removed`
}

function seqOf(entry: string): unknown {
  try {
    return (JSON.parse(entry) as { seq?: unknown } | null)?.seq
  } catch {
    return undefined
  }
}
