import cluster, { type Worker } from "node:cluster"
import type { ApplyProblem } from "../control/ports.ts"
import type { CanaryTerms } from "../gateway/canary/running-canary.ts"
import type { Plan } from "../plan/plan.ts"
import type { MetricFamily } from "../telemetry/metrics.ts"
import type { ParentCalls, StoreEntries, WorkerAddresses, WorkerCalls, WorkerState } from "./calls.ts"
import { Channel, ChannelClosed } from "./channel.ts"

/** How a worker ended. */
export interface WorkerEnd {
  readonly code: number | null
  readonly signal: string | null
}

/** A plan that a worker has prepared, unless there are problems. Then call exactly one of the methods; until then it prepares no other plan. */
export interface PreparedWorker {
  readonly problems: readonly ApplyProblem[]
  /** Does not reject: a worker that ends is replaced. */
  activate(stores: StoreEntries): Promise<void>
  discard(): Promise<void>
}

/** Unanswered pings after which a worker counts as hung. */
const pingsMax = 6
const pingEveryMs = 5_000
/** How long a page of metrics, a status or a probe waits for a busy worker. */
const patienceMs = 500

/** One worker process, as its parent sees it. */
export class WorkerProcess {
  readonly channel: Channel<WorkerCalls, ParentCalls>
  readonly pid: number
  /** Resolves when the process has ended. */
  readonly ended: Promise<WorkerEnd>
  /** Its name in the fleet, once it can prepare plans. */
  processId: string | undefined
  hasEnded = false
  /** Whether it serves the current plan. */
  serves = false
  /** Why it could not start. */
  failure: { readonly message: string; readonly help: string | undefined } | undefined
  /** Its last known values: counters of an ended worker stay in the sums. */
  lastMetrics: readonly MetricFamily[] = []
  addresses: WorkerAddresses = { gateway: [], authz: [] }
  readonly #process: Worker
  readonly #startedAtMs = performance.now()
  #unanswered = 0
  #lastState: WorkerState | undefined
  /** The end of the last plan that was prepared: activated, discarded, or refused. */
  #line: Promise<void> = Promise.resolve()

  /** Starts a worker: the same program with the same arguments. */
  constructor(env: Readonly<Record<string, string>>) {
    const worker = cluster.fork(env)
    this.#process = worker
    // A failed kill or message: the process has ended, or `exit` follows.
    worker.on("error", () => undefined)
    this.pid = worker.process.pid ?? 0
    this.channel = new Channel({
      send: (message, onSent) => void worker.send(message as object, (error) => onSent(error)),
      onMessage: (receive) => void worker.on("message", receive),
    })
    this.ended = new Promise((resolve) => {
      worker.once("exit", (code: number | null, signal: string | null) => {
        clearInterval(pings)
        this.channel.close()
        this.hasEnded = true
        this.serves = false
        resolve({ code, signal })
      })
    })
    const pings = setInterval(() => this.#ping(), pingEveryMs)
    pings.unref()
  }

  /** Milliseconds since its start. */
  get livedMs(): number {
    return performance.now() - this.#startedAtMs
  }

  /** Whether it can prepare plans. */
  get isStarted(): boolean {
    return this.processId !== undefined && !this.hasEnded
  }

  /** Does not reject: a worker that ends meanwhile is a problem of the plan, which may be the reason. */
  async prepare(plan: Plan): Promise<PreparedWorker> {
    const before = this.#line
    let over: () => void = () => undefined
    this.#line = new Promise((resolve) => {
      over = resolve
    })
    await before
    const problems = await this.channel.ask("prepare", plan).catch((error: Error) => {
      const message =
        error instanceof ChannelClosed
          ? `worker ${this.pid} ended while it prepared the plan. The log says how it ended. Apply the plan again; if a worker ends again, the plan may be the reason`
          : `worker ${this.pid} could not prepare the plan: ${error.message}`
      return [{ path: "", message }]
    })
    if (problems.length > 0) over()
    return {
      problems,
      activate: (stores) => this.#activate(stores).finally(over),
      discard: () =>
        this.channel
          .ask("discard")
          .catch(() => undefined)
          .finally(over),
    }
  }

  /** Prepares a plan that shall serve a share of the callers. Does not reject. */
  prepareCanary(plan: Plan, terms: CanaryTerms): Promise<readonly ApplyProblem[]> {
    return this.channel.ask("prepareCanary", plan, terms).catch((error: Error) => [
      {
        path: "",
        message: `worker ${this.pid} could not prepare the plan of the canary: ${error.message}`,
      },
    ])
  }

  async #activate(stores: StoreEntries): Promise<void> {
    try {
      this.addresses = await this.channel.ask("activate", stores)
      this.serves = true
    } catch {
      this.serves = false
      // It has ended, or must not continue with the previous plan.
      this.kill("SIGKILL")
    }
  }

  /** The reply of the worker; undefined when it has none within `ms`, or fails. For questions to all workers: a hung one must not delay the others. */
  askWithin<Name extends keyof WorkerCalls & string>(
    ms: number,
    name: Name,
    ...args: Parameters<WorkerCalls[Name]>
  ): Promise<Awaited<ReturnType<WorkerCalls[Name]>> | undefined> {
    return inTime(this.channel.ask(name, ...args), ms)
  }

  /** The values of its metrics; those of the last time while it is too busy. */
  async metrics(): Promise<readonly MetricFamily[]> {
    const values = await this.askWithin(patienceMs, "metrics")
    if (values !== undefined) this.lastMetrics = values
    return this.lastMetrics
  }

  /** Its state; the last known one while it is too busy, and undefined before the first. */
  async state(): Promise<WorkerState | undefined> {
    this.#lastState = (await this.askWithin(patienceMs, "state")) ?? this.#lastState
    return this.#lastState
  }

  kill(signal: NodeJS.Signals): void {
    this.#process.process.kill(signal)
  }

  /** A worker whose event loop is blocked serves nobody, and only its end frees its connections. */
  #ping(): void {
    if (!this.isStarted) return
    if (++this.#unanswered > pingsMax) this.kill("SIGKILL")
    this.channel.ask("ping").then(
      () => {
        this.#unanswered = 0
      },
      () => undefined,
    )
  }
}

async function inTime<T>(reply: Promise<T>, ms: number): Promise<T | undefined> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<undefined>((resolve) => {
    timer = setTimeout(() => resolve(undefined), ms)
  })
  try {
    return await Promise.race([reply, late])
  } catch {
    return undefined
  } finally {
    clearTimeout(timer)
  }
}
