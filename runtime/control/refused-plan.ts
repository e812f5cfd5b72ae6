import type { PlanProblem } from "../plan/read.ts"
import type { Queryable } from "../store/database.ts"
import { type PlanIdentity, planFingerprint } from "../store/plans.ts"

/** A refused plan is retried after the first pause; the pause doubles with each retry, up to the last one. */
const firstPauseMs = 2_000
const lastPauseMs = 60_000

/** Why this process does not run a plan of the history. */
export class RefusedSerial extends Error {
  readonly identity: PlanIdentity
  /** The reason lies outside the plan and the program, so a retry may succeed. */
  readonly mayPass: boolean

  constructor(identity: PlanIdentity, reason: unknown, mayPass: boolean) {
    super(`plan ${identity.serial}: ${reason instanceof Error ? reason.message : String(reason)}`)
    this.identity = { serial: identity.serial, stamp: identity.stamp }
    this.mayPass = mayPass
  }
}

/** The plan that was refused last, and when to retry it. */
export class RefusedPlan {
  readonly identity: PlanIdentity
  readonly message: string
  readonly #pauseMs: number
  /** By the monotonic clock; undefined: retry when its text in the database has changed. */
  readonly #dueMs: number | undefined
  #fingerprint: string | undefined

  constructor({ identity, message, mayPass }: RefusedSerial, before: RefusedPlan | null) {
    const same = before !== null && isSamePlan(before.identity, identity) ? before : undefined
    this.identity = identity
    this.message = message
    this.#pauseMs = same === undefined ? firstPauseMs : Math.min(lastPauseMs, same.#pauseMs * 2)
    this.#dueMs = mayPass ? performance.now() + this.#pauseMs : undefined
    this.#fingerprint = same === undefined ? undefined : same.#fingerprint
  }

  /**
   * Whether it is too early for a retry. A plan that cannot be read is compared by its fingerprint, because reading a large plan blocks the
   * event loop.
   */
  async waits(database: Queryable): Promise<boolean> {
    if (this.#dueMs !== undefined) return performance.now() < this.#dueMs
    const before = this.#fingerprint
    this.#fingerprint = await planFingerprint(database, this.identity)
    return before !== undefined && before === this.#fingerprint
  }
}

/** Whether both are the same plan of the same history. */
export function isSamePlan(one: PlanIdentity | undefined, other: PlanIdentity | undefined): boolean {
  return one?.serial === other?.serial && one?.stamp === other?.stamp
}

const problemsShown = 3

/** A stored plan was valid when it was stored, so a plan that cannot be read was stored by another version. */
export function unreadable(problems: readonly PlanProblem[]): string {
  const shown = problems
    .slice(0, problemsShown)
    .map(({ path, message }) => (path === "" ? message : `${path}: ${message}`))
  const remedy =
    "the plan was stored by another version of Sallyport, or changed since: apply gateway.conf again with this version (`sallyport apply`)"
  return [remedy, ...shown].join("; ")
}
