import { PlanKeeper } from "./control/plan-keeper.ts"
import type { Control } from "./control/server.ts"
import { CanaryReports } from "./process/canary-reports.ts"
import { viewOf } from "./process/control-view.ts"
import { type DatabaseSettings, openDatabase } from "./process/database.ts"
import { Heartbeat } from "./process/heartbeat.ts"
import { MetricPush } from "./process/metric-push.ts"
import { openCanaries } from "./process/open-canaries.ts"
import { openControl } from "./process/open-control.ts"
import { openControlListeners } from "./process/open-control-listeners.ts"
import { openPortalListeners, servedWith } from "./process/open-portal.ts"
import { planDiskOf } from "./process/outage-rollbacks.ts"
import { seedStore } from "./process/plan-stores.ts"
import { addStateMetrics, readinessOf, reportOf } from "./process/process-state.ts"
import { openServing } from "./process/serving.ts"
import type { Runtime, RuntimeSettings } from "./process/settings.ts"
import { startErrorOf } from "./process/start-error.ts"
import type { Database } from "./store/database.ts"
import { type MigrateOptions, migrate } from "./store/migrate.ts"
import type { Log } from "./telemetry/log.ts"
import { Metrics } from "./telemetry/metrics.ts"

/**
 * Starts a process: database, engine, gateway, control, in this order. It then runs the newest plan and follows plans that other processes
 * apply. A database that is unavailable or not migrated does not end the process: it reports "not ready" with the reason, and continues
 * when the database is available.
 * @throws StartError for problems that the user can fix: a port in use, a folder in use, a plan file that cannot run
 */
export async function startRuntime(settings: RuntimeSettings): Promise<Runtime> {
  const metrics = new Metrics()
  const database = await openDatabase(settings.database, settings.log, metrics)
  try {
    if (settings.migrate) await migrate(database)
    return await start(settings, database, metrics)
  } catch (error) {
    await database.close()
    throw error
  }
}

/** Brings the database's schema to this version; safe to run twice and concurrently. Returns the names of the applied files. */
export async function migrateDatabase(settings: {
  readonly database: DatabaseSettings
  readonly log: Log
  /** Called with what the server can do, before anything is applied. */
  readonly onCapabilities?: MigrateOptions["onCapabilities"]
}): Promise<readonly string[]> {
  const { database: server, log } = settings
  // Nobody waits for its response, and a server that is busy with a migration may be silent for long.
  const database = await openDatabase("url" in server ? { ...server, silentMs: 10_000 } : server, log)
  try {
    return await migrate(database, { onCapabilities: settings.onCapabilities })
  } finally {
    await database.close()
  }
}

async function start(settings: RuntimeSettings, database: Database, metrics: Metrics): Promise<Runtime> {
  const { log, roles, graceMs = 10_000 } = settings
  const serving = openServing(settings, { database, metrics, plan: () => keeper.served })
  const { gateway, listeners, metering, losses, warm, http } = serving
  const { disk, outage } = planDiskOf(settings, database)
  const operators = openControlListeners(settings, { http, edge: serving.edge })
  const portal = openPortalListeners(settings, { ...serving, database, outage, keeper: () => keeper })
  const servable = servedWith(serving.servable, operators, portal?.listeners)
  const keeper = new PlanKeeper({ database, log, disk, outage, servable, onHistoryLost: losses.ofPlans })
  const parts = { ...serving, keeper, operators, portal: portal?.listeners, outage }
  const report = () => reportOf(parts, metering)
  const heartbeat = new Heartbeat({ database, roles, version: settings.version, state: report })
  addStateMetrics(metrics, { ...parts, report })
  const push = new MetricPush(settings, metrics, async () => metrics.read())
  keeper.onChange = () => heartbeat.beat()
  const own = { database, log, keeper, processId: heartbeat.id }
  const canaries = openCanaries({ ...own, host: serving.canaryHost })
  const reports = gateway === undefined ? undefined : new CanaryReports(database, gateway, heartbeat.id)
  const readiness = () => readinessOf(database, keeper, settings.plan !== undefined, warm)
  let control: Control | undefined
  let isStarted = false
  const close = async () => {
    listeners?.endWatches()
    warm.close()
    await Promise.all([control?.close(), portal?.close()])
    await Promise.all([canaries.close(), keeper.close(), reports?.close()])
    await serving.stop(graceMs)
    await heartbeat.stop()
    await push.close()
    await serving.close()
    await database.close()
  }
  try {
    const view = viewOf({ ...serving, operators, portal: parts.portal }, { database, metrics })
    const health = { readiness, started: () => isStarted }
    control = await openControl(settings, { ...parts, database, heartbeat, ...health, view, canaries })
    if (gateway !== undefined) await metering.start()
    if (settings.plan === undefined) await keeper.start()
    else await keeper.serveFile(settings.plan)
    await canaries.start()
    reports?.start()
    push.follow(keeper)
  } catch (error) {
    await close()
    throw startErrorOf(error)
  }
  isStarted = true
  heartbeat.start()
  return {
    controlUrl: control?.url,
    addresses: serving.addresses,
    portalAddresses: () => portal?.listeners.addresses() ?? [],
    apply: async (plan, author) => keeper.apply(plan, (await keeper.history(1))[0] ?? null, author),
    seed: (store, tuples) => seedStore(database, listeners?.door(), store, tuples, http),
    serial: () => keeper.serial,
    notReady: async () => (await readiness()).reasons,
    close,
  }
}
