import { join } from "node:path"
import type { ModelText } from "./authz/ports.ts"
import { Engine } from "./check/engine.ts"
import type { TupleKey } from "./check/ports.ts"
import type { Author } from "./control/api.ts"
import { PlanKeeper } from "./control/plan-keeper.ts"
import type { ApplyOutcome } from "./control/ports.ts"
import type { Control } from "./control/server.ts"
import { createGateway, type Gateway } from "./gateway/gateway.ts"
import { type Observer, observers } from "./gateway/observer.ts"
import { HttpClient } from "./http/client/http-client.ts"
import { createVerifier, type IssuerSettings } from "./identity/issuer.ts"
import { createKeyTable } from "./identity/keys.ts"
import type { TokenVerifier } from "./identity/verifier.ts"
import { createMemoryLimiter } from "./limits/memory.ts"
import type { Plan } from "./plan/plan.ts"
import type { Address } from "./plan/resources.ts"
import { type DatabaseSettings, openDatabase } from "./process/database.ts"
import { DenialLog } from "./process/denial-log.ts"
import { EngineAccess } from "./process/engine-access.ts"
import { EngineListeners } from "./process/engine-listeners.ts"
import { Heartbeat, type ProcessReport } from "./process/heartbeat.ts"
import { HistoryLosses } from "./process/history-losses.ts"
import { KeptPlanFile } from "./process/kept-plan.ts"
import { Metering, type MeteringSettings } from "./process/metering.ts"
import { openControl } from "./process/open-control.ts"
import { PlanStores } from "./process/plan-stores.ts"
import {
  addKeptPlanMetric,
  addStateMetric,
  processState,
  type StatefulParts,
} from "./process/process-state.ts"
import { RefusalLog } from "./process/refusal-log.ts"
import { RefusedRequests } from "./process/refused-requests.ts"
import { RelationChanges } from "./process/relation-changes.ts"
import { RequestObserver } from "./process/request-observer.ts"
import { seedStore } from "./process/seed-store.ts"
import { servedBy } from "./process/served-plan.ts"
import { StartError } from "./process/start-error.ts"
import { addTrafficMetrics } from "./process/traffic-metrics.ts"
import type { Database } from "./store/database.ts"
import { migrate } from "./store/migrate.ts"
import { schemaState } from "./store/schema-state.ts"
import { createTupleSource } from "./store/tuple-source.ts"
import { TupleWriter } from "./store/tuple-writer.ts"
import { createAccessLog, type Log } from "./telemetry/log.ts"
import { Metrics } from "./telemetry/metrics.ts"
import { addProcessMetrics } from "./telemetry/process-metrics.ts"

/** What a process does: the public gateway, the engine's internal listener, the operators' listener. */
export type Role = "gateway" | "authz" | "control"

/** What a process is started with. */
export interface RuntimeSettings {
  readonly database: DatabaseSettings
  readonly roles: readonly Role[]
  /** Where operators are listened to, and without that role health and metrics are served; the role `control` needs the token. undefined: nowhere. */
  readonly control: { readonly listen: Address; readonly token?: string } | undefined
  /** Names that the engine's and the control listener answer to besides IP addresses, `localhost` and the machine's name; none when absent. */
  readonly hosts?: readonly string[]
  /** A plan to serve from a file, instead of the newest of the history. */
  readonly plan?: Plan
  /** Where `env()` of plans reads. */
  readonly env: Readonly<Record<string, string | undefined>>
  /** Folder that file names in plans are relative to. */
  readonly cwd: string
  readonly version: string
  readonly log: Log
  /** Whether requests are logged, one line each: on standard output, or to a log of the caller's. */
  readonly accessLog: boolean | Log
  /** Brings the database's schema up to this version first. For an embedded database, which nobody else could open meanwhile. */
  readonly migrate?: boolean
  /** Lets the engine's API take and give models as text. The compiler has it. */
  readonly modelText?: ModelText
  /** Where usage waits while the database is away; `.sallyport/spool` in `cwd` when absent. */
  readonly spoolFolder?: string
  /** Whether the plan served is kept on disk, for a start while the database is away; true when absent. */
  readonly keepPlan?: boolean
  /** How long `close` waits for requests under way; 10,000 when absent. */
  readonly graceMs?: number
}

/** A running process. */
export interface Runtime {
  /** Of the control listener, or what a process without that role has at its address. */
  readonly controlUrl: string | undefined
  addresses(): { readonly gateway: readonly string[]; readonly authz: readonly string[] }
  /** Applies a plan over the one that is running now. */
  apply(plan: Plan, author: Author): Promise<ApplyOutcome>
  /** Writes tuples to a declared store that never had any; answers how many were written. */
  seed(store: string, tuples: readonly TupleKey[]): Promise<number>
  /** Serial of the plan served; null when none, or one from a file, is. */
  serial(): number | null
  /** Why it should get no traffic yet; empty when it is ready. */
  notReady(): Promise<readonly string[]>
  /** Takes nothing new, lets requests end (`graceMs` at most), closes everything. */
  close(): Promise<void>
}

const graceMsDefault = 10_000

/**
 * Starts a process: database, engine, gateway, control, in this order, then serves the newest plan and follows what is applied elsewhere.
 * A database that is away or not migrated does not end it: it says "not ready" and why, and goes on when the database is there.
 * @throws StartError for what a person can mend: a port in use, a folder in use, a plan file that cannot be served.
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

/** Brings the database's schema up to this version; safe to run twice and at once. Answers the names of the files applied. */
export async function migrateDatabase(settings: {
  readonly database: DatabaseSettings
  readonly log: Log
}): Promise<readonly string[]> {
  const database = await openDatabase(settings.database, settings.log)
  try {
    return await migrate(database)
  } finally {
    await database.close()
  }
}

async function start(settings: RuntimeSettings, database: Database, metrics: Metrics): Promise<Runtime> {
  const { log, roles } = settings
  addProcessMetrics(metrics)
  const http = new HttpClient()
  const losses = new HistoryLosses(metrics, log)
  const engine = new Engine(createTupleSource(database), { onHistoryLost: losses.ofTuples })
  const stores = new PlanStores(engine, tupleWriter(database, engine))
  const accessLog = settings.accessLog === true ? createAccessLog() : undefined
  const requestLog = typeof settings.accessLog === "object" ? settings.accessLog : accessLog?.log
  const metering = makeMetering(settings, { database, metrics, losses, plan: () => keeper.served })
  const { observer, refused, relations } = makeObservers({ metrics, log, requestLog, stores, metering })
  const ports = { stores, metering, observer, http }
  const gateway = roles.includes("gateway") ? makeGateway(settings, ports) : undefined
  const listeners = roles.includes("authz")
    ? makeListeners(settings, { database, engine, stores, http })
    : undefined
  losses.onLoss = () => listeners?.forgetModels()
  const servable = servedBy({ engine, stores, gateway, listeners })
  const disk = diskOf(settings)
  const keeper = new PlanKeeper({ database, servable, log, disk, onHistoryLost: losses.ofPlans })
  const report = () => reportOf({ keeper, gateway, listeners, relations, losses }, metering)
  const heartbeat = new Heartbeat({ database, roles, version: settings.version, state: report })
  addStateMetric(metrics, report)
  addKeptPlanMetric(metrics, keeper)
  addTrafficMetrics(metrics, gateway)
  keeper.onChange = () => heartbeat.beat()
  const notReady = () => reasonsAgainst(database, keeper, settings.plan !== undefined)
  let control: Control | undefined
  const graceMs = settings.graceMs ?? graceMsDefault
  const close = async () => {
    await control?.close()
    await keeper.close()
    await Promise.all([gateway?.close(graceMs), listeners?.close(graceMs)])
    await heartbeat.stop()
    await Promise.all([metering.close(), http.close()])
    engine.close()
    accessLog?.close()
    await database.close()
  }
  try {
    const parts = { keeper, heartbeat, metrics, gateway, listeners, notReady, metering, refused }
    control = await openControl(settings, parts)
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
    notReady,
    close,
  }
}

/** Who takes note of requests, and of what became of them. */
function makeObservers(parts: {
  readonly metrics: Metrics
  readonly log: Log
  readonly requestLog: Log | undefined
  readonly stores: PlanStores
  readonly metering: Metering
}) {
  const { metrics, log, requestLog, stores, metering } = parts
  const ask: ConstructorParameters<typeof RefusedRequests>[0] = (store, request) =>
    stores.check(store, request)
  const refused = new RefusedRequests(ask)
  const relations = new RelationChanges(metrics, log)
  const logs = { requests: requestLog, traces: log }
  const requests = new RequestObserver(metrics, logs, new DenialLog({ ask, log }))
  return { observer: observers(requests, metering.observer, refused, relations), refused, relations }
}

/** What `grant` and `revoke` write the engine of this process knows at once. */
function tupleWriter(database: Database, engine: Engine): TupleWriter {
  return new TupleWriter(database, (storeId, changes) => engine.applied(storeId, changes))
}

function verifierMaker(log: Log, http: HttpClient): (issuer: IssuerSettings) => TokenVerifier {
  return (issuer) =>
    createVerifier(issuer, {
      http,
      onChange: ({ ready, error }) =>
        error === undefined
          ? log.info({ issuer: issuer.name }, "issuer answers again")
          : log.warn({ issuer: issuer.name, ready, error }, "issuer does not answer"),
    })
}

function makeListeners(
  { env, cwd, log, modelText, hosts }: RuntimeSettings,
  parts: {
    readonly database: Database
    readonly engine: Engine
    readonly stores: PlanStores
    readonly http: HttpClient
  },
): EngineListeners {
  const { database, engine, stores, http } = parts
  const access = new EngineAccess({
    createVerifier: verifierMaker(log, http),
    environment: env,
    folder: cwd,
    onReload: (error) =>
      error === undefined
        ? log.info("keys of the engine's callers were read again")
        : log.error(
            { reason: error.message },
            "keys of the engine's callers have changed but cannot be used; the old ones count on",
          ),
  })
  const refusals = new RefusalLog(log)
  return new EngineListeners(
    {
      database,
      engine,
      planModel: (digest) => stores.modelPlan(digest),
      maxStalenessMs: () => stores.maxStalenessMs,
      limits: () => stores.limits,
      cors: () => stores.cors,
      modelText,
      hosts,
      authzen: () => ({ store: stores.authzenStore, url: access.authzenUrl }),
      onFault: (error, requestId) => log.warn({ err: error, request_id: requestId }, "engine request failed"),
      onRefusal: (refusal) => refusals.refused(refusal),
    },
    access,
    (error) => log.warn({ err: error }, "closing an engine listener failed"),
  )
}

/** In the spool's folder: where a process may write to only one place, that is it. An embedded database is on the same disk, and not away without it. */
function diskOf(settings: RuntimeSettings): KeptPlanFile | undefined {
  const { database, keepPlan, log } = settings
  if (keepPlan === false || "folder" in database) return undefined
  return new KeptPlanFile(join(spoolOf(settings), "plan"), database.url, log)
}

function spoolOf({ cwd, spoolFolder }: RuntimeSettings): string {
  return spoolFolder ?? join(cwd, ".sallyport", "spool")
}

function makeMetering(
  settings: RuntimeSettings,
  parts: Pick<MeteringSettings, "database" | "metrics" | "losses" | "plan">,
): Metering {
  return new Metering({ ...parts, log: settings.log, spoolFolder: spoolOf(settings) })
}

function reportOf(
  parts: Pick<StatefulParts, "gateway" | "listeners" | "relations" | "losses"> & {
    readonly keeper: PlanKeeper
  },
  { issued, usage, quotas }: Metering,
): ProcessReport {
  const { serial, error } = parts.keeper
  const subscriptions = parts.gateway === undefined ? null : issued.revision
  return {
    ...processState({ ...parts, issued, usage, quotas }),
    serial,
    error,
    subscriptions,
  }
}

function makeGateway(
  settings: RuntimeSettings,
  parts: {
    readonly stores: PlanStores
    readonly metering: Metering
    readonly observer: Observer
    readonly http: HttpClient
  },
): Gateway {
  const { log } = settings
  const { stores, observer, http } = parts
  const { issued, quotas } = parts.metering
  return createGateway({
    http,
    createVerifier: verifierMaker(log, http),
    createKeyTable: (entries) => createKeyTable(entries, issued),
    limiter: createMemoryLimiter(),
    quotas,
    authorizerOf: (plan) => stores.authorizerOf(plan),
    observer,
    environment: settings.env,
    folder: settings.cwd,
    onReload: (error) =>
      error === undefined
        ? log.info("files of the plan have changed and were read again")
        : log.error(
            { reason: error.message },
            "files of the plan have changed but cannot be used; the old ones serve on",
          ),
  })
}

/** What keeps a process from being ready: the database, its schema, its plan. */
async function reasonsAgainst(
  database: Database,
  keeper: PlanKeeper,
  hasFile: boolean,
): Promise<readonly string[]> {
  const kept = keeper.kept === undefined ? [] : [keeper.kept]
  try {
    const schema = await schemaState(database)
    // A newer schema only adds (migrations/README.md): while a release comes in, the one before serves on.
    if (schema.state !== "ok" && schema.state !== "newer") return [schema.message]
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    return [`the database does not answer: ${reason}`, ...kept]
  }
  if (hasFile || keeper.serial !== null) return []
  return [keeper.error ?? "no plan was applied yet: `sallyport apply` applies one", ...kept]
}

function startErrorOf(error: unknown): unknown {
  if (error instanceof StartError) return error
  if (error instanceof Error && (error.name === "PlanRefused" || error.name === "SourceUnavailable"))
    return new StartError(error.message)
  return error
}
