import { SourceUnavailable } from "../check/ports.ts"
import type { Plan, PlanBody } from "../plan/plan.ts"
import { type PlanProblem, readPlan } from "../plan/read.ts"
import { type Database, isSqlError, undefinedSchema, undefinedTable } from "../store/database.ts"
import { type DeclaredStore, declaredStores } from "../store/declared-stores.ts"
import {
  currentPlan,
  declareStores,
  insertPlan,
  type PlanHeader,
  planBySerial,
  planHistory,
  planSince,
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
}

const pollMsDefault = 1_000
/** A refused plan is tried again after the first pause, then after twice as long, up to the last one. */
const firstPauseMs = 2_000
const lastPauseMs = 60_000

interface RefusedPlan {
  readonly serial: number
  readonly message: string
  readonly pauseMs: number
  /** When it is tried again, by the monotonic clock. */
  readonly dueMs: number
}

/** The plan this process serves: brings it in at start, applies new ones, follows what other processes apply. One at a time. */
export class PlanKeeper {
  readonly #settings: PlanKeeperSettings
  #serial: number | null = null
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
    return this.#serial
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
  apply(plan: Plan, base: number | null, author: Author): Promise<ApplyOutcome> {
    return this.#inTurn<ApplyOutcome>(async () => {
      const { database, servable } = this.#settings
      const [current] = await planHistory(database, 1)
      if ((current?.serial ?? null) !== base)
        return { kind: "stale", current: current === undefined ? null : recordOf(current) }
      if (current?.digest === plan.digest && this.#serial === current.serial) {
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

  async #store(plan: Plan, base: number | null, author: Author, prepared: Prepared): Promise<ApplyOutcome> {
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
    this.#changed(inserted.serial, null)
    return { kind: "done", answer: { applied: true, record: recordFor(inserted.serial, plan, author) } }
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
   * Serves the newest plan of the database if it is newer than the one served. A plan that was refused is tried again now and then: a port becomes free when its process has ended,
   * a file is there later.
   */
  async #follow(): Promise<void> {
    const { database, servable, log } = this.#settings
    try {
      const refused = this.#refused
      const known = refused !== null && performance.now() < refused.dueMs ? refused.serial : 0
      const newer = await planSince(database, Math.max(this.#serial ?? 0, known))
      if (newer === undefined) {
        this.#changed(this.#serial, this.#refused?.message ?? null)
        return
      }
      const read = readPlan(newer.plan)
      if ("problems" in read) throw new RefusedSerial(newer.serial, unreadable(read.problems), false)
      const prepared = await servable.prepare(read.plan).catch((error: unknown) => {
        throw new RefusedSerial(newer.serial, error, true)
      })
      const stores = await declaredStores(database).catch(async (error: unknown) => {
        await prepared.discard()
        throw error
      })
      prepared.activate(stores)
      this.#served = read.plan.plan
      this.#refused = null
      this.#changed(newer.serial, null)
      log.info({ serial: newer.serial, digest: newer.digest }, "serving plan")
    } catch (error) {
      this.#failed(error)
    }
  }

  #failed(error: unknown): void {
    const { log } = this.#settings
    if (error instanceof RefusedSerial) {
      const isNews = error.message !== this.#refused?.message
      this.#refused = this.#refusal(error)
      if (isNews)
        log.error(
          { serial: error.serial, reason: error.message },
          `the newest plan cannot be served here; ${this.#serial === null ? "none is" : "the old one serves on"}`,
        )
    } else if (!isForeseen(error)) log.error({ err: error }, "following plans failed")
    const text = error instanceof Error ? error.message : String(error)
    this.#changed(
      this.#serial,
      error instanceof SourceUnavailable ? `the database does not answer: ${text}` : text,
    )
  }

  #refusal({ serial, message, mayPass }: RefusedSerial): RefusedPlan {
    const before = this.#refused?.serial === serial ? this.#refused.pauseMs : 0
    const pauseMs = before === 0 ? firstPauseMs : Math.min(lastPauseMs, before * 2)
    return {
      serial,
      message,
      pauseMs,
      dueMs: mayPass ? performance.now() + pauseMs : Number.POSITIVE_INFINITY,
    }
  }

  #changed(serial: number | null, error: string | null): void {
    if (serial === this.#serial && error === this.#error) return
    this.#serial = serial
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
  return error instanceof SourceUnavailable || isSqlError(error, undefinedTable, undefinedSchema)
}

class RefusedSerial extends Error {
  readonly serial: number
  /** What it was refused for lies outside of the plan and of this program. */
  readonly mayPass: boolean

  constructor(serial: number, reason: unknown, mayPass: boolean) {
    super(`plan ${serial}: ${reason instanceof Error ? reason.message : String(reason)}`)
    this.serial = serial
    this.mayPass = mayPass
  }
}

function recordOf(header: PlanHeader): PlanRecord {
  return {
    serial: header.serial,
    digest: header.digest,
    at: header.appliedAt.toISOString(),
    who: header.appliedBy,
    commit: header.gitCommit || null,
    message: header.message || null,
  }
}

function recordFor(serial: number, plan: Plan, author: Author): PlanRecord {
  return { serial, digest: plan.digest, at: new Date().toISOString(), ...author }
}

function asUnavailable(error: unknown): unknown {
  return error instanceof SourceUnavailable ? new Unavailable(error.message) : error
}

function rethrowUnavailable(error: unknown): never {
  throw asUnavailable(error)
}
