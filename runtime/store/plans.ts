import type { Plan, PlanBody } from "../plan/plan.ts"
import {
  type Database,
  isSqlError,
  type PreparedStatement,
  type Queryable,
  uniqueViolation,
} from "./database.ts"
import { type DeclaredStore, ensureDeclaredStores } from "./declared-stores.ts"
import { newStamp } from "./ids.ts"

/** A plan of the database's history. Another history, after a failover or a restore, may have another plan of that serial: its stamp is another. */
export interface PlanIdentity {
  readonly serial: number
  /** Random; empty for plans that were applied before there were stamps. */
  readonly stamp: string
}

/** An applied plan without its content. Serials count from 1 without gaps. */
export interface PlanHeader extends PlanIdentity {
  readonly digest: string
  readonly appliedAt: Date
  readonly appliedBy: string
  /** Empty when unknown. */
  readonly gitCommit: string
  readonly message: string
}

/** `plan` is JSON as it was stored, or its text where that is no JSON: give it to `readPlan`, for another version may have written it. */
export interface StoredPlan extends PlanHeader {
  readonly plan: unknown
}

/** What a plan was compared with. */
export interface PlanBase {
  readonly serial: number
  readonly stamp?: string | undefined
}

/** A plan that is to become the newest, who applies it, and why. */
export interface PlanInsert {
  readonly plan: Plan
  /** The plan it was compared with; null: nothing was running. Without a stamp any plan of that serial. */
  readonly base: PlanBase | null
  readonly appliedBy: string
  readonly gitCommit?: string | undefined
  readonly message?: string | undefined
}

/** `stale`: the newest plan is not `base` (any more); nothing was changed. `stores` are the plan's, by name. */
export type PlanInserted =
  | {
      readonly kind: "inserted"
      readonly serial: number
      readonly stamp: string
      readonly stores: ReadonlyMap<string, DeclaredStore>
    }
  | { readonly kind: "stale"; readonly current: PlanHeader | undefined }

type HeaderRow = [
  serial: number,
  stamp: string,
  digest: string,
  appliedAt: Date,
  appliedBy: string,
  gitCommit: string,
  message: string,
]
type PlanRow = [...HeaderRow, plan: string]

const header = "serial, stamp, digest, applied_at, applied_by, git_commit, message"

const newest: PreparedStatement = {
  name: "plan-newest",
  text: `select ${header}, plan from sallyport.plans order by serial desc limit 1`,
}
const newestHeader: PreparedStatement = {
  name: "plan-newest-header",
  text: `select ${header} from sallyport.plans order by serial desc limit 1`,
}
const bySerial: PreparedStatement = {
  name: "plan-by-serial",
  text: `select ${header}, plan from sallyport.plans where serial = $1`,
}
const list: PreparedStatement = {
  name: "plan-history",
  text: `select ${header} from sallyport.plans order by serial desc limit $1`,
}
/** The newest plan where it is another than the second one named, before it whether the history has the first one; nulls where there is no plan at all. */
const news: PreparedStatement = {
  name: "plan-news",
  text: `select exists (select from sallyport.plans where serial = $1 and stamp = $2), n.*
    from (values (1)) one left join (select ${header}, plan from sallyport.plans order by serial desc limit 1) n on true
    where n.serial is distinct from $3::bigint or n.stamp <> $4`,
}
const has: PreparedStatement = {
  name: "plan-has",
  text: "select exists (select from sallyport.plans where serial = $1 and stamp = $2)",
}
const fingerprint: PreparedStatement = {
  name: "plan-fingerprint",
  text: "select md5(plan) from sallyport.plans where serial = $1 and stamp = $2",
}
const insert: PreparedStatement = {
  name: "plan-insert",
  text: `insert into sallyport.plans (serial, digest, plan, applied_by, git_commit, message, stamp)
    select $1::bigint + 1, $2, $3, $4, $5, $6, $7
    where coalesce((select max(serial) from sallyport.plans), 0) = $1::bigint
      and ($8::text is null or $8 = coalesce((select stamp from sallyport.plans where serial = $1::bigint), '')) returning serial`,
}

/** The newest plan; undefined when none was ever applied. */
export async function currentPlan(database: Queryable): Promise<StoredPlan | undefined> {
  return first(await database.query<PlanRow>(newest))
}

/** A plan of the history; undefined when there is no such serial. */
export async function planBySerial(database: Queryable, serial: number): Promise<StoredPlan | undefined> {
  return first(await database.query<PlanRow>(bySerial, [serial]))
}

/** Newest first, at most `limit`. */
export async function planHistory(database: Queryable, limit: number): Promise<readonly PlanHeader[]> {
  return (await database.query<HeaderRow>(list, [limit])).map(headerOf)
}

/** The newest plan; undefined: there is none at all. `lost`: the history does not have the plan (any more) that a process holds. */
export interface PlanNews {
  readonly plan: StoredPlan | undefined
  readonly lost: boolean
}

/** What a process polls that holds a plan (undefined: it has none) and has read `known`, the same one by default (null: it has read none). Undefined: nothing is newer than `known`. */
export async function planNews(
  database: Queryable,
  held: PlanIdentity | undefined,
  known: PlanIdentity | null = held ?? null,
): Promise<PlanNews | undefined> {
  type Row = [hasHeld: boolean, ...PlanRow] | [hasHeld: boolean, serial: null]
  const identities = [held, known].flatMap((each) => [each?.serial ?? 0, each?.stamp ?? ""])
  const [row] = await database.query<Row>(news, identities)
  if (row === undefined) return undefined
  const [hasHeld, ...own] = row
  const lost = held !== undefined && !hasHeld
  if (own[0] !== null) return { plan: first([own as PlanRow]), lost }
  return lost ? { plan: undefined, lost } : undefined
}

/** Whether the history has this plan. */
export async function hasPlan(database: Queryable, { serial, stamp }: PlanIdentity): Promise<boolean> {
  const [row] = await database.query<[boolean]>(has, [serial, stamp])
  return row?.[0] === true
}

/** Whether a plan's text has changed, without reading it; undefined when there is no such plan. */
export async function planFingerprint(
  database: Queryable,
  { serial, stamp }: PlanIdentity,
): Promise<string | undefined> {
  const [row] = await database.query<[string]>(fingerprint, [serial, stamp])
  return row?.[0]
}

/**
 * Makes `plan` the newest and gives the stores it declares their ids and models, in one transaction. Of two that compared with the same
 * base exactly one is inserted: the serial is the key, and the second meets it.
 */
export async function insertPlan(database: Database, entry: PlanInsert): Promise<PlanInserted> {
  const { plan, base, appliedBy, gitCommit = "", message = "" } = entry
  const text = JSON.stringify(plan)
  const stamp = newStamp()
  const stored = await database
    .transaction(async (transaction) => {
      const rows = await transaction.query<[number]>(insert, [
        base?.serial ?? 0,
        plan.digest,
        text,
        appliedBy,
        gitCommit,
        message,
        stamp,
        base?.stamp ?? null,
      ])
      const serial = rows[0]?.[0]
      if (serial === undefined) return undefined
      return { serial, stamp, stores: await ensureDeclaredStores(transaction, plan.plan) }
    })
    .catch((error: unknown) => {
      if (isSqlError(error, uniqueViolation)) return undefined
      throw error
    })
  if (stored !== undefined) return { kind: "inserted", ...stored }
  const [row] = await database.query<HeaderRow>(newestHeader)
  return { kind: "stale", current: row === undefined ? undefined : headerOf(row) }
}

/** The same for a plan that is served from a file and not stored: only its stores. */
export async function declareStores(
  database: Database,
  body: PlanBody,
): Promise<ReadonlyMap<string, DeclaredStore>> {
  return database.transaction((transaction) => ensureDeclaredStores(transaction, body))
}

function first(rows: readonly PlanRow[]): StoredPlan | undefined {
  const row = rows[0]
  if (row === undefined) return undefined
  const [serial, stamp, digest, appliedAt, appliedBy, gitCommit, message, text] = row
  return {
    ...headerOf([serial, stamp, digest, appliedAt, appliedBy, gitCommit, message]),
    plan: parsed(text),
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}

function headerOf([serial, stamp, digest, appliedAt, appliedBy, gitCommit, message]: HeaderRow): PlanHeader {
  return { serial, stamp, digest, appliedAt, appliedBy, gitCommit, message }
}
