import type { PreparedStatement, Queryable } from "./database.ts"
import { storedKey } from "./ids.ts"

/** A refused request: its id, what is kept of it as JSON, and the subscription that called; empty: none. */
export interface RefusalRow {
  readonly id: string
  readonly subscription: string
  readonly json: string
}

/** Rows of all processes together: about 100 MB when a flood of refusals fills them. */
const rowsMax = 100_000
/** Rows that one call deletes, so that it holds its locks for some milliseconds only. */
const deletedMax = 5_000

const add: PreparedStatement = {
  name: "refusals-add",
  text: `insert into sallyport.refusals (id, refusal, subscription) select * from unnest($1::text[], $2::text[], $3::text[])
    on conflict (id) do update set kept_at = excluded.kept_at, refusal = excluded.refusal, subscription = excluded.subscription`,
}
const ofSubscription: PreparedStatement = {
  name: "refusals-of-subscription",
  text: `select refusal from sallyport.refusals where subscription = $1 and kept_at > now() - interval '1 hour'
    order by kept_at desc limit $2`,
}
const find: PreparedStatement = {
  name: "refusals-find",
  text: "select refusal from sallyport.refusals where id = $1 and kept_at > now() - interval '1 hour'",
}
const forget: PreparedStatement = {
  name: "refusals-forget",
  text: `delete from sallyport.refusals where id in (select id from sallyport.refusals where kept_at < greatest(now() - interval '1 hour',
      (select kept_at from sallyport.refusals order by kept_at desc offset $1 limit 1)) order by kept_at limit ${deletedMax})`,
}

/** Keeps refusals for an hour. The ids of one call are different; a row with the same id is replaced. */
export async function addRefusals(database: Queryable, rows: readonly RefusalRow[]): Promise<void> {
  await database.query(add, [
    rows.map(({ id }) => storedKey(id)),
    rows.map(({ json }) => json),
    rows.map(({ subscription }) => subscription),
  ])
}

/** What is kept of the refused request as JSON; undefined: no process kept a refusal with this id within the last hour. */
export async function findRefusal(database: Queryable, id: string): Promise<string | undefined> {
  const [row] = await database.query<[string]>(find, [storedKey(id)])
  return row?.[0]
}

/** What is kept of the refused requests of a subscription within the last hour as JSON, the newest first. */
export async function listRefusals(
  database: Queryable,
  subscription: string,
  limit: number,
): Promise<string[]> {
  const rows = await database.query<[string]>(ofSubscription, [subscription, limit])
  return rows.map(([json]) => json)
}

/** Deletes refusals older than an hour, and the oldest beyond `most` (default: 100,000): at most 5,000 a call. Call it every few seconds. */
export async function forgetRefusals(database: Queryable, most = rowsMax): Promise<void> {
  await database.query(forget, [most])
}
