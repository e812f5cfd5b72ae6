import { SourceUnavailable } from "../check/ports.ts"
import type { Plan, PlanBody } from "../plan/plan.ts"
import { type PlanProblem, readPlan } from "../plan/read.ts"
import type { Database } from "../store/database.ts"
import { type DeclaredStore, declaredStores } from "../store/declared-stores.ts"
import { isSchemaFault } from "../store/fault.ts"
import {
  currentPlan,
  declareStores,
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
import { type ApplyOutcome, type ApplyProblem, Unavailable } from "./ports.ts"

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
  /** How often the database is asked for a newer plan. */
  readonly pollMs?: number
  /** Told when the database does not have the plan any more that was served here. */
  readonly onHistoryLost?: (held: PlanIdentity, found: PlanIdentity | undefined) => void
}

const pollMsDefault = 1_000
/** A refused plan is tried again after the first pause, then after twice as long, up to the last one. */
const firstPauseMs = 2_000
const lastPauseMs = 60_000

interface RefusedPlan {
  readonly identity: PlanIdentity
  readonly message: string
  readonly pauseMs: number
  /** When it is tried again, by the monotonic clock. */
  readonly dueMs: number
}

/** The plan this process serves: brings it in at start, applies new ones, follows what other processes apply. One at a time. */
export class PlanKeeper {
  readonly #settings: PlanKeeperSettings
  #identity: PlanIdentity | undefined
  /** What was served and is told to be lost. */
  #lost: PlanIdentity | undefined
  #served: PlanBody | null = null
  #error: string | null = null
  #refused: RefusedPlan | null = null
  #turn: Promise<unknown> = Promise.resolve()
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

  /** Serves the newest plan, if there is one, and follows from then on. Does not reject: trouble is in `error`, and tried again. */
  async start(): Promise<void> {
    await this.#follow()
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
  }

  /**
   * Provisions, stores, serves: in this order, so that what is stored can be served, at least here. @throws Unavailable when the database does not answer:
   * then nothing was changed, or it was stored and is followed as soon as the database is back.
   */
  apply(plan: Plan, base: PlanBase | null, author: Author): Promise<ApplyOutcome> {
    return this.#inTurn<ApplyOutcome>(async () => {
      const { database, servable } = this.#settings
      const [current] = await planHistory(database, 1)
      if (!isBase(base, current))
        return { kind: "stale", current: current === undefined ? null : recordOf(current) }
      if (current?.digest === plan.digest && isSamePlan(this.#identity, current)) {
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
    this.#served = plan.plan
    this.#refused = null
    this.#changed(inserted, null)
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
      await this.#inTurn(() => this.#follow())
      this.#schedule()
    }, this.#settings.pollMs ?? pollMsDefault)
    this.#timer.unref()
  }

  /**
   * Serves the newest plan of the database if it is another than the one served: newer, or of another history, in which the one served never was. A plan that was refused is tried again now and then: a port becomes free when its process has ended,
   * a file is there later.
   */
  async #follow(): Promise<void> {
    const { database, servable, log } = this.#settings
    try {
      const refused = this.#refused
      const waits = refused !== null && performance.now() < refused.dueMs
      const news = await planNews(database, waits ? refused.identity : this.#identity)
      if (news === undefined) {
        this.#changed(this.#identity, this.#refused?.message ?? null)
        return
      }
      const newer = news.plan
      if (news.lost && !waits) this.#tellLoss(newer)
      if (newer === undefined)
        throw new SourceUnavailable("it has no plan any more; the last one serves on until one is applied")
      const read = readPlan(newer.plan)
      if ("problems" in read) throw new RefusedSerial(newer, unreadable(read.problems), false)
      const prepared = await servable.prepare(read.plan).catch((error: unknown) => {
        throw new RefusedSerial(newer, error, true)
      })
      const stores = await declaredStores(database).catch(async (error: unknown) => {
        await prepared.discard()
        throw error
      })
      prepared.activate(stores)
      this.#served = read.plan.plan
      this.#refused = null
      this.#changed(newer, null)
      log.info({ serial: newer.serial, digest: newer.digest }, "serving plan")
    } catch (error) {
      this.#failed(error)
    }
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
      this.#refused = this.#refusal(error)
      if (isNews)
        log.error(
          { serial: error.identity.serial, reason: error.message },
          `the newest plan cannot be served here; ${this.#served === null ? "none is" : "the old one serves on"}`,
        )
    } else if (!isForeseen(error)) log.error({ err: error }, "following plans failed")
    const text = error instanceof Error ? error.message : String(error)
    this.#changed(
      this.#identity,
      error instanceof SourceUnavailable ? `the database does not answer: ${text}` : text,
    )
  }

  #refusal({ identity, message, mayPass }: RefusedSerial): RefusedPlan {
    const before = isSamePlan(this.#refused?.identity, identity) ? (this.#refused?.pauseMs ?? 0) : 0
    const pauseMs = before === 0 ? firstPauseMs : Math.min(lastPauseMs, before * 2)
    return {
      identity,
      message,
      pauseMs,
      dueMs: mayPass ? performance.now() + pauseMs : Number.POSITIVE_INFINITY,
    }
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

const problemsTold = 3

/** A stored plan was read as a whole when it was stored: what cannot be read now is of another version. */
function unreadable(problems: readonly PlanProblem[]): PlanRefused {
  const told = problems.slice(0, problemsTold).map(({ path, message }) => ({
    path,
    message: path === "" ? message : `${path}: ${message}`,
  }))
  const remedy =
    "the plan was stored by another version of Sallyport, or changed since: apply its text again with this one (`sallyport apply`)"
  return new PlanRefused([{ path: "", message: remedy }, ...told])
}

/** A database that is away, or not migrated yet: `readyz` says so, and the log need not say it every second. */
function isForeseen(error: unknown): boolean {
  return error instanceof SourceUnavailable || isSchemaFault(error)
}

function isSamePlan(one: PlanIdentity | undefined, other: PlanIdentity | undefined): boolean {
  return one?.serial === other?.serial && one?.stamp === other?.stamp
}

/** Whether what is newest is what a plan was compared with. */
function isBase(base: PlanBase | null, current: PlanIdentity | undefined): boolean {
  if (base === null || current === undefined) return base === null && current === undefined
  return current.serial === base.serial && (base.stamp === undefined || base.stamp === current.stamp)
}

class RefusedSerial extends Error {
  readonly identity: PlanIdentity
  /** What it was refused for lies outside of the plan and of this program. */
  readonly mayPass: boolean

  constructor(identity: PlanIdentity, reason: unknown, mayPass: boolean) {
    super(`plan ${identity.serial}: ${reason instanceof Error ? reason.message : String(reason)}`)
    this.identity = { serial: identity.serial, stamp: identity.stamp }
    this.mayPass = mayPass
  }
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
