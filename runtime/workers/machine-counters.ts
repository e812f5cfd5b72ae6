import type { Limiter, LocalLimiter } from "../limits/limiter.ts"
import type { QuotaAnswer, QuotaTerms } from "../policies/ports.ts"
import type { ProcessQuotas } from "../process/metering.ts"
import type { ParentCalls, QuotaLook, ToParent, UsedQuota } from "./calls.ts"

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

/** The calls of `ParentCalls` about slots and quotas. */
type CounterCalls = Pick<ParentCalls, "enter" | "leave" | "takeQuota" | "addQuota" | "lookAtQuota">

/** Slots and quotas of the machine for one worker. `release` frees the slots that the worker holds: call it when the worker has ended. */
export function countersFor(
  limiter: LocalLimiter,
  quotas: ProcessQuotas,
): { readonly calls: CounterCalls; release(): void } {
  const slots = new Map<number, Exclude<Awaited<ReturnType<Limiter["enter"]>>, undefined>>()
  let last = 0
  let isReleased = false
  const calls: CounterCalls = {
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
