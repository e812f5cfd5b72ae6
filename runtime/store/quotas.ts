import { isFirst } from "./batch-ids.ts"
import type { Database, PreparedStatement, Queryable } from "./database.ts"
import { storedKey } from "./ids.ts"

/** One period of one key's quota. */
export interface QuotaPeriod {
  readonly counter: string
  readonly key: string
  readonly startMs: number
  /** Null: it never ends. */
  readonly endsMs: number | null
}

/**
 * Use of a period, summed over all processes. Reserved calls count as used; `returned` are reserved calls that were given back. So
 * `calls + returned`, `returned` and `bytes` only grow. A lower number than before shows that the database lost data (failover, restore).
 * It is then raised again to the highest number that a process has seen.
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
const read: PreparedStatement = {
  name: "quota-read",
  text: "select calls, bytes, returned from sallyport.quotas where counter = $1 and key = $2 and period_start = $3",
}
const set: PreparedStatement = {
  name: "quota-set",
  text: "update sallyport.quotas set calls = $4, bytes = $5, returned = $6 where counter = $1 and key = $2 and period_start = $3",
}
const add: PreparedStatement = {
  name: "quota-add",
  // $7 to $9: the calls, bytes and returned calls that the process has seen.
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

/** The process has seen no use of the period. */
export const nothingUsed: QuotaUsed = { calls: 0, bytes: 0, returned: 0 }

/** Current use of a period. `lost`: the database had less than `seen` and was corrected. */
export interface StoredQuotaState extends QuotaUsed {
  readonly lost: boolean
}

/** Reserves up to `wanted` calls of the remainder up to `callsMax`. Returns the number granted and the current use. */
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

/** The stored use, raised to the use that the process has seen where that is higher. */
function atLeast(stored: QuotaUsed, seen: QuotaUsed): QuotaUsed {
  const returned = Math.max(stored.returned, seen.returned)
  const counted = Math.max(stored.calls + stored.returned, seen.calls + seen.returned)
  return { calls: counted - returned, bytes: Math.max(stored.bytes, seen.bytes), returned }
}

/** The stored use of a period, with reserved calls; undefined: it has none. */
export async function readQuota(
  database: Queryable,
  { counter, key, startMs }: Pick<QuotaPeriod, "counter" | "key" | "startMs">,
): Promise<{ readonly calls: number; readonly bytes: number } | undefined> {
  const [row] = await database.query<[number, number, number]>(read, [
    counter,
    storedKey(key),
    new Date(startMs),
  ])
  return row === undefined ? undefined : { calls: row[0], bytes: row[1] }
}

/** Use of a period without a reservation; negative calls were reserved and not used. `seen`: the use known before. */
export interface QuotaUse extends QuotaPeriod {
  readonly calls: number
  readonly bytes: number
  readonly seen: QuotaUsed
}

/**
 * Adds a batch of uses, with each period at most once. A batch id (ULID) that was added before changes nothing. Returns the current use in
 * the order of `uses`.
 */
export async function addQuotaUses(
  database: Database,
  id: string,
  uses: readonly QuotaUse[],
): Promise<readonly StoredQuotaState[]> {
  // One order in all processes, so that concurrent writers of the same rows wait and do not deadlock.
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

/** Deletes periods that ended more than a week ago. */
export async function dropEndedQuotas(database: Database): Promise<void> {
  await database.query(dropEnded)
}
