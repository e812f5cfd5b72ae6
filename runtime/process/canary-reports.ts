import { hostname } from "node:os"
import type { Gateway } from "../gateway/gateway.ts"
import { reportCanary } from "../store/canaries.ts"
import type { Database } from "../store/database.ts"

const everyMs = 1_000
/** A report without news shows that the process lives. */
const silentMs = 5_000

/** `host:pid` of this process. */
export const processName = `${hostname()}:${process.pid}`

/** Stores what this process has counted while its gateway runs a canary. */
export class CanaryReports {
  readonly #database: Database
  readonly #gateway: Pick<Gateway, "canary">
  readonly #process: string
  #last: { readonly text: string; readonly atMs: number } | undefined
  #writing: Promise<void> | undefined
  #timer: NodeJS.Timeout | undefined

  /** `process`: its name in the fleet. */
  constructor(database: Database, gateway: Pick<Gateway, "canary">, process: string) {
    this.#database = database
    this.#gateway = gateway
    this.#process = process
  }

  start(): void {
    this.#timer = setInterval(() => {
      // One at a time: connections of a pool may overtake each other.
      this.#writing ??= this.#report().finally(() => {
        this.#writing = undefined
      })
    }, everyMs).unref()
  }

  async close(): Promise<void> {
    clearInterval(this.#timer)
    await this.#writing
    await this.#report()
  }

  /** Ignores an unavailable database: the next report has the same counts and later ones. */
  async #report(): Promise<void> {
    const canary = this.#gateway.canary()
    if (canary === undefined) return
    const counts = JSON.stringify(canary.counts)
    const text = `${canary.id} ${counts}`
    const now = performance.now()
    if (text === this.#last?.text && now - this.#last.atMs < silentMs) return
    const report = { process: this.#process, name: processName, counts, error: "" }
    await reportCanary(this.#database, canary.id, report).then(
      () => {
        this.#last = { text, atMs: now }
      },
      () => undefined,
    )
  }
}
