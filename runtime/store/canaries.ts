import type { Plan } from "../plan/plan.ts"
import {
  type Database,
  isSqlError,
  type PreparedStatement,
  type Queryable,
  uniqueViolation,
} from "./database.ts"
import { noticesOf } from "./notices.ts"

/** How a canary ended: its plan became that of all callers; it was worse than allowed; somebody ended it; another plan was applied. */
export type CanaryEnd = "promoted" | "returned" | "cancelled" | "superseded"

/** A canary without its plan. Texts that are empty are unknown. */
export interface StoredCanary {
  readonly id: string
  /** The plan that serves the other callers. */
  readonly base: { readonly serial: number; readonly stamp: string }
  readonly digest: string
  readonly percent: number
  readonly seconds: number
  /** JSON. */
  readonly limits: string
  readonly appliedBy: string
  readonly gitCommit: string
  readonly message: string
  /** JSON. */
  readonly provenance: string | undefined
  readonly startedAt: Date
  readonly state: "running" | CanaryEnd
  readonly endedAt: Date | undefined
  /** Empty: it ended by itself. */
  readonly endedBy: string
  readonly reason: string
  /** JSON. */
  readonly counts: string | undefined
  /** The plan that it became. */
  readonly serial: number | undefined
  /** Seconds since a process last judged it. */
  readonly unwatchedSeconds: number
}

/** A canary to begin. */
export interface CanaryInsert
  extends Pick<
    StoredCanary,
    "base" | "percent" | "seconds" | "limits" | "appliedBy" | "gitCommit" | "message" | "provenance"
  > {
  readonly id: string
  readonly plan: Plan
}

/** What a process says about a canary. */
export interface CanaryReport {
  readonly process: string
  /** `host:pid`. */
  readonly name: string
  /** JSON; undefined: nothing was counted. */
  readonly counts: string | undefined
  /** Why it cannot serve the plan; empty: it can. */
  readonly error: string
  readonly reportedAt: Date
}

/** The end of a canary. */
export interface CanaryEnding {
  readonly state: CanaryEnd
  readonly by: string
  readonly reason: string
  readonly counts?: string | undefined
}

type Row = [
  id: string,
  baseSerial: number,
  baseStamp: string,
  digest: string,
  percent: number,
  seconds: number,
  limits: string,
  appliedBy: string,
  gitCommit: string,
  message: string,
  provenance: string | null,
  startedAt: Date,
  state: string,
  endedAt: Date | null,
  endedBy: string,
  reason: string,
  counts: string | null,
  serial: number | null,
  unwatchedSeconds: number,
]

const columns = `id, base_serial, base_stamp, digest, percent, seconds, limits, applied_by, git_commit, message, provenance, started_at,
  state, ended_at, ended_by, reason, counts, serial, extract(epoch from now() - watched_at)::float8`

const newest: PreparedStatement = {
  name: "canary-newest",
  text: `select ${columns} from sallyport.plan_canaries order by id desc limit 1`,
}
const list: PreparedStatement = {
  name: "canary-list",
  text: `select ${columns} from sallyport.plan_canaries order by id desc limit $1`,
}
const planOf: PreparedStatement = {
  name: "canary-plan",
  text: "select plan from sallyport.plan_canaries where id = $1 and state = 'running'",
}
const insert: PreparedStatement = {
  name: "canary-insert",
  text: `insert into sallyport.plan_canaries
      (id, base_serial, base_stamp, digest, plan, percent, seconds, limits, applied_by, git_commit, message, provenance)
    select $1, $2::bigint, $3, $4, $5, $6::float8, $7::bigint, $8, $9, $10, $11, $12
    where exists (select from (select serial, stamp from sallyport.plans order by serial desc limit 1) n where n.serial = $2::bigint and n.stamp = $3)
    returning id`,
}
const hold: PreparedStatement = {
  name: "canary-hold",
  text: `update sallyport.plan_canaries set holder = $2, held_until = now() + interval '10 seconds', watched_at = now()
    where id = $1 and state = 'running' and (holder = $2 or held_until is null or held_until <= now()) returning id`,
}
/** The plan is as large as the configuration, and nobody needs it afterwards: a promoted one is in `plans`. */
const end: PreparedStatement = {
  name: "canary-end",
  text: `update sallyport.plan_canaries set state = $2, ended_at = now(), ended_by = $3, reason = $4, counts = coalesce($5, counts), plan = '', serial = $6
    where id = $1 and state = 'running' returning id`,
}
const supersede: PreparedStatement = {
  name: "canary-supersede",
  text: `update sallyport.plan_canaries set state = 'superseded', ended_at = now(), ended_by = $1, reason = $2, plan = ''
    where state = 'running'`,
}
const report: PreparedStatement = {
  name: "canary-report",
  text: `insert into sallyport.plan_canary_reports (canary, process, name, counts, error) values ($1, $2, $3, $4, $5)
    on conflict (canary, process) do update set counts = excluded.counts, error = excluded.error, reported_at = now()`,
}
const reports: PreparedStatement = {
  name: "canary-reports",
  text: `select process, name, counts, error, reported_at from sallyport.plan_canary_reports where canary = $1 order by process`,
}
const forgetReports: PreparedStatement = {
  name: "canary-forget",
  text: "delete from sallyport.plan_canary_reports where canary <> $1",
}

/** The canary that began last, running or over; undefined: there was none. */
export async function newestCanary(database: Queryable): Promise<StoredCanary | undefined> {
  const [row] = await database.query<Row>(newest)
  return row === undefined ? undefined : canaryOf(row)
}

/** The last canaries, newest first. */
export async function listCanaries(database: Queryable, limit: number): Promise<readonly StoredCanary[]> {
  return (await database.query<Row>(list, [limit])).map(canaryOf)
}

/** The plan of a running canary, as stored. Pass it to `readPlan`. Undefined: it is over. */
export async function planOfCanary(database: Queryable, id: string): Promise<unknown> {
  const [row] = await database.query<[string]>(planOf, [id])
  if (row === undefined) return undefined
  try {
    return JSON.parse(row[0])
  } catch {
    return row[0]
  }
}

/** Begins a canary. `stale`: the newest plan is not its base. `busy`: another one runs. */
export async function beginCanary(
  database: Database,
  entry: CanaryInsert,
): Promise<StoredCanary | "stale" | "busy"> {
  const { id, base, plan, percent, seconds, limits, appliedBy, gitCommit, message, provenance } = entry
  try {
    const inserted = await database.query(insert, [
      ...[id, base.serial, base.stamp, plan.digest, JSON.stringify(plan), percent, seconds, limits],
      ...[appliedBy, gitCommit, message, provenance ?? null],
    ])
    if (inserted.length === 0) return "stale"
  } catch (error) {
    if (isSqlError(error, uniqueViolation)) return "busy"
    throw error
  }
  await database.query(forgetReports, [id])
  noticesOf(database).announce("plans")
  const begun = await newestCanary(database)
  return begun ?? "stale"
}

/** Reserves the judgement of a running canary for one process of the fleet, for ten seconds. False: another process has it, or it is over. */
export async function holdCanary(database: Queryable, id: string, holder: string): Promise<boolean> {
  return (await database.query(hold, [id, holder])).length > 0
}

/** Ends a running canary, and tells other processes. False: it was over. */
export async function endCanary(database: Database, id: string, ending: CanaryEnding): Promise<boolean> {
  const ended = await closeCanary(database, id, ending, undefined)
  if (ended) noticesOf(database).announce("plans")
  return ended
}

/** The same in a transaction. `serial`: the plan that it became. */
export async function closeCanary(
  transaction: Queryable,
  id: string,
  { state, by, reason, counts }: CanaryEnding,
  serial: number | undefined,
): Promise<boolean> {
  const parameters = [id, state, by, reason.slice(0, reasonMax), counts ?? null, serial ?? null]
  return (await transaction.query(end, parameters)).length > 0
}

const reasonMax = 1_000

/** Ends a canary that runs, because another plan is applied. */
export async function supersedeCanary(transaction: Queryable, by: string, reason: string): Promise<void> {
  await transaction.query(supersede, [by, reason])
}

/** Stores what a process has counted since the canary began. */
export async function reportCanary(
  database: Queryable,
  canary: string,
  { process, name, counts, error }: Omit<CanaryReport, "reportedAt">,
): Promise<void> {
  await database.query(report, [canary, process, name, counts ?? null, error.slice(0, reasonMax)])
}

/** The last report of each process. */
export async function listCanaryReports(
  database: Queryable,
  canary: string,
): Promise<readonly CanaryReport[]> {
  const rows = await database.query<[string, string, string | null, string, Date]>(reports, [canary])
  return rows.map(([process, name, counts, error, reportedAt]) => ({
    ...{ process, name, error, reportedAt },
    counts: counts ?? undefined,
  }))
}

const ends: readonly CanaryEnd[] = ["promoted", "returned", "cancelled", "superseded"]

function canaryOf(row: Row): StoredCanary {
  const [id, serialOfBase, stamp, digest, percent, seconds, limits, appliedBy, gitCommit, message] = row
  const [, , , , , , , , , , provenance, startedAt, state, endedAt, endedBy, reason, counts, serial, since] =
    row
  return {
    ...{ id, digest, percent, seconds, limits, appliedBy, gitCommit, message, startedAt, endedBy, reason },
    base: { serial: serialOfBase, stamp },
    provenance: provenance ?? undefined,
    // A state of a later version is an end, too.
    state: state === "running" ? state : (ends.find((each) => each === state) ?? "superseded"),
    endedAt: endedAt ?? undefined,
    counts: counts ?? undefined,
    serial: serial ?? undefined,
    unwatchedSeconds: since,
  }
}
