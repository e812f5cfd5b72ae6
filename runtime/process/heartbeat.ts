import { hostname } from "node:os"
import type { ProcessStatus } from "../control/api.ts"
import type { Database } from "../store/database.ts"
import { newId } from "../store/ids.ts"
import { listProcesses, removeProcess, reportProcess } from "../store/processes.ts"
import type { ProcessState, ReportedState } from "./process-state.ts"

/** What there is to say of this process; `state` is asked at every beat. */
export interface HeartbeatSettings {
  readonly database: Database
  readonly roles: readonly string[]
  readonly version: string
  readonly state: () => ReportedState
}

const states: readonly ProcessState["state"][] = ["active", "degraded", "draining"]
const everyMs = 5_000
/** A process that said nothing for so long is not listed any more: it has ended, or its database connection has. */
const silentSecondsMax = 30

/** This process in the list of the fleet: says itself every five seconds and at once when its plan changes. */
export class Heartbeat {
  readonly #settings: HeartbeatSettings
  readonly #id = newId()
  readonly #startedAt = new Date()
  #timer: NodeJS.Timeout | undefined
  /** The report on its way. Connections of a pool overtake each other: one at a time, and none behind the goodbye. */
  #speaking: Promise<void> | undefined
  /** Something changed while a report was on its way. */
  #hasMore = false
  #stopped = false

  constructor(settings: HeartbeatSettings) {
    this.#settings = settings
  }

  start(): void {
    this.beat()
    this.#timer = setInterval(() => this.beat(), everyMs)
    this.#timer.unref()
  }

  /** Says itself now. A database that is away is no trouble here: the next beat says more. */
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

  async #report(): Promise<void> {
    const { database, roles, version, state } = this.#settings
    const { serial, error, ...own } = state()
    await reportProcess(database, {
      id: this.#id,
      role: roles.join(","),
      version,
      activeSerial: serial,
      lastError: error ?? "",
      ...own,
    })
  }

  /** The processes that spoke lately. */
  async fleet(): Promise<ProcessStatus[]> {
    const records = await listProcesses(this.#settings.database)
    return records
      .filter(({ silentSeconds }) => silentSeconds <= silentSecondsMax)
      .map(({ role, activeSerial, lastError, startedAt, heartbeatAt, silentSeconds: _, ...record }) => ({
        ...record,
        reasons: [...record.reasons],
        roles: role.split(","),
        startedAt: startedAt.toISOString(),
        seenAt: heartbeatAt.toISOString(),
        serial: activeSerial,
        error: lastError || null,
        state: states.find((state) => state === record.state) ?? "degraded",
      }))
  }

  /** This process, as it is now: what there is to say when the database cannot be asked. */
  own(): ProcessStatus {
    const { roles, version, state } = this.#settings
    const now = new Date().toISOString()
    const startedAt = this.#startedAt.toISOString()
    const { serial, error, subscriptions, ...own } = state()
    return {
      ...{ id: this.#id, host: hostname(), pid: process.pid, roles: [...roles], version, startedAt },
      ...{ seenAt: now, serial, error, subscriptions, state: own.state, reasons: [...own.reasons] },
    }
  }

  async stop(): Promise<void> {
    this.#stopped = true
    clearInterval(this.#timer)
    await this.#speaking
    await removeProcess(this.#settings.database, this.#id).catch(() => undefined)
  }
}
