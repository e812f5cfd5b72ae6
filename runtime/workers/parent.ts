import type { RefusedRequest } from "../control/api.ts"
import { PlanKeeper } from "../control/plan-keeper.ts"
import type { ControlPorts, Readiness } from "../control/ports.ts"
import type { Control } from "../control/server.ts"
import { SubscriptionDesk } from "../control/subscription-desk.ts"
import { UsageDesk } from "../control/usage-desk.ts"
import { HttpClient } from "../http/client/http-client.ts"
import type { AskResponder } from "../http/server/ocsp-staples.ts"
import { createMemoryLimiter } from "../limits/memory.ts"
import type { PlanBody } from "../plan/plan.ts"
import { schemeOf } from "../plan/resources.ts"
import { certificateWarnings } from "../process/certificate-state.ts"
import { type ControlView, databaseOf } from "../process/control-view.ts"
import { openDatabase } from "../process/database.ts"
import { newOwnKey } from "../process/engine-access.ts"
import { loopbackOf } from "../process/engine-listeners.ts"
import { Heartbeat } from "../process/heartbeat.ts"
import { HistoryLosses } from "../process/history-losses.ts"
import { openQuotas, type ProcessQuotas } from "../process/metering.ts"
import { MetricPush } from "../process/metric-push.ts"
import { openCanaries } from "../process/open-canaries.ts"
import { openControl } from "../process/open-control.ts"
import { openControlListeners } from "../process/open-control-listeners.ts"
import { openEdge } from "../process/open-edge.ts"
import { openPortalListeners, servedWith } from "../process/open-portal.ts"
import { responderClient } from "../process/open-staples.ts"
import { planDiskOf } from "../process/outage-rollbacks.ts"
import { addStateMetrics, readinessOf, reportOf } from "../process/process-state.ts"
import { type Runtime, type RuntimeSettings, spoolOf } from "../process/settings.ts"
import { StartError, startErrorOf } from "../process/start-error.ts"
import { addLimitMetrics } from "../process/traffic-metrics.ts"
import type { Database } from "../store/database.ts"
import { removeProcess } from "../store/processes.ts"
import { type MetricFamily, Metrics } from "../telemetry/metrics.ts"
import { FetchedLines } from "./request-lines.ts"
import { mergedCounts, mergedMetrics, mergedStatus, mergedTotals } from "./sums.ts"
import { WorkerPool } from "./worker-pool.ts"

/** How long a call of an operator waits for a worker that does not reply. */
const operatorMs = 2_000

/** How a parent process is started: as one process, and the number of its workers. */
export interface ParentSettings extends RuntimeSettings {
  readonly workers: number
  /** Descriptors of listening sockets that a supervisor passed. */
  readonly sockets: readonly number[]
}

/** A running parent with its workers. */
export interface ParentRuntime
  extends Pick<Runtime, "controlUrl" | "addresses" | "portalAddresses" | "notReady" | "close"> {
  /** Resolves when workers end again and again, with the reason. Then call `close`. */
  readonly failed: Promise<StartError>
}

/**
 * Starts the parent of a machine: it operates (plans, control listener, metrics, shared counts) and serves no traffic. Its workers, which are the same
 * program, serve the gateway and the engine on the same addresses.
 * @throws StartError for problems that the user can fix
 */
export async function startParent(settings: ParentSettings): Promise<ParentRuntime> {
  if ("folder" in settings.database)
    throw new StartError(
      "workers need PostgreSQL: the embedded database belongs to one process",
      "Set SALLYPORT_DATABASE_URL to a PostgreSQL server, or omit --workers.",
    )
  if (!settings.roles.some((role) => role === "gateway" || role === "authz"))
    throw new StartError(
      "workers serve the roles `gateway` and `authz`, and this process has neither",
      "Add one of these roles to --only, or omit --workers.",
    )
  const metrics = new Metrics()
  const database = await openDatabase(settings.database, settings.log, metrics)
  try {
    return await start(settings, database, metrics)
  } catch (error) {
    await database.close()
    throw error
  }
}

/** The parent has the roles `control` and `portal`; its workers have the others. */
async function start(settings: ParentSettings, database: Database, metrics: Metrics): Promise<ParentRuntime> {
  const { log, graceMs = 10_000, workers, version } = settings
  const roles = settings.roles.filter((role) => role === "control" || role === "portal")
  const losses = new HistoryLosses(metrics, log)
  const quotas = openQuotas(database, spoolOf(settings), losses)
  const engineKey = newOwnKey()
  const { operators, edge, http, askResponder, closeOperators } = operatorsOf(settings, database, metrics)
  const { pool, failed } = poolOf(settings, { database, metrics, quotas, engineKey, askResponder })
  const { disk, outage } = planDiskOf(settings, database)
  const metering = desksOf(database, () => keeper.served, pool)
  const behind = { database, metering, refused: { recent: () => recentIn(pool) }, keeper: () => keeper }
  const portal = openPortalListeners(settings, { ...behind, outage, http, edge })
  const servable = servedWith(pool, operators, portal?.listeners)
  const keeper = new PlanKeeper({ database, log, servable, disk, outage, onHistoryLost: losses.ofPlans })
  const report = () => stateOf({ keeper, pool, losses, database, workers }, quotas)
  const heartbeat = new Heartbeat({ database, roles, version, state: report })
  const sides = { operators, portal: portal?.listeners, gateway: undefined, listeners: undefined }
  addStateMetrics(metrics, { report, keeper, ...sides })
  const push = new MetricPush(settings, metrics, () => allMetrics(metrics, pool))
  keeper.onChange = () => {
    tellPlan(pool, keeper)
    if (roles.length > 0) heartbeat.beat()
  }
  const canaries = openCanaries({ database, log, keeper, host: pool, processId: heartbeat.id })
  const readiness = readinessWith(pool, settings, keeper, database)
  let control: Control | undefined
  let isStarted = false
  const close = async () => {
    await Promise.all([control?.close(), portal?.close()])
    await Promise.all([canaries.close(), keeper.close(), push.close()])
    await pool.close(graceMs)
    await heartbeat.stop()
    await Promise.all([quotas.close(), closeOperators()])
    await database.close()
  }
  try {
    const view = withWarnings(viewOf(pool, keeper, database, metrics, engineKey), { ...sides, ...edge })
    const parts = { database, keeper, heartbeat, readiness, view, metering, operators, canaries, outage }
    control = await openControl(settings, { ...parts, started: () => isStarted })
    await pool.start()
    await quotas.start()
    await (settings.plan === undefined ? keeper.start() : keeper.serveFile(settings.plan))
    await canaries.start()
    push.follow(keeper)
  } catch (error) {
    await close()
    throw startErrorOf(error)
  }
  isStarted = true
  // A process without a role of its own is not part of the fleet.
  if (roles.length > 0) heartbeat.start()
  return {
    controlUrl: control?.url,
    addresses: () => pool.addresses,
    portalAddresses: () => portal?.listeners.addresses() ?? [],
    notReady: async () => (await readiness()).reasons,
    failed,
    close,
  }
}

/** The control listeners of plans, and their certificates. */
function operatorsOf(settings: ParentSettings, database: Database, metrics: Metrics) {
  const http = new HttpClient()
  const askResponder = responderClient(http)
  const edge = openEdge(settings, { database, metrics, askResponder })
  const operators = openControlListeners(settings, { http, edge })
  const closeOperators = async () => {
    await Promise.all([edge.close(), http.close()])
  }
  return { operators, edge, http, askResponder, closeOperators }
}

/** Tells the workers which plan runs. */
function tellPlan(pool: WorkerPool, { serial, error, refusedSerial, kept, keptAt }: PlanKeeper): void {
  pool.planChanged({ serial, error, refusedSerial, kept: kept ?? null, keptAt: keptAt?.getTime() ?? null })
}

/** The workers, with the limits of the machine. `failed` resolves when workers end again and again. */
function poolOf(
  { log, workers: count, sockets }: ParentSettings,
  parts: {
    readonly database: Database
    readonly metrics: Metrics
    readonly quotas: ProcessQuotas
    readonly engineKey: string
    readonly askResponder: AskResponder
  },
): { readonly pool: WorkerPool; readonly failed: Promise<StartError> } {
  const { database, ...shared } = parts
  const limiter = createMemoryLimiter()
  addLimitMetrics(shared.metrics, () => limiter.stats())
  let onHopeless: (reason: StartError) => void = () => undefined
  const failed = new Promise<StartError>((resolve) => {
    onHopeless = resolve
  })
  const pool = new WorkerPool({
    ...{ count, log, limiter, sockets, ...shared },
    // Otherwise an apply would wait for its report.
    onEnded: (id) => void removeProcess(database, id).catch(() => undefined),
    onHopeless,
  })
  return { pool, failed }
}

/**
 * The readiness of the machine: that of the process, and at least one worker that serves. With `ready when warm`, all of its first workers must have their stores in
 * memory; one that replaces another loads them while the others serve.
 */
function readinessWith(
  pool: WorkerPool,
  { workers, plan }: Pick<ParentSettings, "workers" | "plan">,
  keeper: PlanKeeper,
  database: Database,
): () => Promise<Readiness> {
  let wasWarm = false
  return async () => {
    const cold = [...new Set((await pool.states()).flatMap((state) => state.cold))]
    wasWarm ||= keeper.served !== null && pool.serving > 0 && cold.length === 0
    const warm = { reasons: wasWarm ? [] : cold }
    const found = await readinessOf(database, keeper, plan !== undefined, warm)
    const missing = keeper.served === null ? undefined : missingOf(pool, workers)
    if (missing === undefined) return found
    if (pool.serving === 0) return { ...found, reasons: [...found.reasons, missing] }
    return { ...found, warnings: [...found.warnings, missing] }
  }
}

function missingOf(pool: WorkerPool, wanted: number): string | undefined {
  return pool.serving === wanted ? undefined : `${pool.serving} of ${wanted} workers serve the plan`
}

/** The state of the parent itself; each worker reports its own. */
function stateOf(
  parts: {
    readonly keeper: PlanKeeper
    readonly pool: WorkerPool
    readonly losses: HistoryLosses
    readonly database: Database
    readonly workers: number
  },
  quotas: { readonly error: string | undefined },
): ReturnType<typeof reportOf> {
  const { keeper, pool, database, workers } = parts
  const nothing = { error: undefined }
  const servers = { primary: database, reasons: () => [] }
  const own = reportOf(
    { ...parts, servers, gateway: undefined, listeners: undefined, relations: nothing },
    { issued: { ...nothing, revision: 0 }, usage: { ...nothing, lost: 0 }, quotas },
  )
  const missing = keeper.served === null ? undefined : missingOf(pool, workers)
  if (missing === undefined) return own
  return {
    ...own,
    state: own.state === "active" ? "degraded" : own.state,
    reasons: [...own.reasons, missing],
  }
}

function desksOf(
  database: Database,
  plan: () => PlanBody | null,
  pool: WorkerPool,
): { readonly subscriptionDesk: ControlPorts["subscriptions"]; readonly usageDesk: ControlPorts["usage"] } {
  // The operator's call ends when all workers know the change.
  const changed = async () => {
    await Promise.all(pool.started.map((worker) => worker.askWithin(operatorMs, "subscriptionsChanged")))
  }
  const flush = async () => {
    await Promise.all(pool.started.map((worker) => worker.askWithin(operatorMs, "flushUsage")))
  }
  return {
    subscriptionDesk: new SubscriptionDesk({ database, plan, changed }),
    usageDesk: new UsageDesk({ database, plan, flush }),
  }
}

/** The metrics of the machine: those of the parent and of all workers. */
async function allMetrics(metrics: Metrics, pool: WorkerPool): Promise<readonly MetricFamily[]> {
  return mergedMetrics([metrics.read(), ...(await pool.metrics())])
}

/** The workers as one process. */
function viewOf(
  pool: WorkerPool,
  keeper: PlanKeeper,
  database: Database,
  metrics: Metrics,
  engineKey: string,
): ControlView {
  const lines = new FetchedLines(async () => {
    const found = pool.started.map((worker) => worker.askWithin(operatorMs, "requestLines"))
    return (await Promise.all(found)).flatMap((each) => each ?? [])
  })
  return {
    traffic: async () =>
      mergedTotals(await Promise.all(pool.started.map((worker) => worker.askWithin(operatorMs, "traffic")))),
    listen: lines.listen,
    routeCounts: async (keys) =>
      mergedCounts(
        await Promise.all(pool.started.map((worker) => worker.askWithin(operatorMs, "routeCounts", keys))),
      ),
    recentRefusals: () => recentIn(pool),
    metrics: () => allMetrics(metrics, pool),
    explain: async ({ body, ...question }) => {
      const workers = pool.started
      const worker = workers.find(({ serves }) => serves) ?? workers[0]
      return (
        (await worker?.channel.ask("explain", { ...question, body: body?.toString("base64") })) ?? undefined
      )
    },
    refusal: async (id) => {
      const found = await Promise.all(
        pool.started.map((worker) => worker.askWithin(operatorMs, "refusal", id)),
      )
      return found.find((each) => each !== undefined && each !== null)
    },
    engine: () => {
      const [address] = pool.addresses.authz
      if (address === undefined) return undefined
      const scheme = schemeOf(keeper.served?.authz?.listen ?? [], address)
      return { url: `${scheme}://${loopbackOf(address)}`, authorization: `Bearer ${engineKey}` }
    },
    status: async () => mergedStatus(databaseOf(database), await pool.states()),
  }
}

/** The last refusals that the workers remember, newest first. */
async function recentIn(pool: WorkerPool): Promise<RefusedRequest[]> {
  const found = pool.started.map((worker) => worker.askWithin(operatorMs, "recentRefusals"))
  const all = (await Promise.all(found)).flatMap((each) => each ?? [])
  return all.sort((one, other) => (one.at < other.at ? 1 : -1))
}

/** The view, with what is wrong with the certificates of the parent's own listeners. */
function withWarnings(
  view: ControlView,
  parts: Pick<Parameters<typeof certificateWarnings>[0], "operators" | "portal" | "acme" | "staples">,
): ControlView {
  const own = () => certificateWarnings({ gateway: undefined, listeners: undefined, ...parts })
  return {
    ...view,
    status: async () => {
      const status = await view.status()
      return { ...status, warnings: [...new Set([...own(), ...status.warnings])] }
    },
  }
}
