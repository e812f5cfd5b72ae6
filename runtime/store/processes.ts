import { hostname } from "node:os"
import type { PreparedStatement, Queryable } from "./database.ts"

/** One process of the fleet, as it reports itself. */
export interface ProcessReport {
  /** Made once at start (`newId`). */
  readonly id: string
  /** e.g. `gateway,authz,control`. */
  readonly role: string
  /** Version of the program. */
  readonly version: string
  /** Null: the process has no active plan yet. */
  readonly activeSerial: number | null
  /** Why the process does not use the newest plan; empty when it does. */
  readonly lastError: string
  /** `active`, `degraded`, `draining`. */
  readonly state: string
  readonly reasons: readonly string[]
  /** Revision of the issued subscriptions that the process has read; null: it needs none. */
  readonly subscriptions: number | null
  /** Serial of the newest plan, when the process cannot serve it; else null. */
  readonly refusedSerial: number | null
  /** Since when it is in this state, by its own clock. Null: an older release. */
  readonly stateSince: Date | null
  /** Resident memory. Null: an older release. */
  readonly memoryBytes: number | null
  /** Share of the time since the report before in which the event loop was busy, 0 to 1. Null: not known yet, or an older release. */
  readonly loopBusy: number | null
}

/** A report, and how old it is. */
export interface ProcessRecord extends ProcessReport {
  readonly host: string
  readonly pid: number
  readonly startedAt: Date
  readonly heartbeatAt: Date
  /** Seconds since its last report, by the database's clock. */
  readonly silentSeconds: number
}

type ProcessRow = [
  id: string,
  role: string,
  version: string,
  activeSerial: number | null,
  lastError: string,
  host: string,
  pid: number,
  startedAt: Date,
  heartbeatAt: Date,
  silentSeconds: number,
  state: string,
  reasons: string,
  subscriptions: number | null,
  refusedSerial: number | null,
  stateSince: Date | null,
  memoryBytes: number | null,
  loopBusy: number | null,
]

const upsert: PreparedStatement = {
  name: "process-report",
  text: `insert into sallyport.processes (id, role, version, host, pid, active_serial, last_error, state, reasons, subscriptions,
    refused_serial, state_since, memory_bytes, loop_busy) values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14)
    on conflict (id) do update set role = excluded.role, version = excluded.version, active_serial = excluded.active_serial,
      last_error = excluded.last_error, state = excluded.state, reasons = excluded.reasons, subscriptions = excluded.subscriptions,
      refused_serial = excluded.refused_serial, state_since = excluded.state_since, memory_bytes = excluded.memory_bytes,
      loop_busy = excluded.loop_busy, heartbeat_at = now()`,
}
/** Forget a process one hour after its last report, in case it ended without removing itself. */
const forgetSilent: PreparedStatement = {
  name: "process-forget-silent",
  text: "delete from sallyport.processes where heartbeat_at < now() - interval '1 hour'",
}
const remove: PreparedStatement = {
  name: "process-remove",
  text: "delete from sallyport.processes where id = $1",
}
const list: PreparedStatement = {
  name: "process-list",
  text: `select id, role, version, active_serial, last_error, host, pid, started_at, heartbeat_at,
    extract(epoch from now() - heartbeat_at)::double precision, state, reasons, subscriptions,
    refused_serial, state_since, memory_bytes, loop_busy from sallyport.processes order by id`,
}

/** The heartbeat; call it every few seconds. */
export async function reportProcess(database: Queryable, report: ProcessReport): Promise<void> {
  const { id, role, version, activeSerial, lastError, state, reasons } = report
  await database.query(upsert, [
    id,
    role,
    version,
    hostname(),
    process.pid,
    activeSerial,
    lastError.slice(0, 4096),
    state,
    JSON.stringify(reasons.slice(0, 20).map((reason) => reason.slice(0, 1024))),
    report.subscriptions,
    report.refusedSerial,
    report.stateSince,
    report.memoryBytes,
    report.loopBusy,
  ])
  await database.query(forgetSilent)
}

/** Removes a process that ends. */
export async function removeProcess(database: Queryable, id: string): Promise<void> {
  await database.query(remove, [id])
}

/** All processes that reported within the last hour, oldest first. */
export async function listProcesses(database: Queryable): Promise<readonly ProcessRecord[]> {
  const rows = await database.query<ProcessRow>(list)
  return rows.map(
    ([
      id,
      role,
      version,
      activeSerial,
      lastError,
      host,
      pid,
      startedAt,
      heartbeatAt,
      silentSeconds,
      state,
      reasons,
      subscriptions,
      refusedSerial,
      stateSince,
      memoryBytes,
      loopBusy,
    ]) => ({
      id,
      role,
      version,
      activeSerial,
      lastError,
      host,
      pid,
      startedAt,
      heartbeatAt,
      silentSeconds,
      state,
      reasons: JSON.parse(reasons) as string[],
      subscriptions,
      refusedSerial,
      stateSince,
      memoryBytes,
      loopBusy,
    }),
  )
}
