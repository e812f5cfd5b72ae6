import { type Capability, probeCapabilities, refusalOfServer } from "../store/capabilities.ts"
import type { Database } from "../store/database.ts"
import type { Log } from "../telemetry/log.ts"

/** A database that is unavailable, or not migrated yet, is tried again after this time, in milliseconds. */
const againMs = 5_000

/** Finds out in the background what the database server can do, once per process. */
export class ServerCapabilities {
  readonly #database: Database
  readonly #log: Log
  #found: readonly Capability[] = []
  #timer: NodeJS.Timeout | undefined
  #closed = false

  constructor(database: Database, log: Log) {
    this.#database = database
    this.#log = log
  }

  /** Empty until the server has answered, and for the embedded database. */
  get found(): readonly Capability[] {
    return this.#found
  }

  /** Why the process cannot work on this server. */
  get reasons(): readonly string[] {
    const refusal = refusalOfServer(this.#found)
    return refusal === undefined ? [] : [refusal]
  }

  start(): void {
    probeCapabilities(this.#database, "without tables").then(
      (found) => {
        this.#found = found
        for (const { name, reason, without = "Sallyport cannot work" } of found)
          if (reason !== undefined)
            this.#log.warn(
              { capability: name, error: reason },
              `the database server does not have a capability that Sallyport uses: ${without}`,
            )
      },
      () => {
        if (this.#closed) return
        this.#timer = setTimeout(() => this.start(), againMs)
        this.#timer.unref()
      },
    )
  }

  close(): void {
    this.#closed = true
    clearTimeout(this.#timer)
  }
}
