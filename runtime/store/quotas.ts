import { isFirst } from "./batch-ids.ts"
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
const add: Statement = {
  name: "quota-add",
  text: `insert into sallyport.quotas as q (counter, key, period_start, calls, bytes, ends_at) values ($1, $2, $3, greatest(0, $4::bigint), $5, $6)
    on conflict (counter, key, period_start) do update set calls = greatest(0, q.calls + $4::bigint), bytes = q.bytes + excluded.bytes
    returning calls, bytes`,
}
const dropEnded: Statement = {
  name: "quota-drop-ended",
  text: "delete from sallyport.quotas where ends_at < now() - interval '7 days'",
}

/** Reserves up to `wanted` calls of what `callsMax` leaves. Answers how many were granted, and what is used now. */
export async function reserveQuota(
  database: Database,
  { counter, key, startMs, endsMs }: QuotaPeriod,
  wanted: number,
  callsMax: number | undefined,
): Promise<QuotaUsed & { readonly granted: number }> {
  const id = [counter, key, new Date(startMs)]
  return database.transaction(async (transaction) => {
    await transaction.query(make, [...id, endsMs === null ? null : new Date(endsMs)])
    const [row] = await transaction.query<[number, number]>(lock, id)
    const [calls, bytes] = row ?? [0, 0]
    const granted = callsMax === undefined ? 0 : Math.max(0, Math.min(wanted, callsMax - calls))
    if (granted > 0) await transaction.query(set, [...id, calls + granted, bytes])
    return { calls: calls + granted, bytes, granted }
  })
}

/** What was used of a period without having been reserved; negative calls were reserved and not used. */
export type QuotaUse = QuotaPeriod & QuotaUsed

/** Adds a batch of what was used, each period once in it; one that was added before changes nothing. Ids are ULIDs. Answers what is used now, in the order of `uses`. */
export async function addQuotaUses(
  database: Database,
  id: string,
  uses: readonly QuotaUse[],
): Promise<readonly QuotaUsed[]> {
  // In one order everywhere: whoever adds to the same rows at the same time waits, and does not block the other.
  const ordered = uses
    .map((use, at) => ({ use, at, order: `${use.counter}\u0000${use.key}\u0000${use.startMs}` }))
    .sort((a, b) => (a.order < b.order ? -1 : 1))
  const used: QuotaUsed[] = []
  await database.transaction(async (transaction) => {
    const first = await isFirst(transaction, id)
    for (const { use, at } of ordered) {
      const added = [first ? use.calls : 0, first ? use.bytes : 0]
      const row = [use.counter, use.key, new Date(use.startMs), ...added]
      const ends = use.endsMs === null ? null : new Date(use.endsMs)
      const [now] = await transaction.query<[number, number]>(add, [...row, ends])
      used[at] = { calls: now?.[0] ?? 0, bytes: now?.[1] ?? 0 }
    }
  })
  return used
}

/** Forgets periods that ended more than a week ago. */
export async function dropEndedQuotas(database: Database): Promise<void> {
  await database.query(dropEnded)
}
