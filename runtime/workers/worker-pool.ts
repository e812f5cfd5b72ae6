import cluster from "node:cluster"
import type { CanaryHost } from "../control/canary-keeper.ts"
import { PlanRefused, type Prepared, type Servable } from "../control/plan-keeper.ts"
import type { ApplyProblem } from "../control/ports.ts"
import type { CanaryTerms, PreparedCanary } from "../gateway/canary/running-canary.ts"
import type { AskResponder } from "../http/server/ocsp-staples.ts"
import { TicketKeys } from "../http/server/ticket-keys.ts"
import type { LocalLimiter } from "../limits/limiter.ts"
import type { Plan } from "../plan/plan.ts"
import { limitKeysDefault } from "../plan/resources.ts"
import type { ProcessQuotas } from "../process/metering.ts"
import { StartError } from "../process/start-error.ts"
import type { Log } from "../telemetry/log.ts"
import type { MetricFamily, Metrics } from "../telemetry/metrics.ts"
import {
  noPlanNews,
  type ParentCalls,
  type ServedPlanNews,
  type StoreEntries,
  type WorkerAddresses,
  type WorkerState,
} from "./calls.ts"
import { LimitDesk } from "./limit-desk.ts"
import { countersFor } from "./machine-counters.ts"
import { Replacements, steadyMs } from "./replacements.ts"
import { ResponderDesk } from "./responder-desk.ts"
import { countedMetrics, mergedMetrics } from "./sums.ts"
import { type WorkerEnd, WorkerProcess } from "./worker-process.ts"

/** How many workers to run, and what they share. */
export interface WorkerPoolSettings {
  readonly count: number
  readonly log: Log
  readonly metrics: Metrics
  readonly limiter: LocalLimiter
  readonly quotas: ProcessQuotas
  /** With it the parent calls the engine of any worker. */
  readonly engineKey: string
  /** Asks OCSP responders for the workers. */
  readonly askResponder: AskResponder
  /** Descriptors of listening sockets that a supervisor passed to the parent. */
  readonly sockets: readonly number[]
  /** Called with the name in the fleet of a worker that ended without being asked. */
  readonly onEnded: (processId: string) => void
  /** Called once, when workers end again and again after their start, with the reason. No worker is started any more. */
  readonly onHopeless: (reason: StartError) => void
}

/** Time for a worker beyond the grace period, to write what it counted. */
const endMs = 5_000
/** Interval at which a new worker tries again to run a plan that the others run. */
const retryMs = 5_000

/** The workers of a parent: starts them, replaces those that end, and runs one plan on all of them. */
export class WorkerPool implements Servable, CanaryHost {
  readonly #settings: WorkerPoolSettings
  readonly #limits: LimitDesk
  readonly #workers = new Set<WorkerProcess>()
  /** Counts of workers that have ended. */
  #retired: readonly MetricFamily[] = []
  #served: { readonly plan: Plan; readonly stores: StoreEntries } | undefined
  /** Serves a share of the callers beside the served plan. */
  #canary: { readonly plan: Plan; readonly terms: CanaryTerms } | undefined
  #news = noPlanNews
  #isClosing = false
  /** Whether a failed start is reported to the caller of `start`, instead of the log. */
  #isStarting = true
  readonly #replacements = new Replacements()
  readonly #timers = new Set<NodeJS.Timeout>()
  readonly #tickets = new TicketKeys()
  readonly #responders: ResponderDesk
  readonly #countReplacement: () => void

  constructor(settings: WorkerPoolSettings) {
    this.#settings = settings
    const { metrics, count, limiter } = settings
    this.#limits = new LimitDesk(limiter, count)
    this.#responders = new ResponderDesk(settings.askResponder)
    const replaced = metrics
      .counter("sallyport_workers_replaced_total", "Workers that ended and were replaced.")
      .series()
    this.#countReplacement = () => replaced.add()
    const help = "Workers that serve the plan, and the number wanted."
    metrics.gauge("sallyport_workers", help, ["state"], () => [
      [["serving"], this.serving],
      [["wanted"], count],
    ])
    // Workers accept connections from one queue of the kernel: passing each connection on would cost the parent about 100 µs.
    cluster.schedulingPolicy = cluster.SCHED_NONE
    cluster.setupPrimary({ stdio: ["inherit", "inherit", "inherit", "ipc", ...settings.sockets] })
  }

  /** Number of workers that serve the current plan. */
  get serving(): number {
    return [...this.#workers].filter(({ serves }) => serves).length
  }

  /** The workers that can reply. */
  get started(): readonly WorkerProcess[] {
    return [...this.#workers].filter(({ isStarted }) => isStarted)
  }

  /** The addresses of the workers, which all listen on the same ones. */
  get addresses(): WorkerAddresses {
    return this.started.find(({ serves }) => serves)?.addresses ?? { gateway: [], authz: [] }
  }

  /**
   * Starts all workers, and resolves when each of them can prepare plans.
   * @throws StartError when one cannot start
   */
  async start(): Promise<void> {
    await Promise.all(Array.from({ length: this.#settings.count }, () => this.#fork()))
    this.#isStarting = false
  }

  /** Prepares a plan on all workers. It is refused when one of them refuses it, or ends meanwhile. */
  async prepare(plan: Plan): Promise<Prepared> {
    const workers = this.started
    if (workers.length === 0)
      throw new PlanRefused([{ path: "", message: "no worker runs: see the log for why they ended" }])
    const prepared = await Promise.all(workers.map((worker) => worker.prepare(plan)))
    const ready = prepared.filter(({ problems }) => problems.length === 0)
    const discard = async () => {
      await Promise.all(ready.map((each) => each.discard()))
    }
    const found = distinct(prepared.flatMap(({ problems }) => problems))
    if (found.length > 0) {
      await discard()
      throw new PlanRefused(found)
    }
    return {
      activate: async (stores) => {
        const served = { plan, stores: [...stores] }
        this.#served = served
        // Each worker has given it up, or taken it as the plan of all callers.
        this.#canary = undefined
        this.#settings.limiter.keysMax = plan.plan.gateway?.limits.limitKeysMax ?? limitKeysDefault
        const others = this.started.filter((worker) => !workers.includes(worker))
        await Promise.all([
          ...ready.map((each) => each.activate(served.stores)),
          // These started after the others had prepared the plan.
          ...others.map((worker) => this.#serve(worker)),
        ])
      },
      discard,
    }
  }

  /** Prepares a plan that shall serve a share of the callers on all workers. It is refused when one of them refuses it. */
  async prepareCanary(plan: Plan, terms: CanaryTerms): Promise<PreparedCanary> {
    const workers = this.started
    const answers = await Promise.all(
      workers.map(async (worker) => ({ worker, problems: await worker.prepareCanary(plan, terms) })),
    )
    const ready = answers.filter(({ problems }) => problems.length === 0).map(({ worker }) => worker)
    const discard = () => {
      for (const { channel } of ready) channel.tell("discardCanary")
    }
    const found = distinct(answers.flatMap(({ problems }) => problems))
    if (found.length > 0) {
      discard()
      throw new PlanRefused(found)
    }
    return {
      discard,
      activate: () => {
        this.#canary = { plan, terms }
        for (const { channel } of ready) channel.tell("activateCanary")
        for (const worker of this.started) if (!workers.includes(worker)) void this.#serveCanary(worker)
      },
    }
  }

  endCanary(): void {
    this.#canary = undefined
    for (const { channel } of this.started) channel.tell("endCanary")
  }

  /** A worker that started later. Where it cannot, its callers get the served plan. */
  async #serveCanary(worker: WorkerProcess): Promise<void> {
    const canary = this.#canary
    if (canary === undefined) return
    const problems = await worker.prepareCanary(canary.plan, canary.terms)
    if (problems.length === 0)
      worker.channel.tell(this.#canary === canary ? "activateCanary" : "discardCanary")
    else
      this.#settings.log.error(
        { worker: worker.pid, reason: problems.map(({ message }) => message).join("; ") },
        "a new worker cannot serve the plan of the canary",
      )
  }

  /** Reports a change of the plan to all workers. */
  planChanged(news: ServedPlanNews): void {
    this.#news = news
    for (const { channel } of this.started) channel.tell("planChanged", news)
  }

  /** The states of all workers that have replied at least once. */
  async states(): Promise<readonly WorkerState[]> {
    return (await Promise.all(this.started.map((worker) => worker.state()))).flatMap((state) => state ?? [])
  }

  /** Metrics of all workers, and what those that ended had counted. */
  async metrics(): Promise<readonly (readonly MetricFamily[])[]> {
    // A worker that ends while this waits is among the current ones, and counted once.
    const retired = this.#retired
    const current = await Promise.all(this.started.map((worker) => worker.metrics()))
    return [retired, ...current]
  }

  /** Ends all workers: they complete the requests in progress, at most for `graceMs`. */
  async close(graceMs: number): Promise<void> {
    this.#isClosing = true
    for (const timer of this.#timers) clearTimeout(timer)
    await Promise.all(
      [...this.#workers].map(async (worker) => {
        const overdue = setTimeout(() => worker.kill("SIGKILL"), graceMs + endMs)
        if (worker.isStarted) worker.channel.tell("close", graceMs)
        else worker.kill("SIGKILL")
        await worker.ended
        clearTimeout(overdue)
      }),
    )
  }

  /** Starts a worker; resolves when it can prepare plans. */
  #fork(): Promise<void> {
    const { sockets, limiter, quotas } = this.#settings
    const worker = new WorkerProcess({ LISTEN_FDS: sockets.length === 0 ? "" : String(sockets.length) })
    this.#workers.add(worker)
    const counters = countersFor(limiter, quotas)
    const limits = this.#limits.open(worker.channel)
    const started = new Promise<void>((resolve, reject) => {
      worker.channel.serve({
        ...counters.calls,
        ...limits.calls,
        ...this.#responders.calls,
        ...this.#lifeOf(worker, resolve),
      })
      void worker.ended.then(() => reject(startFailureOf(worker)))
    })
    void worker.ended.then((end) => {
      counters.release()
      limits.ended()
      this.#workers.delete(worker)
      this.#retired = mergedMetrics([this.#retired, countedMetrics(worker.lastMetrics)])
      // Before it had started, its end is reported by `start`.
      const isReported = this.#isStarting && worker.processId === undefined
      if (!this.#isClosing && !isReported) this.#ended(worker, end)
    })
    return started
  }

  #lifeOf(
    worker: WorkerProcess,
    started: () => void,
  ): Pick<ParentCalls, "hello" | "started" | "startFailed"> {
    return {
      hello: () => ({ engineKey: this.#settings.engineKey, ticketSeed: this.#tickets.seed }),
      started: (processId) => {
        worker.processId = processId
        this.#settings.log.info({ worker: worker.pid }, "worker started")
        started()
        worker.channel.tell("planChanged", this.#news)
        void this.#serve(worker)
      },
      startFailed: (message, help) => {
        // JSON has no `undefined`.
        worker.failure = { message, help: help ?? undefined }
      },
    }
  }

  /**
   * Runs the current plan on a worker that started later. Where it cannot, for example because a file of the plan is gone, the worker stays, serves
   * nothing and tries again: the other workers do not need to read the file.
   */
  async #serve(worker: WorkerProcess, before?: string): Promise<void> {
    const served = this.#served
    if (served === undefined || worker.hasEnded) return
    const { problems, activate, discard } = await worker.prepare(served.plan)
    if (problems.length === 0) {
      // Another plan runs meanwhile: its activation includes this worker.
      await (this.#served === served ? activate(served.stores) : discard())
      await this.#serveCanary(worker)
      return
    }
    if (worker.hasEnded || this.#isClosing || this.#served !== served) return
    if (worker.serves) {
      // It must not continue with a previous plan. Its replacement tries again.
      worker.kill("SIGKILL")
      return
    }
    const reason = problems.map(({ message }) => message).join("; ")
    const { log } = this.#settings
    if (reason !== before)
      log.error({ worker: worker.pid, reason }, "a new worker cannot serve the plan; it tries again")
    this.#later(retryMs, () => {
      if (!worker.serves) void this.#serve(worker, reason)
    })
  }

  /** Replaces a worker that ended without being asked. */
  #ended({ pid, failure, processId, livedMs }: WorkerProcess, { code, signal }: WorkerEnd): void {
    const { log, count, onEnded, onHopeless } = this.#settings
    if (processId !== undefined) onEnded(processId)
    const reason = failure?.message
    log.error({ worker: pid, code, signal, reason }, "a worker ended; the requests in it are lost")
    const isAlone = ![...this.#workers].some((worker) => worker.livedMs >= steadyMs)
    const pauseMs = this.#replacements.afterEnd(livedMs, count, isAlone)
    if (pauseMs === undefined) {
      this.#isClosing = true
      onHopeless(this.#replacements.hopeless(failure))
      return
    }
    this.#later(pauseMs, () => {
      this.#countReplacement()
      // If it ends, too, its end starts the next one.
      this.#fork().catch(() => undefined)
    })
  }

  #later(ms: number, run: () => void): void {
    const timer = setTimeout(() => {
      this.#timers.delete(timer)
      run()
    }, ms)
    this.#timers.add(timer)
  }
}

function startFailureOf({ failure }: WorkerProcess): StartError {
  return failure === undefined
    ? new StartError("a worker ended while it started", "Its output, above, says why.")
    : new StartError(failure.message, failure.help)
}

/** The workers refuse a plan for the same reasons. */
function distinct(problems: readonly ApplyProblem[]): readonly ApplyProblem[] {
  return [...new Map(problems.map((problem) => [JSON.stringify(problem), problem])).values()]
}
