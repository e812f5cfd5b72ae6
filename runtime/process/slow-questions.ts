import type { EndedRequest } from "../authz/observed.ts"
import type { Log } from "../telemetry/log.ts"
import { LogBudget } from "./log-budget.ts"

/** Most checks take some ten microseconds, and the deadline of a question is 3 seconds by default. */
const slowMsByDefault = 1_000

/**
 * Logs questions that took long, with the engine's work on them. A line has types and a relation, but no ids and no context, so that it
 * names no person. Lines above the rate are counted, and the next line contains their number.
 */
export class SlowQuestions {
  readonly #log: Log
  readonly #budget: LogBudget
  /** From where on a question is slow; undefined: one second, and any number of steps. */
  bounds: { readonly ms: number | undefined; readonly steps: number | undefined } = {
    ms: undefined,
    steps: undefined,
  }

  /** `now`: milliseconds of a monotonic clock. */
  constructor(log: Log, now?: () => number) {
    this.#log = log
    this.#budget = new LogBudget(now)
  }

  /** Logs the request if it was slow. `store`: the label of its store. */
  ended({ method, outcome, durationMs, work, question, trace }: EndedRequest, store: string): void {
    // Without a question it is a write, a list of changes or the like, which the database made slow.
    if (durationMs === undefined || question === undefined) return
    const { ms = slowMsByDefault, steps } = this.bounds
    const isLong = durationMs >= ms || (steps !== undefined && (work?.steps ?? 0) >= steps)
    if (!isLong) return
    if (!this.#budget.take()) {
      this.#budget.skip()
      return
    }
    const { user, relation, object, type } = question
    const skipped = this.#budget.skipped()
    const line = {
      ...{
        method,
        store,
        outcome,
        ms: Math.round(durationMs),
        steps: work?.steps,
        pages_used: work?.pagesUsed,
        pages_read: work?.pagesRead,
      },
      ...{ user_type: typeOf(user), relation, object_type: typeOf(object) ?? type },
      ...(trace === undefined ? {} : { trace_id: trace.traceId, span_id: trace.spanId }),
      ...(skipped > 0 ? { skipped } : {}),
    }
    this.#log.warn(line, "slow question")
  }
}

/** `user` of `user:ann`, `group#member` of `group:a#member`; undefined for what is not of this form. */
export function typeOf(name: string | undefined): string | undefined {
  const [, type, relation = ""] = /^([^:#\s]+):[^#]+(#[^:#\s]+)?$/.exec(name ?? "") ?? []
  return type === undefined ? undefined : type + relation
}
