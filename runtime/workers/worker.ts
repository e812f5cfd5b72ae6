import cluster from "node:cluster"
import { PlanRefused, type Prepared } from "../control/plan-keeper.ts"
import type { PreparedCanary } from "../gateway/canary/running-canary.ts"
import type { AskResponder } from "../http/server/ocsp-staples.ts"
import { createMemoryLimiter } from "../limits/memory.ts"
import type { Plan, PlanBody } from "../plan/plan.ts"
import { CanaryReports } from "../process/canary-reports.ts"
import { type ControlView, viewOf } from "../process/control-view.ts"
import { openDatabase } from "../process/database.ts"
import { Heartbeat } from "../process/heartbeat.ts"
import { addStateMetrics, reportOf } from "../process/process-state.ts"
import { openServing, type Serving } from "../process/serving.ts"
import type { RuntimeSettings } from "../process/settings.ts"
import { StartError } from "../process/start-error.ts"
import type { Database } from "../store/database.ts"
import { Metrics } from "../telemetry/metrics.ts"
import {
  noPlanNews,
  type ParentCalls,
  type ServedPlanNews,
  type StoreEntries,
  type WorkerCalls,
} from "./calls.ts"
import { Channel } from "./channel.ts"
import { MachineQuotas } from "./machine-counters.ts"
import { MachineLimiter } from "./machine-limiter.ts"
import { HeldLines } from "./request-lines.ts"

/** Time beyond the grace period after which a worker without a parent ends in any case: nobody else would free its addresses. */
const overdueMs = 5_000

type ToParent = Channel<ParentCalls, WorkerCalls>

/**
 * Runs as a worker of a parent: serves the gateway and the engine, with the plans that the parent sends. Resolves when it has ended: because the
 * parent asked for it, or because the parent has ended.
 */
export async function runWorker(settings: RuntimeSettings): Promise<void> {
  const parent = openChannel()
  const { graceMs = 10_000 } = settings
  let askedToEnd: (graceMs: number) => void = () => undefined
  const end = new Promise<number>((resolve) => {
    askedToEnd = resolve
    // The parent has ended. Nobody can bring a new plan, and the next parent needs the addresses.
    process.once("disconnect", () => {
      parent.close()
      resolve(graceMs)
      setTimeout(() => process.exit(1), graceMs + overdueMs).unref()
    })
  })
  const metrics = new Metrics()
  let database: Database | undefined
  try {
    database = await openDatabase(settings.database, settings.log, metrics)
    await serveUntil(end, askedToEnd, { settings, parent, database, metrics })
  } catch (error) {
    const { message, help } = error as Error & { readonly help?: string }
    await parent.ask("startFailed", message, help).catch(() => undefined)
    // The parent shows it, once for all workers.
    if (!(error instanceof StartError)) throw error
    process.exitCode = 1
  } finally {
    await database?.close()
    // The channel would keep the process alive.
    if (process.connected) process.disconnect()
  }
}

function openChannel(): ToParent {
  // A terminal and systemd signal all processes at once; the parent ends its workers in order.
  for (const signal of ["SIGINT", "SIGTERM"]) process.on(signal, () => undefined)
  // Otherwise Node ends a worker at once when its parent ends, and its requests would be lost.
  if (cluster.worker !== undefined) cluster.worker.exitedAfterDisconnect = true
  // Node's own messages, for example for a new listener, fail when the parent was killed; `disconnect` follows.
  cluster.worker?.on("error", () => undefined)
  return new Channel({
    send: (message, onSent) => void process.send?.(message, undefined, undefined, onSent),
    onMessage: (receive) => void process.on("message", receive),
  })
}

interface WorkerParts {
  readonly settings: RuntimeSettings
  readonly parent: ToParent
  readonly database: Database
  readonly metrics: Metrics
}

async function serveUntil(
  end: Promise<number>,
  askedToEnd: (graceMs: number) => void,
  { settings, parent, database, metrics }: WorkerParts,
): Promise<void> {
  const { version } = settings
  const roles = settings.roles.filter((role) => role === "gateway" || role === "authz")
  const { engineKey, ticketSeed } = await parent.ask("hello")
  const limiter = new MachineLimiter(parent, createMemoryLimiter())
  const askResponder: AskResponder = async (url, request) =>
    Buffer.from(await parent.ask("askResponder", url, request.toString("base64")), "base64")
  const shared = { limiter, quotas: new MachineQuotas(parent), engineKey, ticketSeed, askResponder }
  const plan = new PlanOfParent()
  const own = { ...settings, roles }
  const serving = openServing(own, { database, metrics, plan: () => plan.served, shared })
  const { gateway, listeners, metering, warm } = serving
  const parts = { ...serving, keeper: plan }
  const report = () => reportOf(parts, metering)
  const heartbeat = new Heartbeat({ database, roles, version, state: report })
  addStateMetrics(metrics, { ...parts, report })
  plan.onChange = () => heartbeat.beat()
  const view = viewOf(serving, { database, metrics })
  const plans = planCalls(serving, plan)
  parent.serve({
    ...plans.calls,
    ...limiter.calls,
    ...canaryCalls(serving),
    ...viewCalls(view, warm),
    metrics: () => metrics.read(),
    close: askedToEnd,
  })
  const reports = gateway === undefined ? undefined : new CanaryReports(database, gateway, heartbeat.id)
  try {
    if (gateway !== undefined) await metering.start()
    heartbeat.start()
    reports?.start()
    parent.tell("started", heartbeat.id)
    const graceMs = await end
    listeners?.endWatches()
    warm.close()
    await Promise.all([plans.end(), reports?.close()])
    await serving.stop(graceMs)
  } finally {
    await heartbeat.stop()
    await serving.close()
  }
}

/** The plan of this worker, as far as the parent has told. */
class PlanOfParent {
  served: PlanBody | null = null
  onChange: () => void = () => undefined
  #news = noPlanNews

  set news(news: ServedPlanNews) {
    this.#news = news
    this.onChange()
  }

  get serial(): number | null {
    return this.served === null ? null : this.#news.serial
  }

  get error(): string | null {
    return this.#news.error
  }

  get refusedSerial(): number | null {
    return this.#news.refusedSerial
  }

  get kept(): string | undefined {
    return this.#news.kept ?? undefined
  }

  get keptAt(): Date | undefined {
    return this.#news.keptAt === null ? undefined : new Date(this.#news.keptAt)
  }
}

/** The calls that change what a worker serves. `end`: call it before the parts of `serving` stop, which wait for a plan that is prepared. */
function planCalls(
  { servable, addresses, metering }: Serving,
  current: PlanOfParent,
): {
  readonly calls: Pick<
    WorkerCalls,
    "prepare" | "activate" | "discard" | "planChanged" | "subscriptionsChanged" | "flushUsage"
  >
  end(): Promise<void>
} {
  let isEnding = false
  let ready: { readonly prepared: Prepared; readonly body: PlanBody } | undefined
  let activation: Promise<void> | undefined
  const take = () => {
    const taken = ready
    ready = undefined
    if (taken === undefined) throw new Error("no plan is prepared")
    return taken
  }
  const calls = {
    async prepare(plan: Plan) {
      try {
        const prepared = await servable.prepare(plan)
        ready = { prepared, body: plan.plan }
        if (!isEnding) return []
        await take().prepared.discard()
        return [{ path: "", message: "the worker ends" }]
      } catch (error) {
        if (error instanceof PlanRefused) return error.problems
        throw error
      }
    },
    async activate(stores: StoreEntries) {
      if (isEnding) return addresses()
      const { prepared, body } = take()
      activation = prepared.activate(new Map(stores))
      await activation
      current.served = body
      current.onChange()
      return addresses()
    },
    discard: () => take().prepared.discard(),
    planChanged(news: ServedPlanNews) {
      current.news = news
    },
    subscriptionsChanged: () => metering.issued.refresh(),
    flushUsage: () => metering.usage.flush(),
  }
  return {
    calls,
    async end() {
      isEnding = true
      await activation
      if (ready !== undefined) await take().prepared.discard()
    },
  }
}

/** The calls about a plan that serves a share of the callers. */
function canaryCalls({
  canaryHost,
}: Pick<Serving, "canaryHost">): Pick<
  WorkerCalls,
  "prepareCanary" | "activateCanary" | "discardCanary" | "endCanary"
> {
  let ready: PreparedCanary | undefined
  const take = () => {
    const taken = ready
    ready = undefined
    return taken
  }
  return {
    async prepareCanary(plan, terms) {
      try {
        ready = await canaryHost.prepareCanary(plan, terms)
        return []
      } catch (error) {
        if (error instanceof PlanRefused) return error.problems
        throw error
      }
    },
    activateCanary: () => take()?.activate(),
    discardCanary: () => take()?.discard(),
    endCanary: () => canaryHost.endCanary(),
  }
}

type ViewCall =
  | ("state" | "explain" | "refusal" | "recentRefusals" | "traffic" | "routeCounts")
  | ("requestLines" | "ping")

function viewCalls(view: ControlView, warm: Serving["warm"]): Pick<WorkerCalls, ViewCall> {
  const lines = new HeldLines(view.listen)
  return {
    state: async () => ({ ...(await view.status()), cold: warm.reasons }),
    explain: ({ body, ...question }) =>
      view.explain({ ...question, body: body === undefined ? undefined : Buffer.from(body, "base64") }),
    refusal: (id) => view.refusal(id),
    traffic: () => view.traffic(),
    recentRefusals: () => view.recentRefusals(),
    routeCounts: (keys) => view.routeCounts(keys),
    requestLines: () => lines.take(),
    ping: () => undefined,
  }
}
