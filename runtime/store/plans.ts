import type { Plan, PlanBody } from "../plan/plan.ts"
import { type CanaryEnding, closeCanary, supersedeCanary } from "./canaries.ts"
import { removeOldConsents } from "./consents.ts"
import {
  type Database,
  isSqlError,
  type PreparedStatement,
  type Queryable,
  type Transaction,
  uniqueViolation,
} from "./database.ts"
import { MoveRefused } from "./declared-moves.ts"
import { type DeclaredStore, ensureDeclaredStores } from "./declared-stores.ts"
import { newStamp } from "./ids.ts"
import { noticesOf } from "./notices.ts"

/**
 * Identifies a plan of the database's history. After a failover or a restore the same serial may belong to another plan, with another
 * stamp.
 */
export interface PlanIdentity {
  readonly serial: number
  /** Random; empty for plans that were applied before stamps existed. */
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
  /** JSON as it was inserted; undefined: nothing is known about the plan's origin. */
  readonly provenance: string | undefined
}

/** `plan` is the stored JSON, or its text when it is not JSON. Pass it to `readPlan`, because another version may have written it. */
export interface StoredPlan extends PlanHeader {
  readonly plan: unknown
}

/** The plan that a new plan was compared with. */
export interface PlanBase {
  readonly serial: number
  readonly stamp?: string | undefined
}

/** A plan to insert as the newest, with its author and reason. */
export interface PlanInsert {
  readonly plan: Plan
  /** The plan it was compared with; null: no plan was running. Without a stamp, any plan with that serial matches. */
  readonly base: PlanBase | null
  readonly appliedBy: string
  readonly gitCommit?: string | undefined
  readonly message?: string | undefined
  /** JSON about the plan's origin, see `PlanHeader`. */
  readonly provenance?: string | undefined
  /** The running canary that becomes this plan, and its end. If it is over, the plan is stale. Absent: a running canary is superseded. */
  readonly canary?: { readonly id: string; readonly ending: CanaryEnding } | undefined
}

/**
 * `stale`: the newest plan is not `base` (any more); nothing was changed. `refused`: moves of tuples in this store do not allow the plan;
 * nothing was changed. `stores` contains the plan's stores by name.
 */
export type PlanInserted =
  | {
      readonly kind: "inserted"
      readonly serial: number
      readonly stamp: string
      readonly stores: ReadonlyMap<string, DeclaredStore>
    }
  | { readonly kind: "stale"; readonly current: PlanHeader | undefined }
  | { readonly kind: "refused"; readonly store: string; readonly message: string }

type HeaderRow = [
  serial: number,
  stamp: string,
  digest: string,
  appliedAt: Date,
  appliedBy: string,
  gitCommit: string,
  message: string,
  provenance: string | null,
]
type PlanRow = [...HeaderRow, plan: string]

const header = "serial, stamp, digest, applied_at, applied_by, git_commit, message, provenance"

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
/** First whether the history contains the first plan, then the newest plan if it is not the second plan. Nulls when there is no plan. */
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
const identity: PreparedStatement = {
  name: "plan-history-identity",
  text: "select identity from sallyport.plan_history where id = 1",
}
const insertIdentity: PreparedStatement = {
  name: "plan-history-identity-insert",
  text: "insert into sallyport.plan_history (id, identity) values (1, $1) on conflict (id) do nothing",
}
const insert: PreparedStatement = {
  name: "plan-insert",
  text: `insert into sallyport.plans (serial, digest, plan, applied_by, git_commit, message, stamp, provenance)
    select $1::bigint + 1, $2, $3, $4, $5, $6, $7, $9
    where coalesce((select max(serial) from sallyport.plans), 0) = $1::bigint
      and ($8::text is null or $8 = coalesce((select stamp from sallyport.plans where serial = $1::bigint), '')) returning serial`,
}

/** The newest plan; undefined when no plan was ever applied. */
export async function currentPlan(database: Queryable): Promise<StoredPlan | undefined> {
  return first(await database.query<PlanRow>(newest))
}

/** A plan of the history; undefined when no plan has that serial. */
export async function planBySerial(database: Queryable, serial: number): Promise<StoredPlan | undefined> {
  return first(await database.query<PlanRow>(bySerial, [serial]))
}

/** Plans without their content, newest first, at most `limit`. */
export async function planHistory(database: Queryable, limit: number): Promise<readonly PlanHeader[]> {
  return (await database.query<HeaderRow>(list, [limit])).map(headerOf)
}

/** `newest` is undefined when no plan exists. `lost`: the history no longer contains the plan that the process holds. */
export interface PlanNews {
  readonly plan: StoredPlan | undefined
  readonly lost: boolean
}

/**
 * Polls for a newer plan. The first identity is the plan that the process holds (undefined: none), `known` the plan it has read (default:
 * the same; null: none). Returns undefined when nothing is newer than `known`.
 */
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

/** What identifies this database's history of plans. Random; a restored copy has the same. */
export async function historyIdentity(database: Queryable): Promise<string> {
  const known = await database.query<[string]>(identity)
  if (known[0] !== undefined) return known[0][0]
  await database.query(insertIdentity, [newStamp()])
  const [row] = await database.query<[string]>(identity)
  if (row === undefined) throw new Error("the identity of the history is missing")
  return row[0]
}

/** Whether the history contains this plan. */
export async function hasPlan(database: Queryable, { serial, stamp }: PlanIdentity): Promise<boolean> {
  const [row] = await database.query<[boolean]>(has, [serial, stamp])
  return row?.[0] === true
}

/** Shows whether a plan's text has changed, without reading the text; undefined when there is no such plan. */
export async function planFingerprint(
  database: Queryable,
  { serial, stamp }: PlanIdentity,
): Promise<string | undefined> {
  const [row] = await database.query<[string]>(fingerprint, [serial, stamp])
  return row?.[0]
}

/**
 * Makes `plan` the newest and creates the ids and models of its stores, in one transaction. Of two plans with the same base exactly one is
 * inserted: the serial is the primary key, so the second insert fails.
 */
export async function insertPlan(database: Database, entry: PlanInsert): Promise<PlanInserted> {
  const stored = await database
    .transaction((transaction) => insertPlanIn(transaction, entry))
    .catch((error: unknown) => {
      if (error instanceof StalePlan || isSqlError(error, uniqueViolation)) return undefined
      if (error instanceof MoveRefused) return error
      throw error
    })
  if (stored instanceof MoveRefused) return { kind: "refused", store: stored.store, message: stored.message }
  if (stored !== undefined) {
    noticesOf(database).announce("plans")
    return { kind: "inserted", ...stored }
  }
  const [row] = await database.query<HeaderRow>(newestHeader)
  return { kind: "stale", current: row === undefined ? undefined : headerOf(row) }
}

/**
 * `insertPlan` as a part of a transaction, which fails with it.
 * @throws StalePlan, MoveRefused, or a `SqlError` with `uniqueViolation` when another plan is inserted at the same time
 */
export async function insertPlanIn(
  transaction: Transaction,
  entry: PlanInsert,
): Promise<Pick<PlanInserted & { kind: "inserted" }, "serial" | "stamp" | "stores">> {
  const { plan, base, appliedBy, gitCommit = "", message = "", provenance, canary } = entry
  const stamp = newStamp()
  if (canary !== undefined) {
    const next = (base?.serial ?? 0) + 1
    if (!(await closeCanary(transaction, canary.id, canary.ending, next))) throw new StalePlan()
  }
  const rows = await transaction.query<[number]>(insert, [
    base?.serial ?? 0,
    plan.digest,
    JSON.stringify(plan),
    appliedBy,
    gitCommit,
    message,
    stamp,
    base?.stamp ?? null,
    provenance ?? null,
  ])
  const serial = rows[0]?.[0]
  if (serial === undefined) throw new StalePlan()
  if (canary === undefined)
    await supersedeCanary(transaction, appliedBy, `serial ${serial} was applied for all callers`)
  await removeOldConsents(transaction, serial - 1)
  return { serial, stamp, stores: await ensureDeclaredStores(transaction, plan.plan) }
}

/** The newest plan is not the base (any more). */
export class StalePlan extends Error {}

/** Calls back when another process has applied a plan, or has begun or ended a canary. Returns a function that stops listening. A lost notice only costs the time until the next poll. */
export function listenToPlans(database: Database, onApplied: () => void): () => void {
  return noticesOf(database).listen("plans", onApplied)
}

/** Like `insertPlan`, for a plan that is loaded from a file and not stored: it only creates its stores. */
export async function declareStores(
  database: Database,
  body: PlanBody,
): Promise<ReadonlyMap<string, DeclaredStore>> {
  return database.transaction((transaction) => ensureDeclaredStores(transaction, body))
}

function first(rows: readonly PlanRow[]): StoredPlan | undefined {
  const row = rows[0]
  if (row === undefined) return undefined
  const [serial, stamp, digest, appliedAt, appliedBy, gitCommit, message, provenance, text] = row
  return {
    ...headerOf([serial, stamp, digest, appliedAt, appliedBy, gitCommit, message, provenance]),
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

function headerOf(row: HeaderRow): PlanHeader {
  const [serial, stamp, digest, appliedAt, appliedBy, gitCommit, message, provenance] = row
  const known = { serial, stamp, digest, appliedAt, appliedBy, gitCommit, message }
  return { ...known, provenance: provenance ?? undefined }
}
