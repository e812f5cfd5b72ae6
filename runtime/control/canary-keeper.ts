import type { CanaryTerms, PreparedCanary } from "../gateway/canary/running-canary.ts"
import type { Plan } from "../plan/plan.ts"
import { readPlan } from "../plan/read.ts"
import {
  beginCanary,
  newestCanary,
  planOfCanary,
  reportCanary,
  type StoredCanary,
} from "../store/canaries.ts"
import type { Database } from "../store/database.ts"
import { newId } from "../store/ids.ts"
import { listenToPlans, type PlanIdentity } from "../store/plans.ts"
import type { Log } from "../telemetry/log.ts"
import { PlanRefused } from "./plan-keeper.ts"
import type { CanaryBegun, CanaryEntry, CanaryKnowledge } from "./ports.ts"
import { isSamePlan, unreadable } from "./refused-plan.ts"

/** Serves a second plan in this process. `prepareCanary` rejects with `PlanRefused` when it cannot run the plan. */
export interface CanaryHost {
  prepareCanary(plan: Plan, terms: CanaryTerms): Promise<PreparedCanary>
  endCanary(): void
}

/** What a process needs to follow canaries. */
export interface CanaryKeeperSettings {
  readonly database: Database
  readonly host: CanaryHost
  readonly log: Log
  /** The plan that this process serves from the history; undefined: none, or one from a file. */
  readonly served: () => PlanIdentity | undefined
  /** The process in reports. `name`: `host:pid`. */
  readonly process: { readonly id: string; readonly name: string }
  /** Interval of polls, in milliseconds (default: 1,000). Notices come earlier. */
  readonly pollMs?: number
}

const pollMsDefault = 1_000
/** A canary that no process judges for this long, or that the database cannot confirm, is given up: nobody would notice that it fails. */
const unwatchedSecondsMax = 30

/**
 * Serves the canary of the fleet in this process, beside the plan that it is compared with, and gives it up whenever something is in doubt: the
 * database does not answer, nobody judges it, or another plan runs. One operation at a time.
 */
export class CanaryKeeper {
  readonly #settings: CanaryKeeperSettings
  #serving: string | undefined
  /** The canary whose plan this process cannot serve. */
  #refused: string | undefined
  #confirmedAtMs = performance.now()
  #known: CanaryKnowledge = "unknown"
  #turn: Promise<unknown> = Promise.resolve()
  #timer: NodeJS.Timeout | undefined
  #stopListening: () => void = () => undefined
  #closed = false
  /** Called in each round with the canary that began last. */
  onSeen: (canary: StoredCanary | undefined) => Promise<void> = async () => undefined

  constructor(settings: CanaryKeeperSettings) {
    this.#settings = settings
  }

  /** Whether a canary ran when the database last answered; `unknown` if it has not since this process started. */
  get known(): CanaryKnowledge {
    return this.#known
  }

  /** Follows from then on. Does not reject: failures are retried. */
  async start(): Promise<void> {
    this.#stopListening = listenToPlans(this.#settings.database, () => void this.look())
    await this.look()
    this.#schedule()
  }

  async close(): Promise<void> {
    this.#closed = true
    this.#stopListening()
    clearTimeout(this.#timer)
    await this.#turn
  }

  /** Follows what the database says now. */
  look(): Promise<void> {
    return this.#inTurn(async () => {
      if (!this.#closed) await this.#round()
    })
  }

  /** Prepares, stores and activates, in this order, so that at least this process can serve every canary. */
  begin(entry: CanaryEntry): Promise<CanaryBegun> {
    return this.#inTurn<CanaryBegun>(async () => {
      const { database, host, served } = this.#settings
      if (!isSamePlan(served(), entry.base)) return { kind: "stale" }
      const id = newId()
      const prepared = await host.prepareCanary(entry.plan, { id, percent: entry.percent })
      const begun = await beginCanary(database, { ...entry, id }).catch((error: unknown) => {
        prepared.discard()
        throw error
      })
      if (typeof begun === "string") {
        prepared.discard()
        return { kind: begun }
      }
      prepared.activate()
      this.#known = "running"
      this.#serves(begun)
      return { kind: "begun", canary: begun }
    }).catch((error: unknown) => {
      if (error instanceof PlanRefused) return { kind: "refused", problems: error.problems }
      throw error
    })
  }

  async #round(): Promise<void> {
    const { database, log } = this.#settings
    try {
      const canary = await newestCanary(database)
      this.#confirmedAtMs = performance.now()
      this.#known = canary?.state === "running" ? "running" : "none"
      if (canary === undefined || !this.#shallServe(canary)) this.#end(canary?.reason)
      else if (canary.id !== this.#serving && canary.id !== this.#refused) await this.#serve(canary)
      await this.onSeen(canary)
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error)
      if (this.#serving === undefined) return
      if (performance.now() - this.#confirmedAtMs > unwatchedSecondsMax * 1_000)
        this.#end(`the database does not confirm it: ${reason}`)
      else log.warn({ canary: this.#serving, reason }, "the canary could not be confirmed")
    }
  }

  #shallServe({ base, id, state, unwatchedSeconds }: StoredCanary): boolean {
    if (!isSamePlan(this.#settings.served(), base)) return false
    // Its plan is about to replace the running one: until then nothing changes for its callers.
    if (state === "promoted") return this.#serving === id
    return state === "running" && unwatchedSeconds <= unwatchedSecondsMax
  }

  async #serve(canary: StoredCanary): Promise<void> {
    const { database, host, process, log } = this.#settings
    const { id, percent } = canary
    const stored = readPlan(await planOfCanary(database, id))
    try {
      if ("problems" in stored) throw new PlanRefused([{ path: "", message: unreadable(stored.problems) }])
      const prepared = await host.prepareCanary(stored.plan, { id, percent })
      prepared.activate()
      this.#serves(canary)
    } catch (error) {
      if (!(error instanceof PlanRefused)) throw error
      this.#refused = id
      log.error({ canary: id, reason: error.message }, "the plan of the canary cannot be served here")
      const { id: own, name } = process
      await reportCanary(database, id, { process: own, name, counts: undefined, error: error.message })
    }
  }

  #serves({ id, percent, digest, seconds }: StoredCanary): void {
    this.#serving = id
    this.#settings.log.info({ canary: id, digest, percent, seconds }, "serving a canary")
  }

  #end(reason: string | undefined): void {
    if (this.#serving === undefined) return
    this.#settings.host.endCanary()
    this.#settings.log.info({ canary: this.#serving, reason: reason || undefined }, "the canary is over")
    this.#serving = undefined
  }

  #schedule(): void {
    if (this.#closed) return
    this.#timer = setTimeout(async () => {
      await this.look()
      this.#schedule()
    }, this.#settings.pollMs ?? pollMsDefault)
    this.#timer.unref()
  }

  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const turn = this.#turn.then(work)
    this.#turn = turn.catch(() => {})
    return turn
  }
}
