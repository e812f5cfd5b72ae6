import type { ProcessStatus } from "../control/api.ts"
import type { Database } from "../store/database.ts"
import { newId } from "../store/ids.ts"
import { listProcesses, removeProcess, reportProcess } from "../store/processes.ts"

/** What there is to say of this process; `state` is asked at every beat. */
export interface HeartbeatSettings {
  readonly database: Database
  readonly roles: readonly string[]
  readonly version: string
  readonly state: () => { readonly serial: number | null; readonly error: string | null }
}

const everyMs = 5_000
/** A process that said nothing for so long is not listed any more: it has ended, or its database connection has. */
const silentSecondsMax = 30

/** This process in the list of the fleet: says itself every five seconds and at once when its plan changes. */
export class Heartbeat {
  readonly #settings: HeartbeatSettings
  readonly #id = newId()
  #timer: NodeJS.Timeout | undefined

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
    const { database, roles, version, state } = this.#settings
    const { serial, error } = state()
    reportProcess(database, {
      id: this.#id,
      role: roles.join(","),
      version,
      activeSerial: serial,
      lastError: error ?? "",
    }).catch(() => undefined)
  }

  /** The processes that spoke lately. */
  async fleet(): Promise<ProcessStatus[]> {
    const records = await listProcesses(this.#settings.database)
    return records
      .filter(({ silentSeconds }) => silentSeconds <= silentSecondsMax)
      .map(({ id, role, version, activeSerial, lastError, host, pid, startedAt, heartbeatAt }) => ({
        id,
        host,
        pid,
        roles: role.split(","),
        version,
        startedAt: startedAt.toISOString(),
        seenAt: heartbeatAt.toISOString(),
        serial: activeSerial,
        error: lastError || null,
      }))
  }

  async stop(): Promise<void> {
    clearInterval(this.#timer)
    await removeProcess(this.#settings.database, this.#id).catch(() => undefined)
  }
}
