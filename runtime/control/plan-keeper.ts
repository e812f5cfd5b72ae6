import { SourceUnavailable } from "../check/ports.ts"
import type { Plan, PlanBody } from "../plan/plan.ts"
import { readPlan } from "../plan/read.ts"
import type { Database } from "../store/database.ts"
import { type DeclaredStore, declaredStores } from "../store/declared-stores.ts"
import { isSchemaFault } from "../store/fault.ts"
import {
  currentPlan,
  declareStores,
  hasPlan,
  historyIdentity,
  insertPlan,
  listenToPlans,
  type PlanBase,
  type PlanHeader,
  type PlanIdentity,
  planBySerial,
  planHistory,
  planNews,
  type StoredPlan,
} from "../store/plans.ts"
import type { Log } from "../telemetry/log.ts"
import { type PlanAnswer, type PlanRecord, provenance } from "./api.ts"
import {
  type ApplyOrigin,
  type ApplyOutcome,
  type ApplyProblem,
  type KeptPlan,
  type OutageOutcome,
  type OutageRequest,
  type OutageRollback,
  type PlanDisk,
  type RunningPlan,
  Unavailable,
} from "./ports.ts"
import { isSamePlan, RefusedPlan, RefusedSerial, unreadable } from "./refused-plan.ts"

/** A plan that is ready to replace the running one. Call exactly one of the two methods, once. */
export interface Prepared {
  /** Makes it the running plan. Cannot fail: every step that can fail came before. Resolves when this process, and all of its workers, serve it. */
  activate(stores: ReadonlyMap<string, DeclaredStore>): Promise<void>
  discard(): Promise<void>
}

/** Runs plans in this process. `prepare` rejects with `PlanRefused` when this process cannot run the plan. */
export interface Servable {
  prepare(plan: Plan): Promise<Prepared>
}

/** All reasons why this process cannot run a plan. */
export class PlanRefused extends Error {
  override readonly name = "PlanRefused"
  readonly problems: readonly ApplyProblem[]

  constructor(problems: readonly ApplyProblem[]) {
    super(
      problems
        .map(({ message, origin }) => (origin === undefined ? message : `${origin}: ${message}`))
        .join("; "),
    )
    this.problems = problems
  }
}

/** Rollbacks without the database, as far as they decide which plan runs. */
export interface OutageJournal {
  /** Takes what was done without the database into it, before anything newer. Rejects with `SourceUnavailable`. */
  settle(): Promise<void>
  /** The plan that replaces `base`, with its rollback. A text says why it cannot be served; undefined: none does. */
  pending(
    base: PlanIdentity,
  ): Promise<{ readonly plan: Plan; readonly rollback: OutageRollback } | string | undefined>
}

/** Where plans are stored, and what runs them. */
export interface PlanKeeperSettings {
  readonly database: Database
  readonly servable: Servable
  readonly log: Log
  /** Absent: no plan is kept on disk, and a start without the database runs no plan. */
  readonly disk?: PlanDisk | undefined
  /** Interval of polls for a newer plan, in milliseconds (default: 1,000). Notices of other processes come earlier. */
  readonly pollMs?: number
  /** Absent: this process cannot roll back without the database. */
  readonly outage?: OutageJournal | undefined
  /** Called when the database no longer contains the running plan. */
  readonly onHistoryLost?: (held: PlanIdentity, found: PlanIdentity | undefined) => void
}

const pollMsDefault = 1_000

/** The plan of this process: loads it at the start, applies new ones, follows those of other processes. One operation at a time. */
export class PlanKeeper {
  readonly #settings: PlanKeeperSettings
  #identity: PlanIdentity | undefined
  /** The plan that was last reported as lost. */
  #lost: PlanIdentity | undefined
  #served: PlanBody | null = null
  #error: string | null = null
  #isDatabaseAway = false
  #databaseAwayAtMs = Number.NEGATIVE_INFINITY
  #refused: RefusedPlan | null = null
  /** Set while the running plan comes from disk and the database has not confirmed that it is the newest. */
  #kept: KeptPlan | undefined
  /** Why the plan on disk is not used although it was needed. */
  #keptTrouble: string | undefined
  #digest = ""
  /** Set while a plan is served that the history does not have as its newest one. */
  #rollback: OutageRollback | undefined
  /** Those of the running plan. Empty while it comes from disk. */
  #stores: ReadonlyMap<string, DeclaredStore> = new Map()
  #turn: Promise<unknown> = Promise.resolve()
  #writing: Promise<void> = Promise.resolve()
  #timer: NodeJS.Timeout | undefined
  #stopListening: () => void = () => undefined
  /** A round that starts later reads the change that a notice announced. */
  #roundWaits = false
  #closed = false
  /** Called after every change of `serial` or `error`. */
  onChange: () => void = () => {}

  constructor(settings: PlanKeeperSettings) {
    this.#settings = settings
  }

  /** Serial of the running plan; null without a plan, or with one from a file. */
  get serial(): number | null {
    return this.#identity?.serial ?? null
  }

  /** The running plan in the history; undefined without a plan, with one from a file or from disk, and after a rollback without the database. */
  get identity(): PlanIdentity | undefined {
    return this.#isConfirmed ? this.#identity : undefined
  }

  /** Whether the running plan was the newest one when the database last answered. */
  get #isConfirmed(): boolean {
    return this.#kept === undefined && this.#rollback === undefined
  }

  /** The running plan and its base; undefined without a plan, and with one from a file. */
  get running(): RunningPlan | undefined {
    if (this.#identity === undefined || this.#served === null) return undefined
    const place = { ...this.#identity, digest: this.#digest }
    return { place, base: this.#rollback?.base ?? place, body: this.#served }
  }

  /** The content of the running plan; null without a plan. */
  get served(): PlanBody | null {
    return this.#served
  }

  /** Why this process does not run the newest plan; null when it does. */
  get error(): string | null {
    return this.#error
  }

  /** Serial of the newest plan, when this process cannot serve it; else null. */
  get refusedSerial(): number | null {
    return this.#refused?.identity.serial ?? null
  }

  /** Whether the last poll failed because the database was unavailable; `error` then says how. */
  get isDatabaseAway(): boolean {
    return this.#isDatabaseAway
  }

  /** Whether a poll failed for that reason in the last milliseconds. */
  wasDatabaseAway(withinMs: number): boolean {
    return performance.now() - this.#databaseAwayAtMs <= withinMs
  }

  /** A message about the plan on disk while it is needed, else undefined. */
  get kept(): string | undefined {
    if (this.#rollback !== undefined) return rollbackText(this.#rollback)
    if (this.#kept === undefined) return this.#served === null ? this.#keptTrouble : undefined
    const { identity, keptAt } = this.#kept
    return `plan ${identity.serial} is served from disk, where it was saved at ${keptAt.toISOString()}`
  }

  /** When the running plan was saved; undefined unless it comes from disk. */
  get keptAt(): Date | undefined {
    return this.#kept?.keptAt
  }

  /** Runs the newest plan, if there is one, and follows from then on. Does not reject: failures are in `error` and are retried. */
  async start(): Promise<void> {
    this.#stopListening = listenToPlans(this.#settings.database, () => this.look())
    await this.#inTurn(() => this.#round())
    this.#schedule()
  }

  /**
   * Runs a plan that is not in the history.
   * @throws PlanRefused, SourceUnavailable
   */
  async serveFile(plan: Plan): Promise<void> {
    const prepared = await this.#settings.servable.prepare(plan)
    try {
      await prepared.activate(await declareStores(this.#settings.database, plan.plan))
      this.#served = plan.plan
    } catch (error) {
      await prepared.discard()
      throw error
    }
  }

  async close(): Promise<void> {
    this.#closed = true
    this.#stopListening()
    clearTimeout(this.#timer)
    await this.#turn
    await this.#writing
  }

  /**
   * Prepares, stores and activates, in this order, so that at least this process can run every stored plan.
   * @throws Unavailable when the database does not answer. The plan is then either not stored, or stored and activated when the database is
   * back.
   */
  apply(plan: Plan, base: PlanBase | null, author: ApplyOrigin): Promise<ApplyOutcome> {
    return this.#inTurn<ApplyOutcome>(async () => {
      const { database, servable, outage } = this.#settings
      await outage?.settle()
      const [current] = await planHistory(database, 1)
      const held = this.#identity
      if (held !== undefined && !(await hasPlan(database, held))) this.#tellLoss(current)
      if (!isBase(base, current))
        return { kind: "stale", current: current === undefined ? null : recordOf(current) }
      const isServed = isSamePlan(this.#identity, current) && this.#isConfirmed
      if (current?.digest === plan.digest && isServed && this.#refused === null) {
        return { kind: "done", answer: { applied: false, record: recordOf(current) } }
      }
      const prepared = await servable.prepare(plan)
      try {
        return await this.#store(plan, base, author, prepared)
      } catch (error) {
        await prepared.discard()
        throw error
      }
    }).catch((error: unknown) => {
      if (error instanceof PlanRefused) return { kind: "refused", problems: error.problems }
      throw asUnavailable(error)
    })
  }

  /** Stores a plan that was provisioned, and serves it. Another plan meanwhile makes it stale, and nothing is changed. */
  async #store(
    plan: Plan,
    base: PlanBase | null,
    author: ApplyOrigin,
    prepared: Prepared,
  ): Promise<ApplyOutcome> {
    const { database, log } = this.#settings
    const inserted = await insertPlan(database, {
      plan,
      base,
      appliedBy: author.who,
      gitCommit: author.commit ?? undefined,
      message: author.message ?? undefined,
      provenance: author.provenance === undefined ? undefined : JSON.stringify(author.provenance),
    })
    if (inserted.kind === "stale") {
      await prepared.discard()
      return { kind: "stale", current: inserted.current === undefined ? null : recordOf(inserted.current) }
    }
    if (inserted.kind === "refused") {
      await prepared.discard()
      const path = `authz.stores.${inserted.store}`
      const message = `store ${inserted.store}: ${inserted.message}`
      return { kind: "refused", problems: [{ path, message, origin: plan.origins[path] }] }
    }
    await prepared.activate(inserted.stores)
    const record = recordFor(inserted, plan, author)
    this.#nowServes(record, plan, inserted.stores)
    const { who, commit, message } = author
    const optional = { commit: commit ?? undefined, message: message ?? undefined }
    log.info({ serial: inserted.serial, digest: plan.digest, who, ...optional }, "plan applied; serving it")
    return { kind: "done", answer: { applied: true, record } }
  }

  async current(): Promise<PlanAnswer | undefined> {
    return this.#answer(() => currentPlan(this.#settings.database))
  }

  async plan(serial: number): Promise<PlanAnswer | undefined> {
    return this.#answer(() => planBySerial(this.#settings.database, serial))
  }

  async history(limit: number): Promise<readonly PlanRecord[]> {
    return (await planHistory(this.#settings.database, limit).catch(rethrowUnavailable)).map(recordOf)
  }

  /** What identifies the history for seals. */
  async historyIdentity(): Promise<string> {
    return historyIdentity(this.#settings.database).catch(rethrowUnavailable)
  }

  async #answer(read: () => Promise<StoredPlan | undefined>): Promise<PlanAnswer | undefined> {
    const stored = await read().catch(rethrowUnavailable)
    return stored === undefined ? undefined : { record: recordOf(stored), plan: stored.plan as Plan }
  }

  /** Looks at the database soon, instead of at the next poll. */
  look(): void {
    if (this.#roundWaits || this.#closed) return
    this.#roundWaits = true
    void this.#inTurn(() => {
      this.#roundWaits = false
      return this.#round()
    })
  }

  #schedule(): void {
    if (this.#closed) return
    this.#timer = setTimeout(async () => {
      await this.#inTurn(() => this.#round())
      this.#schedule()
    }, this.#settings.pollMs ?? pollMsDefault)
    this.#timer.unref()
  }

  /**
   * Runs the database's newest plan if it is not the running one: it is newer, or belongs to a history without the running plan. A refused
   * plan is tried again at intervals, because a port may become free and a file may appear.
   */
  async #follow(): Promise<unknown> {
    const { database, servable, log, outage } = this.#settings
    try {
      await outage?.settle()
      const waits = (await this.#refused?.waits(database)) === true
      // A plan from disk has no stores, so read the newest plan even if it is the same.
      const read = this.#isConfirmed ? this.#identity : undefined
      const news = await planNews(database, this.#identity, (waits ? this.#refused?.identity : read) ?? null)
      if (news === undefined) {
        if (!waits) this.#refused = null
        this.#changed(this.#identity, this.#refused?.message ?? null)
        return undefined
      }
      const newer = news.plan
      if (news.lost) this.#tellLoss(newer)
      if (newer === undefined) throw noPlanAnyMore()
      const stored = readPlan(newer.plan)
      if ("problems" in stored) throw new RefusedSerial(newer, unreadable(stored.problems), false)
      const prepared = await servable.prepare(stored.plan).catch((error: unknown) => {
        throw new RefusedSerial(newer, error, true)
      })
      const stores = await declaredStores(database).catch(async (error: unknown) => {
        await prepared.discard()
        throw error
      })
      await prepared.activate(stores)
      this.#nowServes(recordOf(newer), stored.plan, stores)
      log.info({ serial: newer.serial, digest: newer.digest }, "serving plan")
      return undefined
    } catch (error) {
      this.#failed(error)
      return error
    }
  }

  /** Notes the plan that is served and writes it to the disk. */
  #nowServes(record: PlanRecord, plan: Plan, stores: ReadonlyMap<string, DeclaredStore>): void {
    this.#served = plan.plan
    this.#digest = plan.digest
    this.#stores = stores
    this.#refused = null
    this.#kept = undefined
    this.#keptTrouble = undefined
    this.#rollback = undefined
    this.#changed(record, null)
    // Only `close` waits for the disk, which may be slow.
    this.#writing = this.#writing.then(() => this.#settings.disk?.write(record, plan))
  }

  /**
   * Serves an earlier plan in this process alone, until the database answers. Its stores are those of the running plan, so callers make sure that both
   * plans declare the same.
   */
  rollBackAlone({ target, from, note }: OutageRequest): Promise<OutageOutcome> {
    return this.#inTurn<OutageOutcome>(async () => {
      const { running } = this
      if (running === undefined || !isBase(from, running.place))
        return { kind: "stale", running: running?.place }
      const { plan, record } = target
      const prepared = await this.#settings.servable.prepare(plan)
      const rollback = await note(running).catch(async (error: unknown) => {
        await prepared.discard()
        throw error
      })
      await prepared.activate(this.#stores)
      this.#servesAlone(record, plan, rollback)
      return { kind: "done", rollback }
    }).catch((error: unknown) => {
      if (error instanceof PlanRefused) return { kind: "refused", problems: error.problems }
      throw error
    })
  }

  #servesAlone(identity: PlanIdentity, plan: Plan, rollback: OutageRollback): void {
    this.#served = plan.plan
    this.#digest = plan.digest
    this.#rollback = rollback
    const { base, who } = rollback
    this.#settings.log.warn(
      { serial: identity.serial, base: base.serial, who },
      "serving an earlier plan: rolled back without the database",
    )
    // It is notable even if the serial is the same.
    this.#changed(identity, this.#error)
    this.onChange()
  }

  /**
   * Falls back to the plan on disk while no plan runs and the database is down, or its newest plan cannot run. If the database says that
   * there is no plan, the plan on disk is not used.
   */
  async #round(): Promise<void> {
    const failure = await this.#follow()
    if (this.#served !== null) return
    if (failure instanceof SourceUnavailable || failure instanceof RefusedSerial) await this.#serveKept()
  }

  /** Its stores come from the database; until then the engine cannot answer their questions. */
  async #serveKept(): Promise<void> {
    const { disk, servable, log, outage } = this.#settings
    const kept = await disk?.read()
    if (kept === undefined) return
    if (typeof kept === "string") return this.#keptFailed(kept)
    // A rollback of this process outlives its restart.
    const pending = await outage?.pending(kept.identity)
    if (typeof pending === "string") log.error(pending)
    const instead = typeof pending === "string" ? undefined : pending
    const plan = instead?.plan ?? kept.plan
    const { serial } = instead?.rollback.to ?? kept.identity
    try {
      const prepared = await servable.prepare(plan)
      await prepared.activate(new Map())
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error)
      return this.#keptFailed(`plan ${serial}, kept on disk, cannot be served: ${reason}`)
    }
    this.#kept = kept
    if (instead !== undefined) return this.#servesAlone(instead.rollback.to, plan, instead.rollback)
    this.#served = plan.plan
    this.#digest = plan.digest
    const { identity, keptAt } = kept
    const ageSeconds = Math.round((Date.now() - keptAt.getTime()) / 1_000)
    log.warn(
      { serial: identity.serial, kept_at: keptAt, age_seconds: ageSeconds, reason: this.#error },
      "serving the plan kept on disk",
    )
    this.#changed(identity, this.#error)
  }

  #keptFailed(trouble: string): void {
    if (trouble === this.#keptTrouble) return
    this.#keptTrouble = trouble
    this.#settings.log.warn(trouble)
    this.onChange()
  }

  /** Once for each running plan, because it may take a while until the newest plan can run. */
  #tellLoss(found: PlanIdentity | undefined): void {
    const held = this.#identity
    if (held === undefined || isSamePlan(held, this.#lost)) return
    this.#lost = held
    this.#settings.onHistoryLost?.(held, found)
  }

  /** Notes why the newest plan could not be read or served. A repeated reason is logged once. */
  #failed(error: unknown): void {
    const { log } = this.#settings
    if (error instanceof RefusedSerial) {
      const isNews = error.message !== this.#refused?.message
      this.#refused = new RefusedPlan(error, this.#refused)
      if (isNews)
        log.error(
          { serial: error.identity.serial, reason: error.message },
          `the newest plan cannot be served here; ${this.#served === null ? "no plan is served" : "the previous plan stays in use"}`,
        )
    } else if (!isForeseen(error)) log.error({ err: error }, "checking for a newer plan failed")
    const text = error instanceof Error ? error.message : String(error)
    this.#isDatabaseAway = error instanceof SourceUnavailable
    if (this.#isDatabaseAway) this.#databaseAwayAtMs = performance.now()
    this.#changed(this.#identity, this.#isDatabaseAway ? `the database is unavailable: ${text}` : text)
  }

  #changed(identity: PlanIdentity | undefined, error: string | null): void {
    if (error === null) this.#isDatabaseAway = false
    if (isSamePlan(identity, this.#identity) && error === this.#error) return
    this.#identity = identity === undefined ? undefined : { serial: identity.serial, stamp: identity.stamp }
    this.#error = error
    this.onChange()
  }

  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const turn = this.#turn.then(work)
    this.#turn = turn.catch(() => {})
    return turn
  }
}

/** A database that is down or not migrated: `readyz` reports it, so the log need not repeat it every second. */
function isForeseen(error: unknown): boolean {
  return error instanceof SourceUnavailable || isSchemaFault(error)
}

function noPlanAnyMore(): SourceUnavailable {
  return new SourceUnavailable(
    "the database has no plan; the last plan stays in use until another one is applied",
  )
}

/** Whether the newest plan is the one that the new plan was compared with. */
function isBase(base: PlanBase | null, current: PlanIdentity | undefined): boolean {
  if (base === null || current === undefined) return base === null && current === undefined
  return current.serial === base.serial && (base.stamp === undefined || base.stamp === current.stamp)
}

function rollbackText({ to, base, who, message, at }: OutageRollback): string {
  const reason = message === null ? "" : ` (${message})`
  return `plan ${to.serial} is served instead of plan ${base.serial}: rolled back without the database by ${who} at ${at}${reason}`
}

/** A plan as the API shows it. */
export function recordOf(header: PlanHeader): PlanRecord {
  return {
    serial: header.serial,
    stamp: header.stamp,
    digest: header.digest,
    at: header.appliedAt.toISOString(),
    who: header.appliedBy,
    commit: header.gitCommit || null,
    message: header.message || null,
    ...provenanceOf(header),
  }
}

/** That of a later version may not be readable here. */
function provenanceOf({ provenance: text }: PlanHeader): Pick<PlanRecord, "provenance"> {
  if (text === undefined) return {}
  const read = provenance.safeParse(JSON.parse(text))
  return read.success ? { provenance: read.data } : {}
}

function recordFor({ serial, stamp }: PlanIdentity, plan: Plan, author: ApplyOrigin): PlanRecord {
  return { serial, stamp, digest: plan.digest, at: new Date().toISOString(), ...author }
}

function asUnavailable(error: unknown): unknown {
  return error instanceof SourceUnavailable ? new Unavailable(error.message) : error
}

function rethrowUnavailable(error: unknown): never {
  throw asUnavailable(error)
}
