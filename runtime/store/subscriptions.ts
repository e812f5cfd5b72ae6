import type { Commit } from "../check/ports.ts"
import {
  type Database,
  isSqlError,
  type PreparedStatement,
  type Queryable,
  uniqueViolation,
} from "./database.ts"
import { newStamp } from "./ids.ts"
import { noticesOf } from "./notices.ts"

/** What a subscription gives access to: a product, one API, or all APIs. */
export type SubscriptionScope =
  | { readonly kind: "product" | "api"; readonly name: string }
  | { readonly kind: "all" }

/** The stored state. `expired` is never stored: `stateOf` derives it from the date. */
export type StoredState = "submitted" | "active" | "suspended" | "rejected" | "cancelled"
/** The state that callers see, see `stateOf`. */
export type SubscriptionState = StoredState | "expired"
/** Which of the two keys. */
export type KeySlot = "primary" | "secondary"

/** A stored key, without its secret. `digest` is the SHA-256 of the key in hex, `prefix` its beginning. */
export interface StoredKey {
  readonly digest: string
  readonly prefix: string
  readonly createdAt: Date
  /** Accurate to a minute; null: never used. */
  readonly lastUsedAt: Date | null
}

/** An issued subscription. */
export interface SubscriptionRecord {
  readonly name: string
  readonly scope: SubscriptionScope
  readonly state: StoredState
  readonly owner: string
  readonly note: string
  readonly expiresAt: Date | null
  readonly createdAt: Date
  readonly changedAt: Date
  readonly revision: number
  readonly keys: Readonly<Partial<Record<KeySlot, StoredKey>>>
}

/** A key to store. */
export interface NewKey {
  readonly digest: string
  readonly prefix: string
}

/** A subscription to store. */
export interface NewSubscription {
  readonly name: string
  readonly scope: SubscriptionScope
  readonly state: StoredState
  readonly owner: string
  readonly note: string
  readonly expiresAt: Date | null
  readonly keys: Readonly<Record<KeySlot, NewKey>>
  /** Maximum number of subscriptions of this owner to this scope that have not ended; null: no maximum. */
  readonly perOwnerMax: number | null
}

/** Filters of a list; a subscription must match all of them. `after` is the name before the first result. */
export interface SubscriptionFilter {
  readonly state?: SubscriptionState | undefined
  readonly product?: string | undefined
  readonly api?: string | undefined
  readonly owner?: string | undefined
  /** A prefix of either key, at most as long as the stored `prefix`. */
  readonly prefix?: string | undefined
  /** A text in the name, owner or note, ignoring case. */
  readonly text?: string | undefined
  readonly after: string
  readonly limit: number
}

type Row = [
  name: string,
  scopeKind: "product" | "api" | "all",
  scopeName: string,
  state: StoredState,
  owner: string,
  note: string,
  expiresAt: Date | null,
  createdAt: Date,
  changedAt: Date,
  revision: number,
  primaryDigest: string | null,
  primaryPrefix: string | null,
  primaryCreatedAt: Date | null,
  primaryUsedAt: Date | null,
  secondaryDigest: string | null,
  secondaryPrefix: string | null,
  secondaryCreatedAt: Date | null,
  secondaryUsedAt: Date | null,
]

const columns = `s.name, s.scope_kind, s.scope_name, s.state, s.owner, s.note, s.expires_at, s.created_at, s.changed_at, s.revision,
  p.digest, p.prefix, p.created_at, p.last_used_at, q.digest, q.prefix, q.created_at, q.last_used_at`
const tables = `sallyport.subscriptions s
  left join sallyport.subscription_keys p on p.subscription = s.name and p.slot = 'primary'
  left join sallyport.subscription_keys q on q.subscription = s.name and q.slot = 'secondary'`
const shownState = `case when s.state in ('active', 'suspended') and s.expires_at <= now() then 'expired' else s.state end`

const raise: PreparedStatement = {
  name: "subscription-raise",
  text: `with raised as (update sallyport.subscription_feed set revision = revision + 1 where id = 1 returning revision)
    insert into sallyport.subscription_commits (revision, stamp) select revision, $1 from raised returning revision`,
}
const stampOf = (revision: string) =>
  `coalesce((select c.stamp from sallyport.subscription_commits c where c.revision = ${revision}), '')`
const byName: PreparedStatement = {
  name: "subscription-find",
  text: `select ${columns} from ${tables} where s.name = $1 and s.deleted_at is null`,
}
const filtered: PreparedStatement = {
  name: "subscription-list",
  text: `select ${columns} from ${tables} where s.deleted_at is null and s.name > $1
    and ($2::text is null or ${shownState} = $2)
    and ($3::text is null or (s.scope_kind = 'product' and s.scope_name = $3))
    and ($4::text is null or (s.scope_kind = 'api' and s.scope_name = $4))
    and ($5::text is null or s.owner = $5)
    and ($6::text is null or left(p.prefix, length($6)) = $6 or left(q.prefix, length($6)) = $6)
    and ($7::text is null or position(lower($7) in lower(s.name || ' ' || s.owner || ' ' || s.note)) > 0)
    order by s.name limit $8`,
}
/**
 * The newest commit, the stamp of the named commit in the history, and that of the page's last one; then the columns of one subscription.
 * Without changes it is one row. The page is cut by the index of revisions before anything is joined.
 */
const since: PreparedStatement = {
  name: "subscription-since",
  text: `with page as materialized (
      select * from sallyport.subscriptions where revision > $1 order by revision limit $2)
    select f.revision, ${stampOf("f.revision")}, ${stampOf("$1::bigint")}, ${stampOf("(select max(revision) from page)")},
      s.name, s.scope_kind, s.scope_name, s.state, s.owner, s.revision, s.deleted_at is not null,
      (extract(epoch from s.created_at) * 1000)::float8, (extract(epoch from s.expires_at) * 1000)::float8,
      (select p.digest from sallyport.subscription_keys p where p.subscription = s.name and p.slot = 'primary'),
      (select q.digest from sallyport.subscription_keys q where q.subscription = s.name and q.slot = 'secondary')
    from sallyport.subscription_feed f left join page s on true where f.id = 1 order by s.revision`,
}
const ownersCount: PreparedStatement = {
  name: "subscription-count",
  text: `select count(*) from sallyport.subscriptions s where s.deleted_at is null and s.scope_kind = $1 and s.scope_name = $2 and s.owner = $3
    and ${shownState} in ('submitted', 'active', 'suspended')`,
}
const byProduct: PreparedStatement = {
  name: "subscription-by-product",
  text: `select s.scope_name, ${shownState}, count(*) from sallyport.subscriptions s
    where s.deleted_at is null and s.scope_kind = 'product' group by 1, 2`,
}
const insert: PreparedStatement = {
  name: "subscription-insert",
  text: `insert into sallyport.subscriptions as s (name, scope_kind, scope_name, state, owner, note, expires_at, revision)
    values ($1, $2, $3, $4, $5, $6, $7, $8)
    on conflict (name) do update set scope_kind = excluded.scope_kind, scope_name = excluded.scope_name, state = excluded.state,
      owner = excluded.owner, note = excluded.note, expires_at = excluded.expires_at, revision = excluded.revision,
      created_at = now(), changed_at = now(), deleted_at = null
    where s.deleted_at is not null returning name`,
}
const putKey: PreparedStatement = {
  name: "subscription-key",
  text: `insert into sallyport.subscription_keys (digest, subscription, slot, prefix) values ($1, $2, $3, $4)
    on conflict (subscription, slot) do update set digest = excluded.digest, prefix = excluded.prefix, created_at = now(), last_used_at = null`,
}
const setState: PreparedStatement = {
  name: "subscription-state",
  text: `update sallyport.subscriptions set state = $2, expires_at = $3, revision = $4, changed_at = now() where name = $1`,
}
const touch: PreparedStatement = {
  name: "subscription-touch",
  text: "update sallyport.subscriptions set revision = $2, changed_at = now() where name = $1",
}
const dropKeys: PreparedStatement = {
  name: "subscription-drop-keys",
  text: "delete from sallyport.subscription_keys where subscription = $1",
}
const markDeleted: PreparedStatement = {
  name: "subscription-delete",
  text: `update sallyport.subscriptions set deleted_at = now(), changed_at = now(), revision = $2 where name = $1 and deleted_at is null
    returning name`,
}
const used: PreparedStatement = {
  name: "subscription-used",
  text: `update sallyport.subscription_keys k set last_used_at = u.at
    from (select unnest($1::text[]) as digest, unnest($2::timestamptz[]) as at) u
    where k.digest = u.digest and (k.last_used_at is null or k.last_used_at < u.at)`,
}

/**
 * Stores a new subscription. `exists`: the name is taken. `same-key`: a key belongs to another subscription. `full`: the owner already has
 * `perOwnerMax`. In these cases nothing is changed.
 */
export async function insertSubscription(
  database: Database,
  entry: NewSubscription,
): Promise<SubscriptionRecord | "exists" | "same-key" | "full"> {
  const kind = entry.scope.kind
  const scopeName = entry.scope.kind === "all" ? "" : entry.scope.name
  try {
    const made = await changing(database, async (transaction, revision) => {
      if (entry.perOwnerMax !== null) {
        const [row] = await transaction.query<[number]>(ownersCount, [kind, scopeName, entry.owner])
        if ((row?.[0] ?? 0) >= entry.perOwnerMax) return "full" as const
      }
      const { name, state, owner, note, expiresAt } = entry
      const inserted = await transaction.query(insert, [
        name,
        kind,
        scopeName,
        state,
        owner,
        note,
        expiresAt,
        revision,
      ])
      if (inserted.length === 0) return "exists" as const
      for (const slot of ["primary", "secondary"] as const)
        await transaction.query(putKey, [entry.keys[slot].digest, name, slot, entry.keys[slot].prefix])
      return found(await transaction.query<Row>(byName, [name]))
    })
    return made ?? "exists"
  } catch (error) {
    if (isSqlError(error, uniqueViolation)) return "same-key"
    throw error
  }
}

/** A subscription by name; undefined when there is no such subscription. */
export async function findSubscription(
  database: Queryable,
  name: string,
): Promise<SubscriptionRecord | undefined> {
  return found(await database.query<Row>(byName, [name]))
}

/** Subscriptions in order of their names. */
export async function listSubscriptions(
  database: Queryable,
  filter: SubscriptionFilter,
): Promise<readonly SubscriptionRecord[]> {
  const { after, state, product, api, owner, prefix, text, limit } = filter
  const rows = await database.query<Row>(filtered, [
    after,
    state ?? null,
    product ?? null,
    api ?? null,
    owner ?? null,
    prefix ?? null,
    text ?? null,
    limit,
  ])
  return rows.map(recordOf)
}

/** How many subscriptions there are to each product, by state. Products and states without one are absent. */
export async function countByProduct(
  database: Queryable,
): Promise<ReadonlyMap<string, Partial<Record<SubscriptionState, number>>>> {
  const found = new Map<string, Partial<Record<SubscriptionState, number>>>()
  for (const [product, state, count] of await database.query<[string, SubscriptionState, number]>(
    byProduct,
    [],
  ))
    found.set(product, { ...found.get(product), [state]: count })
  return found
}

/** Sets the state and end that `decide` returns for the currently stored record. A text from `decide` is a refusal and changes nothing. */
export async function changeSubscription(
  database: Database,
  name: string,
  decide: (
    record: SubscriptionRecord,
  ) => { readonly state: StoredState; readonly expiresAt: Date | null } | string,
): Promise<SubscriptionRecord | string | undefined> {
  return changing(database, async (transaction, revision) => {
    const record = found(await transaction.query<Row>(byName, [name]))
    if (record === undefined) return undefined
    const decided = decide(record)
    if (typeof decided === "string") return decided
    await transaction.query(setState, [name, decided.state, decided.expiresAt, revision])
    return found(await transaction.query<Row>(byName, [name]))
  })
}

/** Replaces one key; the old one becomes invalid. `decide` as in `changeSubscription`: a text is a refusal. */
export async function replaceKey(
  database: Database,
  name: string,
  slot: KeySlot,
  key: NewKey,
  decide: (record: SubscriptionRecord) => string | undefined,
): Promise<SubscriptionRecord | string | undefined> {
  return changing(database, async (transaction, revision) => {
    const record = found(await transaction.query<Row>(byName, [name]))
    if (record === undefined) return undefined
    const refused = decide(record)
    if (refused !== undefined) return refused
    await transaction.query(putKey, [key.digest, name, slot, key.prefix])
    await transaction.query(touch, [name, revision])
    return found(await transaction.query<Row>(byName, [name]))
  })
}

/** Deletes a subscription. Its name becomes free; its recorded usage stays. False when there is no such subscription. */
export async function deleteSubscription(database: Database, name: string): Promise<boolean> {
  return changing(database, async (transaction, revision) => {
    await transaction.query(dropKeys, [name])
    return (await transaction.query(markDeleted, [name, revision])).length > 0
  })
}

/** A subscription as processes need it that judge calls; see `SubscriptionRecord`. */
export interface FeedSubscription {
  readonly name: string
  readonly scope: SubscriptionScope
  readonly state: StoredState
  readonly owner: string
  readonly revision: number
  readonly deleted: boolean
  readonly createdAtMs: number
  /** Null: it does not end. */
  readonly endsAtMs: number | null
  /** SHA-256 of its keys, as text with one character per byte: first the primary key, then the secondary. */
  readonly digests: readonly string[]
}

/**
 * Changes, and the commit up to which they are complete. `lost`: the history no longer contains the requested commit; then there are no
 * records, and `at` is the newest commit.
 */
export interface SubscriptionNews {
  readonly records: readonly FeedSubscription[]
  readonly at: Commit
  readonly lost: boolean
}

type FeedRow = [
  name: string,
  scopeKind: "product" | "api" | "all",
  scopeName: string,
  state: StoredState,
  owner: string,
  revision: number,
  deleted: boolean,
  createdAtMs: number,
  endsAtMs: number | null,
  primaryDigest: string | null,
  secondaryDigest: string | null,
]
type NewsRow = [newest: number, stamp: string, stampOfHeld: string, stampOfLast: string, ...FeedRow]
type NoNewsRow = [newest: number, stamp: string, stampOfHeld: string, stampOfLast: string, name: null]

/** Changes after a commit in order, deletions included, at most `limit`. */
export async function subscriptionsSince(
  database: Queryable,
  held: Commit,
  limit: number,
): Promise<SubscriptionNews> {
  const rows = await database.query<NewsRow | NoNewsRow>(since, [held.revision, limit])
  const [revision, stamp, stampOfHeld, stampOfLast] = rows[0] ?? [0, "", "", ""]
  const newest = { revision, stamp }
  if (revision < held.revision || stampOfHeld !== held.stamp) return { records: [], at: newest, lost: true }
  const records = rows
    .filter((row): row is NewsRow => row[4] !== null)
    .map(([, , , , ...row]) => feedSubscriptionOf(row))
  const last = records.at(-1)
  // A full page may end before the newest commit.
  if (last === undefined || records.length < limit) return { records, at: newest, lost: false }
  return { records, at: { revision: last.revision, stamp: stampOfLast }, lost: false }
}

/** Records when keys were last used, by their digests; a later time replaces an earlier one. */
export async function keysUsed(database: Queryable, times: ReadonlyMap<string, Date>): Promise<void> {
  if (times.size > 0) await database.query(used, [[...times.keys()], [...times.values()]])
}

/**
 * Calls back when another process has changed subscriptions. Returns a function that stops listening. A lost notice only costs the time
 * until the next poll.
 */
export function listenToSubscriptions(database: Database, onChanged: () => void): () => void {
  return noticesOf(database).listen("subscriptions", onChanged)
}

/** From its end date on (a number is in milliseconds), an active or suspended subscription is `expired`. */
export function stateOf(
  { state, expiresAt }: { readonly state: StoredState; readonly expiresAt: Date | number | null },
  nowMs: number,
): SubscriptionState {
  const ended = expiresAt !== null && Number(expiresAt) <= nowMs
  return ended && (state === "active" || state === "suspended") ? "expired" : state
}

/** Locks the feed's row first, so that changes happen one after the other, in order of their revisions. */
async function changing<T>(
  database: Database,
  work: (transaction: Queryable, revision: number) => Promise<T>,
): Promise<T> {
  const result = await database.transaction(async (transaction) => {
    const [row] = await transaction.query<[number]>(raise, [newStamp()])
    return work(transaction, row?.[0] ?? 0)
  })
  noticesOf(database).announce("subscriptions")
  return result
}

function found(rows: readonly Row[]): SubscriptionRecord | undefined {
  const [row] = rows
  return row === undefined ? undefined : recordOf(row)
}

function feedSubscriptionOf(row: FeedRow): FeedSubscription {
  const [name, kind, scopeName, state, owner, revision, deleted, createdAtMs, endsAtMs, ...digests] = row
  return {
    ...{ name, state, owner, revision, deleted, createdAtMs, endsAtMs },
    scope: scopeOf(kind, scopeName),
    digests: digests
      .filter((digest): digest is string => digest !== null)
      .map((digest) => Buffer.from(digest, "hex").toString("latin1")),
  }
}

function scopeOf(kind: SubscriptionScope["kind"], name: string): SubscriptionScope {
  return kind === "all" ? { kind } : { kind, name }
}

function recordOf(row: Row): SubscriptionRecord {
  const [name, kind, scopeName, state, owner, note, expiresAt, createdAt, changedAt, revision] = row
  const primary = keyOf(row[10], row[11], row[12], row[13])
  const secondary = keyOf(row[14], row[15], row[16], row[17])
  return {
    name,
    scope: scopeOf(kind, scopeName),
    state,
    owner,
    note,
    expiresAt,
    createdAt,
    changedAt,
    revision,
    keys: { ...(primary && { primary }), ...(secondary && { secondary }) },
  }
}

function keyOf(
  digest: string | null,
  prefix: string | null,
  createdAt: Date | null,
  lastUsedAt: Date | null,
): StoredKey | undefined {
  if (digest === null || prefix === null || createdAt === null) return undefined
  return { digest, prefix, createdAt, lastUsedAt }
}
