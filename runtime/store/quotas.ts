import { isFirst } from "./batch-ids.ts"
import type { Database, PreparedStatement } from "./database.ts"

/** One period of one key's quota. */
export interface QuotaPeriod {
  readonly counter: string
  readonly key: string
  readonly startMs: number
  /** Null: it never ends. */
  readonly endsMs: number | null
}

/**
 * What is used of a period, by all processes together; reserved calls count as used. `returned` are calls that were reserved and given back: with it what was ever counted, like bytes, only grows, so that counts which the
 * database has lost (a failover, a restore) are seen to be, and put back to the highest that anybody saw.
 */
export interface QuotaUsed {
  readonly calls: number
  readonly bytes: number
  readonly returned: number
}

const make: PreparedStatement = {
  name: "quota-make",
  text: `insert into sallyport.quotas (counter, key, period_start, calls, bytes, ends_at) values ($1, $2, $3, 0, 0, $4)
    on conflict (counter, key, period_start) do nothing`,
}
const lock: PreparedStatement = {
  name: "quota-lock",
  text: "select calls, bytes, returned from sallyport.quotas where counter = $1 and key = $2 and period_start = $3 for update",
}
const set: PreparedStatement = {
  name: "quota-set",
  text: "update sallyport.quotas set calls = $4, bytes = $5, returned = $6 where counter = $1 and key = $2 and period_start = $3",
}
const add: PreparedStatement = {
  name: "quota-add",
  // $7 to $9: calls, bytes and returned calls as they were seen.
  text: `with before as (select calls, bytes, returned from sallyport.quotas where counter = $1 and key = $2 and period_start = $3)
    insert into sallyport.quotas as q (counter, key, period_start, calls, bytes, ends_at, returned)
    values ($1, $2, $3, greatest(0, $7::bigint + $4::bigint), $8::bigint + $5::bigint, $6, $9::bigint + greatest(0, -$4::bigint))
    on conflict (counter, key, period_start) do update set
      calls = greatest(0, greatest(q.calls + q.returned, $7::bigint + $9::bigint) - greatest(q.returned, $9::bigint) + $4::bigint),
      bytes = greatest(q.bytes, $8::bigint) + $5::bigint, returned = greatest(q.returned, $9::bigint) + greatest(0, -$4::bigint)
    returning calls, bytes, returned, coalesce((select b.calls + b.returned < $7::bigint + $9::bigint or b.returned < $9::bigint or b.bytes < $8::bigint
      from before b), $7::bigint + $8::bigint + $9::bigint > 0)`,
}
const dropEnded: PreparedStatement = {
  name: "quota-drop-ended",
  text: "delete from sallyport.quotas where ends_at < now() - interval '7 days'",
}

/** Nothing was seen of a period. */
export const nothingUsed: QuotaUsed = { calls: 0, bytes: 0, returned: 0 }

/** What is used of a period now. `lost`: the database had less than what was `seen`, and has that again. */
export interface StoredQuotaState extends QuotaUsed {
  readonly lost: boolean
}

/** Reserves up to `wanted` calls of what `callsMax` leaves. Answers how many were granted, and what is used now. */
export async function reserveQuota(
  database: Database,
  { counter, key, startMs, endsMs }: QuotaPeriod,
  wanted: number,
  callsMax: number | undefined,
  seen: QuotaUsed,
): Promise<StoredQuotaState & { readonly granted: number }> {
  const id = [counter, key, new Date(startMs)]
  return database.transaction(async (transaction) => {
    await transaction.query(make, [...id, endsMs === null ? null : new Date(endsMs)])
    const [row] = await transaction.query<[number, number, number]>(lock, id)
    const [calls, bytes, returned] = row ?? [0, 0, 0]
    const now = atLeast({ calls, bytes, returned }, seen)
    const granted = callsMax === undefined ? 0 : Math.max(0, Math.min(wanted, callsMax - now.calls))
    const lost = now.calls !== calls || now.bytes !== bytes || now.returned !== returned
    if (granted > 0 || lost)
      await transaction.query(set, [...id, now.calls + granted, now.bytes, now.returned])
    return { ...now, calls: now.calls + granted, granted, lost }
  })
}

/** As the database has it, or more where more was seen. */
function atLeast(stored: QuotaUsed, seen: QuotaUsed): QuotaUsed {
  const returned = Math.max(stored.returned, seen.returned)
  const counted = Math.max(stored.calls + stored.returned, seen.calls + seen.returned)
  return { calls: counted - returned, bytes: Math.max(stored.bytes, seen.bytes), returned }
}

/** What was used of a period without having been reserved; negative calls were reserved and not used. `seen`: what was known to be used of it before. */
export interface QuotaUse extends QuotaPeriod {
  readonly calls: number
  readonly bytes: number
  readonly seen: QuotaUsed
}

/** Adds a batch of what was used, each period once in it; one that was added before changes nothing. Ids are ULIDs. Answers what is used now, in the order of `uses`. */
export async function addQuotaUses(
  database: Database,
  id: string,
  uses: readonly QuotaUse[],
): Promise<readonly StoredQuotaState[]> {
  // In one order everywhere: whoever adds to the same rows at the same time waits, and does not block the other.
  const ordered = uses
    .map((use, at) => ({ use, at, order: `${use.counter}\u0000${use.key}\u0000${use.startMs}` }))
    .sort((a, b) => (a.order < b.order ? -1 : 1))
  const used: StoredQuotaState[] = []
  await database.transaction(async (transaction) => {
    const first = await isFirst(transaction, id)
    for (const { use, at } of ordered) {
      const added = [first ? use.calls : 0, first ? use.bytes : 0]
      const row = [use.counter, use.key, new Date(use.startMs), ...added]
      const ends = use.endsMs === null ? null : new Date(use.endsMs)
      const { seen } = use
      const parameters = [...row, ends, seen.calls, seen.bytes, seen.returned]
      const [now] = await transaction.query<[number, number, number, boolean]>(add, parameters)
      const [calls, bytes, returned, lost] = now ?? [0, 0, 0, false]
      used[at] = { calls, bytes, returned, lost }
    }
  })
  return used
}

/** Forgets periods that ended more than a week ago. */
export async function dropEndedQuotas(database: Database): Promise<void> {
  await database.query(dropEnded)
}
