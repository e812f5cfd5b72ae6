import { isFirst } from "./batch-ids.ts"
import type { Database, PreparedStatement, Queryable } from "./database.ts"
import { storedKey } from "./ids.ts"

/** Prefix of a user in the subscription column. No subscription name begins with it, so both kinds share one table. */
export const userMark = "@"
/** Represents the users of an hour that have no rows of their own. */
export const unnamedUsers = "(others)"

/**
 * Counts of similar calls in one hour. `subscription` is its name, or `userMark` and the user, or empty when neither is known. `status` is
 * the class of the status, 0–5; `latency` counts by the buckets of runtime/usage.
 */
export interface UsageRow {
  /** Beginning of the hour, in milliseconds. */
  readonly bucketMs: number
  readonly subscription: string
  readonly product: string
  readonly api: string
  readonly version: string
  readonly operation: string
  readonly status: number
  readonly price: string
  readonly calls: number
  readonly billed: number
  readonly bytesIn: number
  readonly bytesOut: number
  readonly latency: readonly number[]
}

/** The fields by which usage can be grouped. */
export const usageFields = [
  "subscription",
  "user",
  "product",
  "api",
  "operation",
  "version",
  "status",
  "day",
] as const
/** One of `usageFields`. */
export type UsageField = (typeof usageFields)[number]

/** A query of usage. `since` is rounded down to its hour; `until` is exclusive. */
export interface UsageQuery {
  readonly by: readonly UsageField[]
  readonly since: Date | null
  readonly until: Date | null
  readonly subscription?: string | undefined
  readonly user?: string | undefined
  readonly product?: string | undefined
  readonly api?: string | undefined
  /** Maximum number of groups to read. */
  readonly groupsMax: number
}

/** The sums of one group. `billed` is by price; `latency` as in `UsageRow`. */
export interface UsageGroup {
  /** Values in the order of `by`. */
  readonly key: readonly string[]
  readonly calls: number
  readonly bytesIn: number
  readonly bytesOut: number
  readonly billed: ReadonlyMap<string, number>
  readonly latency: readonly number[]
}

/** Days until hourly rows become daily rows, until daily rows are deleted, and until batch ids are deleted. */
export const usageRetention = { hourDays: 35, dayDays: 800, batchDays: 90 } as const

const rowsAtOnce = 500

const addLatency = (a: string, b: string) =>
  `(select array_agg(coalesce(x, 0) + coalesce(y, 0) order by i) from unnest(${a}, ${b}) with ordinality as t(x, y, i))`
const onConflict = `on conflict (grain, bucket, subscription, product, api, version, operation, status, price) do update set
    calls = u.calls + excluded.calls, billed = u.billed + excluded.billed, bytes_in = u.bytes_in + excluded.bytes_in,
    bytes_out = u.bytes_out + excluded.bytes_out, latency = ${addLatency("u.latency", "excluded.latency")}`
const add: PreparedStatement = {
  name: "usage-add",
  text: `insert into sallyport.usage as u
    (grain, bucket, subscription, product, api, version, operation, status, price, calls, billed, bytes_in, bytes_out, latency)
    select 'hour', r.bucket, r.subscription, r.product, r.api, r.version, r.operation, r.status, r.price, r.calls, r.billed, r.bytes_in,
      r.bytes_out, r.latency::bigint[]
    from unnest($1::timestamptz[], $2::text[], $3::text[], $4::text[], $5::text[], $6::text[], $7::smallint[], $8::text[], $9::bigint[],
      $10::bigint[], $11::bigint[], $12::bigint[], $13::text[])
      as r(bucket, subscription, product, api, version, operation, status, price, calls, billed, bytes_in, bytes_out, latency)
    ${onConflict}`,
}

/** Adds a batch to the sums. False: the batch (its id is a ULID) was added before, and nothing changed. */
export async function addUsage(database: Database, id: string, rows: readonly UsageRow[]): Promise<boolean> {
  // One order in all processes, so that concurrent writers of the same rows wait and do not deadlock.
  const ordered = [...rows].sort((a, b) => (orderOf(a) < orderOf(b) ? -1 : 1))
  return database.transaction(async (transaction) => {
    if (!(await isFirst(transaction, id))) return false
    for (let at = 0; at < ordered.length; at += rowsAtOnce)
      await transaction.query(add, columnsOf(ordered.slice(at, at + rowsAtOnce)))
    return true
  })
}

/** The sums by group, groups with the most calls first. */
export async function readUsage(database: Queryable, query: UsageQuery): Promise<readonly UsageGroup[]> {
  const keys = query.by.map((field) => expressions[field])
  const parameters = [
    query.since,
    query.until,
    query.subscription ?? null,
    query.product ?? null,
    query.api ?? null,
    query.user === undefined ? null : `${userMark}${storedKey(query.user)}`,
  ]
  const listed = [...keys, "price"].join(", ")
  const sums = await database.query(
    {
      name: "",
      text: `select ${listed}, sum(calls)::bigint, sum(billed)::bigint, sum(bytes_in)::bigint, sum(bytes_out)::bigint
        from sallyport.usage ${where} group by ${listed} order by ${listed} limit $7`,
    },
    [...parameters, query.groupsMax],
  )
  const grouped = [...keys, "i"].join(", ")
  const latencies = await database.query(
    {
      name: "",
      text: `select ${grouped}, sum(n)::bigint from sallyport.usage, unnest(latency) with ordinality as l(n, i)
        ${where} and n > 0 group by ${grouped}`,
    },
    parameters,
  )
  return groupsOf(query.by.length, sums, latencies)
}

const hour = "date_trunc('hour', $1::timestamptz)"
const where = `where ($1::timestamptz is null or bucket >= ${hour}) and ($2::timestamptz is null or bucket < $2)
  and ($3::text is null or subscription = $3) and ($4::text is null or product = $4) and ($5::text is null or api = $5)
  and ($6::text is null or subscription = $6)`

/** Status is grouped by its class, days are in UTC. */
const expressions: { readonly [Field in UsageField]: string } = {
  subscription: `case when subscription like '${userMark}%' then '' else subscription end`,
  user: `case when subscription like '${userMark}%' then substr(subscription, ${userMark.length + 1}) else '' end`,
  product: "product",
  api: "api",
  operation: "operation",
  version: "version",
  status: "status",
  day: "to_char(bucket at time zone 'UTC', 'YYYY-MM-DD')",
}

function groupsOf(
  width: number,
  sums: readonly (readonly unknown[])[],
  latencies: readonly (readonly unknown[])[],
): UsageGroup[] {
  interface Open {
    key: string[]
    calls: number
    bytesIn: number
    bytesOut: number
    billed: Map<string, number>
    latency: number[]
  }
  const groups = new Map<string, Open>()
  for (const row of sums) {
    const key = row.slice(0, width).map(String)
    const [price, calls, billed, bytesIn, bytesOut] = row.slice(width) as [
      string,
      number,
      number,
      number,
      number,
    ]
    const id = JSON.stringify(key)
    const group = groups.get(id) ?? { key, calls: 0, bytesIn: 0, bytesOut: 0, billed: new Map(), latency: [] }
    groups.set(id, group)
    group.calls += calls
    group.bytesIn += bytesIn
    group.bytesOut += bytesOut
    group.billed.set(price, billed)
  }
  for (const row of latencies) {
    const [place, count] = row.slice(width) as [number, number]
    const group = groups.get(JSON.stringify(row.slice(0, width).map(String)))
    if (group !== undefined) group.latency[place - 1] = count
  }
  return [...groups.values()]
    .map((group) => ({ ...group, latency: Array.from(group.latency, (count) => count ?? 0) }))
    .sort((a, b) => b.calls - a.calls)
}

const lockRollUp: PreparedStatement = {
  name: "usage-roll-lock",
  text: "select id from sallyport.usage_batches where id = 'roll-up' for update",
}
const old =
  "grain = 'hour' and bucket < date_trunc('day', now() at time zone 'UTC') at time zone 'UTC' - $1::integer * interval '1 day'"
const keyColumns = "subscription, product, api, version, operation, status, price"
const day = "date_trunc('day', bucket at time zone 'UTC') at time zone 'UTC'"
const rollUp: PreparedStatement = {
  name: "usage-roll-up",
  text: `insert into sallyport.usage as u
    (grain, bucket, ${keyColumns}, calls, billed, bytes_in, bytes_out, latency)
    select 'day', s.day, ${keyColumns}, s.calls, s.billed, s.bytes_in, s.bytes_out, l.latency
    from (select ${day} as day, ${keyColumns}, sum(calls)::bigint as calls, sum(billed)::bigint as billed, sum(bytes_in)::bigint as bytes_in,
        sum(bytes_out)::bigint as bytes_out from sallyport.usage where ${old} group by 1, ${keyColumns}) s
    join (select day, ${keyColumns}, array_agg(n order by i) as latency from
        (select ${day} as day, ${keyColumns}, i, sum(n)::bigint as n from sallyport.usage, unnest(latency) with ordinality as t(n, i)
          where ${old} group by 1, ${keyColumns}, i) p group by day, ${keyColumns}) l using (day, ${keyColumns})
    ${onConflict}`,
}
const dropRolled: PreparedStatement = {
  name: "usage-drop-rolled",
  text: `delete from sallyport.usage where ${old}`,
}
const dropOld: PreparedStatement = {
  name: "usage-drop-old",
  text: "delete from sallyport.usage where grain = 'day' and bucket < now() - $1::integer * interval '1 day'",
}
const dropBatches: PreparedStatement = {
  name: "usage-drop-batches",
  text: "delete from sallyport.usage_batches where written_at < now() - $1::integer * interval '1 day'",
}

/** Merges old hourly rows into daily rows and deletes expired ones. One process at a time; nothing is counted twice. */
export async function tidyUsage(database: Database): Promise<void> {
  const { hourDays, dayDays, batchDays } = usageRetention
  await database.transaction(async (transaction) => {
    // One snapshot for sum and delete: concurrent additions to old hours must be in both or in neither.
    await transaction.script("set transaction isolation level repeatable read")
    await transaction.query(lockRollUp)
    await transaction.query(rollUp, [hourDays])
    await transaction.query(dropRolled, [hourDays])
    await transaction.query(dropOld, [dayDays])
    await transaction.query(dropBatches, [batchDays])
  })
}

function orderOf(row: UsageRow): string {
  const { bucketMs, subscription, product, api, version, operation, status, price } = row
  return JSON.stringify([bucketMs, subscription, product, api, version, operation, status, price])
}

function columnsOf(rows: readonly UsageRow[]): unknown[] {
  return [
    rows.map(({ bucketMs }) => new Date(bucketMs)),
    ...(["subscription", "product", "api", "version", "operation", "status", "price"] as const).map((name) =>
      rows.map((row) => row[name]),
    ),
    ...(["calls", "billed", "bytesIn", "bytesOut"] as const).map((name) => rows.map((row) => row[name])),
    rows.map(({ latency }) => `{${latency.join(",")}}`),
  ]
}
