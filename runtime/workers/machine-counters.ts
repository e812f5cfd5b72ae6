import type { BoundedLimiter, Limiter, LimiterStats, LocalLimiter, Taken } from "../limits/limiter.ts"
import type { QuotaAnswer, QuotaTerms } from "../policies/ports.ts"
import type { ProcessQuotas } from "../process/metering.ts"
import type { ParentCalls, QuotaLook, UsedQuota, WorkerCalls } from "./calls.ts"
import { type Channel, ChannelClosed } from "./channel.ts"

type ToParent = Pick<Channel<ParentCalls, WorkerCalls>, "ask" | "tell">

/**
 * The limits of a worker, counted by the parent for all workers of the machine. When the parent has ended, the worker ends as well; it counts its
 * last requests on its own.
 */
export class MachineLimiter implements BoundedLimiter {
  /** Without effect: the parent sets the bound on its own counts. */
  keysMax = 0
  readonly #parent: ToParent
  readonly #local: LocalLimiter

  constructor(parent: ToParent, local: LocalLimiter) {
    this.#parent = parent
    this.#local = local
  }

  take(counter: string, key: string, callsMax: number, periodSeconds: number, amount = 1): Promise<Taken> {
    return this.#parent
      .ask("take", counter, key, callsMax, periodSeconds, amount)
      .catch(unlessClosed(() => this.#local.take(counter, key, callsMax, periodSeconds, amount)))
  }

  add(counter: string, key: string, periodSeconds: number, amount: number): void {
    this.#parent.tell("add", counter, key, periodSeconds, amount)
  }

  async enter(counter: string, key: string, max: number): Promise<(() => void) | undefined> {
    let slot: number | null
    try {
      slot = await this.#parent.ask("enter", counter, key, max)
    } catch (error) {
      return unlessClosed(() => this.#local.enter(counter, key, max))(error)
    }
    if (slot === null) return undefined
    const taken = slot
    let left = false
    return () => {
      if (left) return
      left = true
      this.#parent.tell("leave", taken)
    }
  }

  /** The counts are in the parent, which reports them. */
  stats(): LimiterStats {
    return { keys: 0, evicted: 0, bytes: 0 }
  }
}

function unlessClosed<Result>(otherwise: () => Result): (error: unknown) => Result {
  return (error) => {
    if (error instanceof ChannelClosed) return otherwise()
    throw error
  }
}

/** The quotas of a worker, reserved and written by the parent for all workers of the machine. */
export class MachineQuotas implements ProcessQuotas {
  /** The parent reports it. */
  readonly error = undefined
  readonly #parent: ToParent

  constructor(parent: ToParent) {
    this.#parent = parent
  }

  take(terms: QuotaTerms, key: string, anchorMs: number, calls: number): Promise<QuotaAnswer> {
    return this.#parent.ask("takeQuota", terms, key, anchorMs, calls)
  }

  add(terms: QuotaTerms, key: string, anchorMs: number, used: UsedQuota): void {
    this.#parent.tell("addQuota", terms, key, anchorMs, used)
  }

  async look(terms: QuotaTerms, key: string, anchorMs: number): Promise<QuotaLook | undefined> {
    return (await this.#parent.ask("lookAtQuota", terms, key, anchorMs)) ?? undefined
  }

  async start(): Promise<void> {}

  async close(): Promise<void> {}
}

/** The calls of `ParentCalls` that count. */
type CounterCalls = Pick<
  ParentCalls,
  "take" | "add" | "enter" | "leave" | "takeQuota" | "addQuota" | "lookAtQuota"
>

/** The counters of the machine for one worker. `release` frees the slots that the worker holds: call it when the worker has ended. */
export function countersFor(
  limiter: LocalLimiter,
  quotas: ProcessQuotas,
): { readonly calls: CounterCalls; release(): void } {
  const slots = new Map<number, Exclude<Awaited<ReturnType<Limiter["enter"]>>, undefined>>()
  let last = 0
  let isReleased = false
  const calls: CounterCalls = {
    take: (counter, key, callsMax, periodSeconds, amount) =>
      limiter.take(counter, key, callsMax, periodSeconds, amount),
    add: (counter, key, periodSeconds, amount) => limiter.add(counter, key, periodSeconds, amount),
    enter(counter, key, max) {
      // The calls of a worker may be read after its end; nobody would leave this slot.
      if (isReleased) return null
      const leave = limiter.enter(counter, key, max)
      if (leave === undefined) return null
      slots.set(++last, leave)
      return last
    },
    leave(slot) {
      slots.get(slot)?.()
      slots.delete(slot)
    },
    takeQuota: (terms, key, anchorMs, amount) => quotas.take(terms, key, anchorMs, amount),
    addQuota: (terms, key, anchorMs, used) => quotas.add(terms, key, anchorMs, used),
    lookAtQuota: (terms, key, anchorMs) => quotas.look(terms, key, anchorMs),
  }
  return {
    calls,
    release() {
      isReleased = true
      for (const leave of slots.values()) leave()
      slots.clear()
    },
  }
}
