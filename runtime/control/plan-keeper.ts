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
  insertPlan,
  type PlanBase,
  type PlanHeader,
  type PlanIdentity,
  planBySerial,
  planHistory,
  planNews,
  type StoredPlan,
} from "../store/plans.ts"
import type { Log } from "../telemetry/log.ts"
import type { Author, PlanAnswer, PlanRecord } from "./api.ts"
import { type ApplyOutcome, type ApplyProblem, type KeptPlan, type PlanDisk, Unavailable } from "./ports.ts"
import { isSamePlan, RefusedPlan, RefusedSerial, unreadable } from "./refused-plan.ts"

/** A plan that stands beside the running one. Exactly one of the two is called, once. */
export interface Prepared {
  /** Makes it the running one. Does not fail: all that can was done before. */
  activate(stores: ReadonlyMap<string, DeclaredStore>): void
  discard(): Promise<void>
}

/** What serves plans in this process. `prepare` rejects with `PlanRefused` when it cannot serve this one. */
export interface Servable {
  prepare(plan: Plan): Promise<Prepared>
}

/** Why this process cannot serve a plan: all reasons at once. */
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

/** Where plans are kept, and who serves them here. */
export interface PlanKeeperSettings {
  readonly database: Database
  readonly servable: Servable
  readonly log: Log
  /** Absent: nothing is kept, and a start without the database serves nothing. */
  readonly disk?: PlanDisk | undefined
  /** How often the database is asked for a newer plan. */
  readonly pollMs?: number
  /** Told when the database does not have the plan any more that was served here. */
  readonly onHistoryLost?: (held: PlanIdentity, found: PlanIdentity | undefined) => void
}

const pollMsDefault = 1_000

/** The plan this process serves: brings it in at start, applies new ones, follows what other processes apply. One at a time. */
export class PlanKeeper {
  readonly #settings: PlanKeeperSettings
  #identity: PlanIdentity | undefined
  /** What was served and is told to be lost. */
  #lost: PlanIdentity | undefined
  #served: PlanBody | null = null
  #error: string | null = null
  #refused: RefusedPlan | null = null
  /** The plan served comes from disk, and the database has not said yet that it is the newest. */
  #kept: KeptPlan | undefined
  /** Why the one on disk is not served, where one was needed. */
  #keptTrouble: string | undefined
  #turn: Promise<unknown> = Promise.resolve()
  #writing: Promise<void> = Promise.resolve()
  #timer: NodeJS.Timeout | undefined
  #closed = false
  /** Called after every change of `serial` or `error`. */
  onChange: () => void = () => {}

  constructor(settings: PlanKeeperSettings) {
    this.#settings = settings
  }

  /** Serial of the plan served, null when none (or one from a file) is. */
  get serial(): number | null {
    return this.#identity?.serial ?? null
  }

  /** The content of the plan served, null when none is. */
  get served(): PlanBody | null {
    return this.#served
  }

  /** Why the newest plan is not served here; null when it is. */
  get error(): string | null {
    return this.#error
  }

  /** What there is to say of the plan on disk while it is needed; undefined when it is not. */
  get kept(): string | undefined {
    if (this.#kept === undefined) return this.#served === null ? this.#keptTrouble : undefined
    const { identity, keptAt } = this.#kept
    return `plan ${identity.serial} is served from disk, where it was saved at ${keptAt.toISOString()}`
  }

  /** When the plan served was kept, while it comes from disk. */
  get keptAt(): Date | undefined {
    return this.#kept?.keptAt
  }

  /** Serves the newest plan, if there is one, and follows from then on. Does not reject: trouble is in `error`, and tried again. */
  async start(): Promise<void> {
    await this.#round()
    this.#schedule()
  }

  /** Serves a plan that is not in the history. @throws PlanRefused, SourceUnavailable */
  async serveFile(plan: Plan): Promise<void> {
    const prepared = await this.#settings.servable.prepare(plan)
    try {
      prepared.activate(await declareStores(this.#settings.database, plan.plan))
      this.#served = plan.plan
    } catch (error) {
      await prepared.discard()
      throw error
    }
  }

  async close(): Promise<void> {
    this.#closed = true
    clearTimeout(this.#timer)
    await this.#turn
    await this.#writing
  }

  /**
   * Provisions, stores, serves: in this order, so that what is stored can be served, at least here. @throws Unavailable when the database does not answer:
   * then nothing was changed, or it was stored and is followed as soon as the database is back.
   */
  apply(plan: Plan, base: PlanBase | null, author: Author): Promise<ApplyOutcome> {
    return this.#inTurn<ApplyOutcome>(async () => {
      const { database, servable } = this.#settings
      const [current] = await planHistory(database, 1)
      const held = this.#identity
      if (held !== undefined && !(await hasPlan(database, held))) this.#tellLoss(current)
      if (!isBase(base, current))
        return { kind: "stale", current: current === undefined ? null : recordOf(current) }
      const isServed = isSamePlan(this.#identity, current) && this.#kept === undefined
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

  async #store(plan: Plan, base: PlanBase | null, author: Author, prepared: Prepared): Promise<ApplyOutcome> {
    const { database } = this.#settings
    const inserted = await insertPlan(database, {
      plan,
      base,
      appliedBy: author.who,
      gitCommit: author.commit ?? undefined,
      message: author.message ?? undefined,
    })
    if (inserted.kind === "stale") {
      await prepared.discard()
      return { kind: "stale", current: inserted.current === undefined ? null : recordOf(inserted.current) }
    }
    prepared.activate(inserted.stores)
    this.#nowServes(inserted, plan)
    return { kind: "done", answer: { applied: true, record: recordFor(inserted, plan, author) } }
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

  async #answer(read: () => Promise<StoredPlan | undefined>): Promise<PlanAnswer | undefined> {
    const stored = await read().catch(rethrowUnavailable)
    return stored === undefined ? undefined : { record: recordOf(stored), plan: stored.plan as Plan }
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
   * Serves the newest plan of the database if it is another than the one served: newer, or of another history, in which the one served never was. A plan that was refused is tried again now and then: a port becomes free when its process has ended,
   * a file is there later.
   */
  async #follow(): Promise<unknown> {
    const { database, servable, log } = this.#settings
    try {
      const waits = (await this.#refused?.waits(database)) === true
      // A plan from disk lacks its stores: the newest is read whatever it is.
      const read = this.#kept === undefined ? this.#identity : undefined
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
      prepared.activate(stores)
      this.#nowServes(newer, stored.plan)
      log.info({ serial: newer.serial, digest: newer.digest }, "serving plan")
      return undefined
    } catch (error) {
      this.#failed(error)
      return error
    }
  }

  #nowServes(identity: PlanIdentity, plan: Plan): void {
    this.#served = plan.plan
    this.#refused = null
    this.#kept = undefined
    this.#keptTrouble = undefined
    this.#changed(identity, null)
    // Nobody waits for a slow disk but the end.
    this.#writing = this.#writing.then(() => this.#settings.disk?.write(identity, plan))
  }

  /** While nothing is served and the database is away, or its newest plan cannot be served: what is on disk. A database that says there is none is believed. */
  async #round(): Promise<void> {
    const failure = await this.#follow()
    if (this.#served !== null) return
    if (failure instanceof SourceUnavailable || failure instanceof RefusedSerial) await this.#serveKept()
  }

  /** Its stores come with the database: until then their questions have no answer. */
  async #serveKept(): Promise<void> {
    const { disk, servable, log } = this.#settings
    const kept = await disk?.read()
    if (kept === undefined) return
    if (typeof kept === "string") return this.#keptFailed(kept)
    try {
      const prepared = await servable.prepare(kept.plan)
      prepared.activate(new Map())
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error)
      return this.#keptFailed(`plan ${kept.identity.serial}, kept on disk, cannot be served: ${reason}`)
    }
    this.#served = kept.plan.plan
    this.#kept = kept
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

  /** Once for each plan that was served: what is newest may take a while until it can be served. */
  #tellLoss(found: PlanIdentity | undefined): void {
    const held = this.#identity
    if (held === undefined || isSamePlan(held, this.#lost)) return
    this.#lost = held
    this.#settings.onHistoryLost?.(held, found)
  }

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
    } else if (!isForeseen(error)) log.error({ err: error }, "following plans failed")
    const text = error instanceof Error ? error.message : String(error)
    this.#changed(
      this.#identity,
      error instanceof SourceUnavailable ? `the database does not answer: ${text}` : text,
    )
  }

  #changed(identity: PlanIdentity | undefined, error: string | null): void {
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

/** A database that is away, or not migrated yet: `readyz` says so, and the log need not say it every second. */
function isForeseen(error: unknown): boolean {
  return error instanceof SourceUnavailable || isSchemaFault(error)
}

function noPlanAnyMore(): SourceUnavailable {
  return new SourceUnavailable("it has no plan now; the last plan stays in use until another one is applied")
}

/** Whether what is newest is what a plan was compared with. */
function isBase(base: PlanBase | null, current: PlanIdentity | undefined): boolean {
  if (base === null || current === undefined) return base === null && current === undefined
  return current.serial === base.serial && (base.stamp === undefined || base.stamp === current.stamp)
}

function recordOf(header: PlanHeader): PlanRecord {
  return {
    serial: header.serial,
    stamp: header.stamp,
    digest: header.digest,
    at: header.appliedAt.toISOString(),
    who: header.appliedBy,
    commit: header.gitCommit || null,
    message: header.message || null,
  }
}

function recordFor({ serial, stamp }: PlanIdentity, plan: Plan, author: Author): PlanRecord {
  return { serial, stamp, digest: plan.digest, at: new Date().toISOString(), ...author }
}

function asUnavailable(error: unknown): unknown {
  return error instanceof SourceUnavailable ? new Unavailable(error.message) : error
}

function rethrowUnavailable(error: unknown): never {
  throw asUnavailable(error)
}
