import { Engine } from "./check/engine.ts"
import { PlanKeeper } from "./control/plan-keeper.ts"
import type { Control } from "./control/server.ts"
import { HttpClient } from "./http/client/http-client.ts"
import { type DatabaseSettings, openDatabase } from "./process/database.ts"
import { openDatabaseServers } from "./process/database-servers.ts"
import { Heartbeat } from "./process/heartbeat.ts"
import { HistoryLosses } from "./process/history-losses.ts"
import { keptPlanOf } from "./process/kept-plan.ts"
import { Metering } from "./process/metering.ts"
import { openControl } from "./process/open-control.ts"
import { openEngine } from "./process/open-engine.ts"
import { openGateway } from "./process/open-gateway.ts"
import { PlanStores, seedStore } from "./process/plan-stores.ts"
import { addStateMetrics, readinessOf, reportOf } from "./process/process-state.ts"
import { makeObservers } from "./process/request-observer.ts"
import { servedBy } from "./process/served-plan.ts"
import { type Runtime, type RuntimeSettings, spoolOf } from "./process/settings.ts"
import { startErrorOf } from "./process/start-error.ts"
import { WarmStores } from "./process/warm-stores.ts"
import type { Database } from "./store/database.ts"
import { type MigrateOptions, migrate } from "./store/migrate.ts"
import { TupleWriter } from "./store/tuple-writer.ts"
import { createAccessLog, type Log } from "./telemetry/log.ts"
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
  const database = await openDatabase(settings.database, settings.log)
  try {
    return await migrate(database, { onCapabilities: settings.onCapabilities })
  } finally {
    await database.close()
  }
}

async function start(settings: RuntimeSettings, database: Database, metrics: Metrics): Promise<Runtime> {
  const { log, roles, graceMs = 10_000 } = settings
  const http = new HttpClient()
  const losses = new HistoryLosses(metrics, log)
  const servers = openDatabaseServers(settings.database, database, log, metrics)
  const engine = new Engine(servers.source, { onHistoryLost: losses.ofTuples })
  // The engine of this process gets the writes of `grant` and `revoke` at once.
  const stores = new PlanStores(engine, new TupleWriter(database, (...commit) => engine.applied(...commit)))
  const warm = new WarmStores(engine, log)
  const { requestLog, closeRequestLog } = requestLogOf(settings)
  const spoolFolder = spoolOf(settings)
  const metering = new Metering({ database, metrics, losses, log, spoolFolder, plan: () => keeper.served })
  const observing = { metrics, log, requestLog, stores, metering, database }
  const { observer, refused, relations } = makeObservers(observing)
  const ports = { database, engine, stores, metering, observer, http }
  const gateway = roles.includes("gateway") ? openGateway(settings, ports) : undefined
  const listeners = roles.includes("authz") ? openEngine(settings, ports) : undefined
  losses.onLoss = () => listeners?.forgetModels()
  const servable = servedBy({ engine, stores, warm, gateway, listeners })
  const disk = keptPlanOf(settings)
  const keeper = new PlanKeeper({ database, log, servable, disk, onHistoryLost: losses.ofPlans })
  const parts = { database, servers, keeper, gateway, listeners, metering, warm }
  const report = () => reportOf({ ...parts, relations, losses }, metering)
  const heartbeat = new Heartbeat({ database, roles, version: settings.version, state: report })
  addStateMetrics(metrics, { ...parts, report })
  keeper.onChange = () => heartbeat.beat()
  const readiness = () => readinessOf(database, keeper, settings.plan !== undefined, warm)
  let control: Control | undefined
  const close = async () => {
    listeners?.endWatches()
    warm.close()
    await control?.close()
    await keeper.close()
    await Promise.all([gateway?.close(graceMs), listeners?.close(graceMs)])
    await heartbeat.stop()
    await Promise.all([metering.close(), refused.close(), http.close()])
    engine.close()
    closeRequestLog?.()
    await Promise.all([servers.close(), database.close()])
  }
  try {
    control = await openControl(settings, { ...parts, heartbeat, metrics, readiness, refused })
    if (gateway !== undefined) await metering.start()
    if (settings.plan === undefined) await keeper.start()
    else await keeper.serveFile(settings.plan)
  } catch (error) {
    await close()
    throw startErrorOf(error)
  }
  heartbeat.start()
  return {
    controlUrl: control?.url,
    addresses: () => ({ gateway: gateway?.addresses() ?? [], authz: listeners?.addresses() ?? [] }),
    apply: async (plan, author) => keeper.apply(plan, (await keeper.history(1))[0] ?? null, author),
    seed: (store, tuples) => seedStore(database, listeners?.door(), store, tuples, http),
    serial: () => keeper.serial,
    notReady: async () => (await readiness()).reasons,
    close,
  }
}

/** The log of requests, and how to end it when it is our own. */
function requestLogOf({ accessLog }: RuntimeSettings): { requestLog?: Log; closeRequestLog?: () => void } {
  if (accessLog === true) {
    const { log, close } = createAccessLog()
    return { requestLog: log, closeRequestLog: close }
  }
  return typeof accessLog === "object" ? { requestLog: accessLog } : {}
}
