import { Engine } from "../check/engine.ts"
import type { RouteCounts } from "../control/api.ts"
import type { CanaryHost } from "../control/canary-keeper.ts"
import type { Servable } from "../control/plan-keeper.ts"
import type { TrafficTotals } from "../control/traffic-history.ts"
import type { Gateway } from "../gateway/gateway.ts"
import { HttpClient } from "../http/client/http-client.ts"
import type { AskResponder } from "../http/server/ocsp-staples.ts"
import type { TicketSeed } from "../http/server/ticket-keys.ts"
import type { BoundedLimiter } from "../limits/limiter.ts"
import type { Plan, PlanBody } from "../plan/plan.ts"
import type { Database } from "../store/database.ts"
import { TupleWriter } from "../store/tuple-writer.ts"
import { createAccessLog, type Log } from "../telemetry/log.ts"
import type { Metrics } from "../telemetry/metrics.ts"
import { type DatabaseServers, openDatabaseServers } from "./database-servers.ts"
import type { EngineListeners } from "./engine-listeners.ts"
import { EngineLog } from "./engine-log.ts"
import { addEngineMetrics } from "./engine-metrics.ts"
import { EngineObserver } from "./engine-observer.ts"
import { HistoryLosses } from "./history-losses.ts"
import { Metering, type ProcessQuotas } from "./metering.ts"
import { type Edge, openEdge } from "./open-edge.ts"
import { openEngine } from "./open-engine.ts"
import { openGateway } from "./open-gateway.ts"
import { responderClient } from "./open-staples.ts"
import { PlanStores } from "./plan-stores.ts"
import { ProcessRecording } from "./recording.ts"
import type { RefusedRequests } from "./refused-requests.ts"
import type { RelationChanges } from "./relation-changes.ts"
import type { RequestFeed } from "./request-feed.ts"
import { makeObservers } from "./request-observer.ts"
import { canariesOf, servedBy } from "./served-plan.ts"
import { type RuntimeSettings, spoolOf } from "./settings.ts"
import { StoreNames } from "./store-names.ts"
import { Tracing } from "./tracing.ts"
import { WarmStores } from "./warm-stores.ts"

/** What a worker does not have of its own: counters of the machine, the key with which its parent calls the engine, and the seed of TLS session tickets. */
export interface SharedByWorkers {
  readonly limiter: BoundedLimiter
  readonly quotas: ProcessQuotas
  readonly engineKey: string
  /** With it, a client resumes its TLS session on any worker. */
  readonly ticketSeed: TicketSeed
  /** Asks OCSP responders once for all workers. */
  readonly askResponder: AskResponder
}

/** The parts of a process that serve requests; `gateway` and `listeners` are undefined where it does not have the role. */
export interface Serving {
  readonly gateway: Gateway | undefined
  readonly listeners: EngineListeners | undefined
  readonly metering: Metering
  readonly servers: DatabaseServers
  readonly warm: WarmStores
  readonly losses: HistoryLosses
  readonly refused: RefusedRequests
  readonly relations: RelationChanges
  readonly http: HttpClient
  readonly edge: Edge
  readonly feed: RequestFeed
  /** What the gateway has counted since the start. */
  totals(): Omit<TrafficTotals, "running">
  /** How many responses of each backend had their head in each bucket of time. */
  backendDurations(): Record<string, number[]>
  /** The same for some routes, by key. */
  routeCounts(keys: readonly string[]): Readonly<Record<string, RouteCounts>>
  /** Runs plans on these parts. */
  readonly servable: Servable
  /** Serves canaries beside them. */
  readonly canaryHost: CanaryHost
  /** The addresses on which they listen, as `host:port`. */
  addresses(): { readonly gateway: readonly string[]; readonly authz: readonly string[] }
  /** Accepts no new requests, and waits for those in progress, at most `graceMs`. */
  stop(graceMs: number): Promise<void>
  /** Writes what was counted. Call it after `stop`. */
  close(): Promise<void>
}

/** Builds the engine, the gateway and what they need. They listen when the first plan is activated. */
export function openServing(
  settings: RuntimeSettings,
  parts: {
    readonly database: Database
    readonly metrics: Metrics
    /** The running plan. */
    readonly plan: () => PlanBody | null
    readonly shared?: SharedByWorkers
  },
): Serving {
  const { log, roles } = settings
  const { database, metrics, plan, shared } = parts
  const http = new HttpClient()
  const losses = new HistoryLosses(metrics, log)
  const servers = openDatabaseServers(settings.database, database, log, metrics)
  const engine = new Engine(servers.source, { onHistoryLost: losses.ofTuples })
  // The engine of this process gets the writes of `grant` and `revoke` at once.
  const writes = new TupleWriter(database, (...commit) => engine.applied(...commit))
  const names = new StoreNames()
  const { requestLog, closeRequestLog } = requestLogOf(settings, shared !== undefined)
  const engineLog = new EngineLog(requestLog ?? log, log)
  const asked = new EngineObserver(metrics, names, engineLog)
  if (roles.some((role) => role !== "control")) addEngineMetrics(metrics, engine, names)
  const stores = new PlanStores({ checks: engine, writes, observer: asked })
  const warm = new WarmStores(engine, log, names)
  const askResponder = shared?.askResponder ?? responderClient(http)
  const edge = openEdge(settings, { database, metrics, askResponder, ticketSeed: shared?.ticketSeed })
  const measured = { database, metrics, losses, log, spoolFolder: spoolOf(settings), plan }
  const metering = new Metering({ ...measured, quotas: shared?.quotas })
  const observing = { metrics, log, requestLog, stores, metering, database }
  const { observer, refused, relations, ...counted } = makeObservers(observing)
  const tracing = new Tracing({ http, log, version: settings.version }, metrics)
  const recording = new ProcessRecording(log, metrics)
  const ports = { edge, database, engine, stores, metering, observer, http, tracing, recording }
  const gateway = roles.includes("gateway")
    ? openGateway(settings, { ...ports, limiter: shared?.limiter })
    : undefined
  const listeners = roles.includes("authz")
    ? openEngine(settings, { ...ports, observer: asked, ownKey: shared?.engineKey })
    : undefined
  losses.onLoss = () => listeners?.forgetModels()
  return {
    ...{ gateway, listeners, metering, servers, warm, losses, refused, relations, http, edge },
    ...counted,
    canaryHost: canariesOf(gateway, settings.env),
    servable: servedBy({ engine, stores, warm, gateway, listeners, ...readingOf(settings, engineLog) }),
    addresses: () => ({ gateway: gateway?.addresses() ?? [], authz: listeners?.addresses() ?? [] }),
    async stop(graceMs) {
      await Promise.all([gateway?.close(graceMs), listeners?.close(graceMs)])
    },
    async close() {
      // The last spans are sent with the client that closes after it.
      await Promise.all([tracing.close(), recording.close()])
      await Promise.all([metering.close(), refused.close(), http.close(), edge.close()])
      engine.close()
      closeRequestLog?.()
      await servers.close()
    },
  }
}

/** What plans read from outside of this process. */
function readingOf({ env, cwd }: RuntimeSettings, log: EngineLog) {
  return { environment: env, log: (plan: Plan) => log.prepare(plan, { environment: env, folder: cwd }) }
}

/** The log of requests, and how to end it when it is our own. `isWorker`: other workers write to the same output. */
function requestLogOf(
  { accessLog, logNames }: RuntimeSettings,
  isWorker: boolean,
): { requestLog?: Log; closeRequestLog?: () => void } {
  if (accessLog === true) {
    const { log, close } = createAccessLog(isWorker ? process.pid : undefined, logNames)
    return { requestLog: log, closeRequestLog: close }
  }
  return typeof accessLog === "object" ? { requestLog: accessLog } : {}
}
