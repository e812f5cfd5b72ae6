import {
  type AnswerReceiver,
  type Connections,
  type Sending,
  UpstreamError,
} from "../../http/client/connections.ts"
import type { HealthPlan } from "../../plan/resources.ts"
import type { Target, TargetPlace } from "./target.ts"

/** The body of a health check is not evaluated; after this many bytes the connection is closed. */
const bodyBytesMax = 64 * 1024

/**
 * Checks the targets of a backend at an interval, until it is closed. All processes of a fleet get a plan at the same moment, so each checks at a phase of
 * its own: N processes spread their checks of a target over the interval. The first check comes within half of it.
 */
export class HealthChecks {
  readonly #plan: HealthPlan
  readonly #connect: (place: TargetPlace) => Connections
  readonly #watched = new Map<
    Target,
    { readonly timers: NodeJS.Timeout[]; readonly connections: Connections }
  >()

  /**
   * `connect` returns connections used only for checks: behind the requests of a busy target a check would be late, and the target would look unhealthy.
   * `phase`: when this process checks the first target, as a part of the interval (0 to 1).
   */
  constructor(
    plan: HealthPlan,
    targets: readonly Target[],
    connect: (place: TargetPlace) => Connections,
    phase = Math.random(),
  ) {
    this.#plan = plan
    this.#connect = connect
    for (const [index, target] of targets.entries()) this.add(target, (phase + index / targets.length) % 1)
  }

  /** Begins to check a target. `phase`: when, as a part of the interval. */
  add(target: Target, phase = Math.random()): void {
    const watched = { timers: [], connections: this.#connect(target.place) }
    this.#watched.set(target, watched)
    this.#watch(target, watched, phase)
  }

  /** Ends the checks of a target. */
  remove(target: Target): void {
    const watched = this.#watched.get(target)
    if (watched === undefined) return
    this.#watched.delete(target)
    for (const timer of watched.timers) clearTimeout(timer)
    watched.connections.destroy().catch(() => undefined)
  }

  close(): void {
    for (const target of [...this.#watched.keys()]) this.remove(target)
  }

  /** Asks one target at its interval. While a check waits for its response, the target is not asked again. */
  #watch(
    target: Target,
    { timers, connections }: { readonly timers: NodeJS.Timeout[]; readonly connections: Connections },
    phase: number,
  ): void {
    const { downAfter, upAfter, everyMs } = this.#plan
    let good = 0
    let bad = 0
    let asking = false
    const ask = async () => {
      if (asking) return
      asking = true
      const well = await this.#ask(connections, target.place)
      asking = false
      if (!this.#watched.has(target)) return
      good = well ? good + 1 : 0
      bad = well ? 0 : bad + 1
      if (bad >= downAfter) target.down = true
      else if (good >= upAfter) target.down = false
      target.checked = true
    }
    const later = (afterMs: number, run: () => void) => timers.push(setTimeout(run, afterMs).unref())
    // The gap between the first two checks is half an interval to a whole one; so the phase is uniform, and a target that is down is found early.
    later((everyMs * phase) / 2, () => void ask())
    later(everyMs * (phase + 0.5), () => {
      timers.push(setInterval(() => void ask(), everyMs).unref())
      void ask()
    })
  }

  /** One check. Its result is whether the status is a healthy one, in time. */
  #ask(connections: Connections, place: TargetPlace): Promise<boolean> {
    const { method, path, timeoutMs, statuses } = this.#plan
    return new Promise((resolve) => {
      const request = {
        method,
        path: place.basePath + path,
        fields: ["user-agent", "sallyport-health"],
        body: null,
      }
      connections.dispatch(request, new Checking(timeoutMs, statuses, resolve))
    })
  }
}

/** One running check. */
class Checking implements AnswerReceiver {
  readonly #statuses: readonly number[]
  readonly #tell: (well: boolean) => void
  readonly #timer: NodeJS.Timeout
  #sending: Sending | undefined
  #isOver = false
  #status = 0
  #received = 0

  constructor(timeoutMs: number, statuses: readonly number[], tell: (well: boolean) => void) {
    this.#statuses = statuses
    this.#tell = tell
    this.#timer = setTimeout(() => this.#end(false), timeoutMs)
  }

  get isWanted(): boolean {
    return !this.#isOver
  }

  onConnect(sending: Sending): void {
    this.#sending = sending
    if (this.#isOver) this.#cut()
  }

  onBegun(): void {}

  onHead(status: number): void {
    this.#status = status
  }

  onData(bytes: Buffer): boolean {
    this.#received += bytes.length
    // Only the status counts: an endless body does not make a target unhealthy.
    if (this.#received > bodyBytesMax) this.#end(this.#isWell)
    return true
  }

  onComplete(): void {
    this.#sending = undefined
    this.#end(this.#isWell)
  }

  onError(): void {
    this.#sending = undefined
    this.#end(false)
  }

  get #isWell(): boolean {
    return this.#statuses.includes(this.#status)
  }

  #end(well: boolean): void {
    if (this.#isOver) return
    this.#isOver = true
    clearTimeout(this.#timer)
    this.#cut()
    this.#tell(well)
  }

  #cut(): void {
    this.#sending?.abort(new UpstreamError("aborted", "the check has ended"))
  }
}
