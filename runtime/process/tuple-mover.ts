import type { Database } from "../store/database.ts"
import { newId } from "../store/ids.ts"
import { advanceMoves } from "../store/tuple-moves.ts"
import type { Log } from "../telemetry/log.ts"

/** Between two looks for work. */
const idleMs = 2_000
/** Between two batches, so that writers of the store take their turns. */
const pauseMs = 10

/**
 * Copies and deletes the tuples of moves, in small transactions. Every process with the control role runs one; the database lets one of them
 * work on a move at a time.
 */
export class TupleMover {
  readonly #database: Database
  readonly #log: Log
  readonly #owner = newId()
  #timer: NodeJS.Timeout | undefined
  #working: Promise<void> = Promise.resolve()
  #closed = false

  constructor(database: Database, log: Log) {
    this.#database = database
    this.#log = log
    this.#schedule(idleMs)
  }

  /** Waits for the batch in progress. Another process continues with the next one. */
  async close(): Promise<void> {
    this.#closed = true
    clearTimeout(this.#timer)
    await this.#working
  }

  #schedule(ms: number): void {
    if (this.#closed) return
    this.#timer = setTimeout(() => {
      this.#working = this.#advance()
    }, ms)
    this.#timer.unref()
  }

  async #advance(): Promise<void> {
    try {
      this.#schedule((await advanceMoves(this.#database, this.#owner)) ? pauseMs : idleMs)
    } catch (error) {
      // The database is unavailable; the next attempt goes on from the last commit.
      this.#log.debug({ err: error }, "tuples could not be moved")
      this.#schedule(idleMs)
    }
  }
}
