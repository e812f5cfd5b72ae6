import type { PlanKeeper } from "../control/plan-keeper.ts"
import type { Readiness } from "../control/ports.ts"
import type { Gateway } from "../gateway/gateway.ts"
import type { FailedCalls } from "../store/call-record.ts"
import type { Database, DatabaseState } from "../store/database.ts"
import { schemaState } from "../store/migrate.ts"
import { addProcessMetrics, type Metrics } from "../telemetry/metrics.ts"
import type { Quotas } from "../usage/quotas.ts"
import type { UsageRecorder } from "../usage/recorder.ts"
import { addCertificateMetrics, addConnectionMetrics } from "./certificate-state.ts"
import type { ControlListeners } from "./control-listeners.ts"
import type { DatabaseServers } from "./database-servers.ts"
import type { EngineListeners } from "./engine-listeners.ts"
import type { HistoryLosses } from "./history-losses.ts"
import type { IssuedSubscriptions } from "./issued-subscriptions.ts"
import type { PortalListeners } from "./portal-listeners.ts"
import type { RelationChanges } from "./relation-changes.ts"
import { addTrafficMetrics } from "./traffic-metrics.ts"
import type { WarmStores } from "./warm-stores.ts"

/** `active`; `degraded`: something it needs is unavailable, but it works; `draining`: it is ending. */
export interface ProcessState {
  readonly state: "active" | "degraded" | "draining"
  /** Reasons for operators; empty without problems. */
  readonly reasons: readonly string[]
}

/** The state in a report. `subscriptions` null: the process has no gateway role. */
export interface ReportedState extends ProcessState {
  readonly serial: number | null
  readonly error: string | null
  readonly subscriptions: number | null
  /** Serial of the newest plan, when this process cannot serve it. */
  readonly refusedSerial: number | null
}

/** The parts that contribute to the state; undefined where the process does not have the role. */
export interface StatefulParts {
  readonly keeper: Pick<PlanKeeper, "error" | "kept">
  readonly gateway: Pick<Gateway, "state"> | undefined
  readonly listeners: Pick<EngineListeners, "issuers"> | undefined
  readonly operators?: Pick<ControlListeners, "issuers"> | undefined
  readonly portal?: Pick<PortalListeners, "issuers"> | undefined
  readonly issued: Pick<IssuedSubscriptions, "error">
  readonly usage: Pick<UsageRecorder, "error" | "lost">
  readonly quotas: Pick<Quotas, "error">
  readonly relations: Pick<RelationChanges, "error">
  readonly losses: Pick<HistoryLosses, "reasons">
  readonly servers: Pick<DatabaseServers, "primary" | "reasons">
}

/** The current state of this process. */
export function processState(parts: StatefulParts): ProcessState {
  const { keeper, gateway, issued, usage, quotas, relations, losses, servers } = parts
  const reasons = [
    ...databaseReasons(servers.primary.state),
    ...servers.reasons(),
    ...(keeper.error === null ? [] : [keeper.error]),
    ...(keeper.kept === undefined ? [] : [keeper.kept]),
    ...(gateway === undefined || issued.error === undefined
      ? []
      : [`issued subscriptions are not updated:  ${issued.error}`]),
    ...(usage.error === undefined ? [] : [usage.error]),
    ...(quotas.error === undefined ? [] : [quotas.error]),
    ...(relations.error === undefined ? [] : [relations.error]),
    ...losses.reasons,
    ...(usage.lost === 0 ? [] : [`${usage.lost} calls were not metered, because the spool is full`]),
    ...awayReasons(parts),
  ]
  if (gateway?.state().draining === true) return { state: "draining", reasons }
  return { state: reasons.length === 0 ? "active" : "degraded", reasons }
}

/** The report of this process to the fleet. */
export function reportOf(
  parts: Omit<StatefulParts, "keeper" | "issued" | "usage" | "quotas"> & {
    readonly keeper: Pick<PlanKeeper, "serial" | "error" | "refusedSerial" | "kept">
  },
  metering: Pick<StatefulParts, "usage" | "quotas"> & {
    readonly issued: Pick<IssuedSubscriptions, "error" | "revision">
  },
): ReportedState {
  const { serial, error, refusedSerial } = parts.keeper
  const subscriptions = parts.gateway === undefined ? null : metering.issued.revision
  return {
    ...processState({ ...parts, ...metering }),
    serial,
    error,
    subscriptions,
    refusedSerial,
  }
}

/** Unavailable services: issuers of the gateway and of the engine without keys, decision points, and backends without a healthy target. */
export function awayReasons({
  gateway,
  listeners,
  operators,
  portal,
}: Pick<StatefulParts, "gateway" | "listeners" | "operators" | "portal">): string[] {
  const state = gateway?.state()
  return [
    ...issuersAway(state?.issuers ?? {}, "its APIs return 503"),
    ...pointsAway(state?.decisionPoints ?? {}),
    ...(state?.shared?.away === undefined
      ? []
      : [`Redis at ${state.shared.name}: ${state.shared.away} (this process counts its limits on its own)`]),
    ...(state?.sharedCache?.away === undefined
      ? []
      : [
          `Redis at ${state.sharedCache.name}: ${state.sharedCache.away} (this process uses a cache of its own)`,
        ]),
    ...Object.values(state?.backendsAway ?? {}).map((reason) => `${reason} (its requests get 503)`),
    ...Object.entries(state?.discoveries ?? {}).flatMap(([name, { failure, targets = 0 }]) =>
      failure === undefined || targets === 0
        ? []
        : [`backend ${name}: ${failure} (its last ${targets} targets stay in use)`],
    ),
    ...issuersAway(listeners?.issuers() ?? {}, "callers of the engine with its tokens get 503"),
    ...issuersAway(operators?.issuers() ?? {}, "operators with its tokens get 503"),
    ...issuersAway(portal?.issuers() ?? {}, "people cannot sign in to the portal"),
  ]
}

function issuersAway(issuers: ReturnType<Gateway["state"]>["issuers"], without: string): string[] {
  return Object.entries(issuers)
    .filter(([, { lastError }]) => lastError !== undefined)
    .map(
      ([name, { ready, lastError }]) =>
        `issuer ${name}: ${lastError} (${ready ? "its last keys stay in use" : without})`,
    )
}

function pointsAway(points: ReturnType<Gateway["state"]>["decisionPoints"]): string[] {
  return Object.entries(points)
    .filter(([, { lastError }]) => lastError !== undefined)
    .map(([name, { lastError }]) => `decision point ${name}: ${lastError} (requests that need it get 503)`)
}

/** `sallyport_plan_serial`: differs between processes only while one of them does not follow an apply. Absent without a plan. */
function addPlanMetric(metrics: Metrics, keeper: Pick<PlanKeeper, "serial">): void {
  const help = "Serial of the plan that the process serves."
  const read = () => (keeper.serial === null ? [] : [[[], keeper.serial] as const])
  metrics.gauge("sallyport_plan_serial", help, [], read, "max")
}

/** `sallyport_kept_plan_age_seconds`: present only while the plan comes from disk. */
function addKeptPlanMetric(metrics: Metrics, keeper: Pick<PlanKeeper, "keptAt">): void {
  const help = "Age of the plan served from disk while the database is unavailable."
  const read = () => {
    const { keptAt } = keeper
    return keptAt === undefined ? [] : [[[], (Date.now() - keptAt.getTime()) / 1_000] as const]
  }
  metrics.gauge("sallyport_kept_plan_age_seconds", help, [], read, "max")
}

/** `sallyport_state`: 1 for the state of the process; and the number of reasons. */
function addStateMetric(metrics: Metrics, state: () => ProcessState): void {
  const read = () => {
    const now = state().state
    return (["active", "degraded", "draining"] as const).map(
      (each) => [[each], each === now ? 1 : 0] as const,
    )
  }
  metrics.gauge("sallyport_state", "1 for the state the process is in.", ["state"], read, "max")
  metrics.gauge("sallyport_degraded_reasons", "Number of reasons why the process is degraded.", [], () => [
    [[], state().reasons.length],
  ])
}

/** Metrics of the operating system's process, its state, its connections and the watchers of its engine. */
export function addStateMetrics(
  metrics: Metrics,
  parts: {
    readonly operators?: ControlListeners | undefined
    readonly portal?: PortalListeners | undefined
    readonly report: () => ProcessState
    readonly keeper: Pick<PlanKeeper, "keptAt" | "serial">
    readonly gateway: Gateway | undefined
    readonly listeners:
      | Pick<
          EngineListeners,
          | "watchers"
          | "certificates"
          | "revocationLists"
          | "handshakesFailed"
          | "floods"
          | "connectionsRefused"
        >
      | undefined
  },
): void {
  addProcessMetrics(metrics)
  addStateMetric(metrics, parts.report)
  addPlanMetric(metrics, parts.keeper)
  addKeptPlanMetric(metrics, parts.keeper)
  addTrafficMetrics(metrics, parts.gateway)
  addCertificateMetrics(metrics, parts)
  addConnectionMetrics(metrics, parts)
  const { listeners, operators, portal } = parts
  metrics.observableCounter(
    "sallyport_control_refused_total",
    "Requests to the control API that were refused before they were handled, by reason.",
    ["reason"],
    () => [...(operators?.refusals ?? [])].map(([reason, count]) => [[reason], count] as const),
  )
  metrics.observableCounter(
    "sallyport_audit_dropped_total",
    "Rows of the audit log that a sink did not take; the table has them.",
    ["sink"],
    () => [...droppedBySink([operators, portal])].map(([sink, count]) => [[sink], count] as const),
  )
  if (listeners !== undefined)
    metrics.gauge("sallyport_watchers", "Requests that watch a store.", [], () => [[[], listeners.watchers]])
}

/** The control API and the portal write the audit log by sinks of their own. */
function droppedBySink(
  logs: readonly ({ readonly auditDropped: ReadonlyMap<string, number> } | undefined)[],
): ReadonlyMap<string, number> {
  const sums = new Map<string, number>()
  for (const log of logs)
    for (const [sink, count] of log?.auditDropped ?? []) sums.set(sink, (sums.get(sink) ?? 0) + count)
  return sums
}

/** Whether so many calls fail that requests should go to another process. */
function isFailing({ failed, calls }: FailedCalls): boolean {
  return failed >= 3 && failed * 2 >= calls
}

/** Why calls of the last seconds failed, or fail now. */
function databaseReasons({ unavailable, failures }: DatabaseState): string[] {
  if (unavailable !== undefined) return [`the database is unavailable: ${unavailable}`]
  if (failures === undefined) return []
  const { failed, calls, reason } = failures
  return [`${failed} of the last ${calls} calls to the database failed: ${reason}`]
}

/** As long as a database's record of failed calls: after an outage of all processes, failures in it are no reason to prefer another one. */
const outageMs = 10_000

/**
 * Whether the process may get traffic. A database that fails under a plan that is served is only a warning: it fails for all processes at
 * once, and a load balancer that took all of them out would make an outage of requests that need no database. A plan from disk is not
 * enough: such a process knows no tuples, so an update that exchanges processes should stop there.
 */
export async function readinessOf(
  database: Database,
  keeper: PlanKeeper,
  hasFile: boolean,
  warm: Pick<WarmStores, "reasons">,
): Promise<Readiness> {
  const kept = keeper.kept === undefined ? [] : [keeper.kept]
  // Without its tuples, a process could only pass every question on to the database, which may be away too.
  if (warm.reasons.length > 0) return notReady(...warm.reasons, ...kept)
  const serves = keeper.served !== null && keeper.keptAt === undefined
  // A probe has a second or less, so it does not wait for a database of which this process knows that it is away.
  if (serves && keeper.isDatabaseAway) return { reasons: [], warnings: [keeper.error ?? ""] }
  try {
    const schema = await schemaState(database)
    // A newer schema only adds (migrations/README.md), so the previous release keeps working during an update.
    if (schema.state !== "ok" && schema.state !== "newer") return notReady(schema.message)
  } catch (error) {
    const away = `the database is unavailable: ${error instanceof Error ? error.message : String(error)}`
    return serves ? { reasons: [], warnings: [away] } : notReady(away, ...kept)
  }
  const { failures } = database.state
  if (failures !== undefined && isFailing(failures)) {
    const failing = databaseReasons(database.state)
    return serves && keeper.wasDatabaseAway(outageMs)
      ? { reasons: [], warnings: failing }
      : notReady(...failing, ...kept)
  }
  if (hasFile || keeper.serial !== null) return notReady()
  return notReady(keeper.error ?? "no plan was applied yet; run `sallyport apply`", ...kept)
}

function notReady(...reasons: string[]): Readiness {
  return { reasons, warnings: [] }
}
