import { hostname } from "node:os"
import type { ProcessStatus } from "../control/api.ts"
import type { Database } from "../store/database.ts"
import { newId } from "../store/ids.ts"
import { listProcesses, removeProcess, reportProcess } from "../store/processes.ts"
import type { ProcessState, ReportedState } from "./process-state.ts"

/** What a report contains; `state` is called for each report. */
export interface HeartbeatSettings {
  readonly database: Database
  readonly roles: readonly string[]
  readonly version: string
  readonly state: () => ReportedState
}

const states: readonly ProcessState["state"][] = ["active", "degraded", "draining"]
const everyMs = 5_000
/** A process without a report for this long is not listed: it has ended, or it has lost its database connection. */
const silentSecondsMax = 30

/** Reports this process to the fleet: every five seconds, and at once when its plan changes. */
export class Heartbeat {
  /** The name of this process in the fleet. */
  readonly id = newId()
  readonly #settings: HeartbeatSettings
  readonly #startedAt = new Date()
  #timer: NodeJS.Timeout | undefined
  /** The report in progress. Connections of a pool may overtake each other, so send one report at a time, and none after the removal. */
  #speaking: Promise<void> | undefined
  /** Something changed while a report was in progress. */
  #hasMore = false
  #stopped = false
  #state: { readonly name: string; readonly since: Date } | undefined
  #loop = performance.eventLoopUtilization()
  #loopBusy: number | null = null

  constructor(settings: HeartbeatSettings) {
    this.#settings = settings
  }

  start(): void {
    this.beat()
    this.#timer = setInterval(() => this.beat(), everyMs)
    this.#timer.unref()
  }

  /** Sends a report now. Ignores an unavailable database, because the next report follows soon. */
  beat(): void {
    if (this.#stopped) return
    this.#hasMore = true
    this.#speaking ??= this.#speak()
  }

  async #speak(): Promise<void> {
    while (this.#hasMore && !this.#stopped) {
      this.#hasMore = false
      await this.#report().catch(() => undefined)
    }
    this.#speaking = undefined
  }

  /** Writes the state of this process, for `status`. */
  async #report(): Promise<void> {
    const { database, roles, version, state } = this.#settings
    const { serial, error, ...own } = state()
    await reportProcess(database, {
      id: this.id,
      role: roles.join(","),
      version,
      activeSerial: serial,
      lastError: error ?? "",
      ...own,
      ...this.#load(own.state),
    })
  }

  /** What a report says about the load. Times are of one clock, so a state that the database did not hear of at once has its true beginning. */
  #load(state: string): { stateSince: Date; memoryBytes: number; loopBusy: number | null } {
    if (this.#state?.name !== state) this.#state = { name: state, since: new Date() }
    const now = performance.eventLoopUtilization()
    const { utilization, active, idle } = performance.eventLoopUtilization(now, this.#loop)
    // Reports can follow each other at once, and a share of a few milliseconds says nothing.
    if (active + idle >= 1_000) {
      this.#loopBusy = Math.round(utilization * 1_000) / 1_000
      this.#loop = now
    }
    return {
      stateSince: this.#state.since,
      memoryBytes: process.memoryUsage.rss(),
      loopBusy: this.#loopBusy,
    }
  }

  /** The processes that reported recently. */
  async fleet(): Promise<ProcessStatus[]> {
    const records = await listProcesses(this.#settings.database)
    return records
      .filter(({ silentSeconds }) => silentSeconds <= silentSecondsMax)
      .map(
        ({
          role,
          activeSerial,
          lastError,
          startedAt,
          heartbeatAt,
          stateSince,
          silentSeconds: _,
          ...record
        }) => ({
          ...record,
          stateSince: stateSince?.toISOString() ?? null,
          reasons: [...record.reasons],
          roles: role.split(","),
          startedAt: startedAt.toISOString(),
          seenAt: heartbeatAt.toISOString(),
          serial: activeSerial,
          error: lastError || null,
          state: states.find((state) => state === record.state) ?? "degraded",
        }),
      )
  }

  /** This process as it is now, for when the database is unavailable. */
  own(): ProcessStatus {
    const { roles, version, state } = this.#settings
    const now = new Date().toISOString()
    const startedAt = this.#startedAt.toISOString()
    const { serial, error, subscriptions, refusedSerial, ...own } = state()
    const { memoryBytes, loopBusy, stateSince } = this.#load(own.state)
    return {
      ...{ id: this.id, host: hostname(), pid: process.pid, roles: [...roles], version, startedAt },
      ...{
        seenAt: now,
        serial,
        error,
        subscriptions,
        refusedSerial,
        state: own.state,
        reasons: [...own.reasons],
      },
      ...{ memoryBytes, loopBusy, stateSince: stateSince.toISOString() },
    }
  }

  async stop(): Promise<void> {
    this.#stopped = true
    clearInterval(this.#timer)
    await this.#speaking
    await removeProcess(this.#settings.database, this.id).catch(() => undefined)
  }
}
