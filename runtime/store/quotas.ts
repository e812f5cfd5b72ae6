import type { Database, Statement } from "./database.ts"

/** One period of one key's quota. */
export interface QuotaPeriod {
  readonly counter: string
  readonly key: string
  readonly startMs: number
  /** Null: it never ends. */
  readonly endsMs: number | null
}

/** What is used of a period, by all processes together; reserved calls count as used. */
export interface QuotaUsed {
  readonly calls: number
  readonly bytes: number
}

const make: Statement = {
  name: "quota-make",
  text: `insert into sallyport.quotas (counter, key, period_start, calls, bytes, ends_at) values ($1, $2, $3, 0, 0, $4)
    on conflict (counter, key, period_start) do nothing`,
}
const lock: Statement = {
  name: "quota-lock",
  text: "select calls, bytes from sallyport.quotas where counter = $1 and key = $2 and period_start = $3 for update",
}
const set: Statement = {
  name: "quota-set",
  text: "update sallyport.quotas set calls = $4, bytes = $5 where counter = $1 and key = $2 and period_start = $3",
}
const dropEnded: Statement = {
  name: "quota-drop-ended",
  text: "delete from sallyport.quotas where ends_at < now() - interval '7 days'",
}

/**
 * Adds what was used and was not reserved (`spent`; calls may be negative: reserved and not used), then reserves up to `wanted` calls of what `callsMax` leaves, in one
 * transaction. Answers how many were granted, and what is used now.
 */
export async function reserveQuota(
  database: Database,
  { counter, key, startMs, endsMs }: QuotaPeriod,
  spent: QuotaUsed,
  wanted: number,
  callsMax: number | undefined,
): Promise<QuotaUsed & { readonly granted: number }> {
  const id = [counter, key, new Date(startMs)]
  return database.transaction(async (transaction) => {
    await transaction.query(make, [...id, endsMs === null ? null : new Date(endsMs)])
    const [row] = await transaction.query<[number, number]>(lock, id)
    const calls = Math.max(0, (row?.[0] ?? 0) + spent.calls)
    const bytes = (row?.[1] ?? 0) + spent.bytes
    const granted = callsMax === undefined ? 0 : Math.max(0, Math.min(wanted, callsMax - calls))
    await transaction.query(set, [...id, calls + granted, bytes])
    return { calls: calls + granted, bytes, granted }
  })
}

/** Forgets periods that ended more than a week ago. */
export async function dropEndedQuotas(database: Database): Promise<void> {
  await database.query(dropEnded)
}
