import type {
  LoggedRequest,
  RefusalAnswer,
  RefusedRequest,
  RouteCounts,
  StatusAnswer,
} from "../control/api.ts"
import type { EngineDoor } from "../control/ports.ts"
import type { TrafficTotals } from "../control/traffic-history.ts"
import type { RequestExplanation, RequestQuestion } from "../gateway/explain/request-explanation.ts"
import type { Gateway } from "../gateway/gateway.ts"
import type { KeyState } from "../identity/verifier.ts"
import type { Database } from "../store/database.ts"
import { durationBounds, type MetricFamily, type Metrics } from "../telemetry/metrics.ts"
import { certificatesIn, certificateWarnings } from "./certificate-state.ts"
import type { ControlListeners } from "./control-listeners.ts"
import type { DatabaseServers } from "./database-servers.ts"
import type { PortalListeners } from "./portal-listeners.ts"
import { awayReasons } from "./process-state.ts"
import type { Serving } from "./serving.ts"

/** What operators see of the parts that serve requests, in this process or in its workers. */
export interface ControlView {
  /** The current metrics. */
  metrics(): Promise<readonly MetricFamily[]>
  /** Undefined: there is no gateway. */
  explain(question: RequestQuestion): Promise<RequestExplanation | undefined>
  /** Undefined: the request is not remembered. */
  refusal(id: string): Promise<RefusalAnswer | undefined>
  /** The last refused requests, newest first. */
  recentRefusals(): Promise<readonly RefusedRequest[]>
  /** What was counted for these routes. */
  routeCounts(keys: readonly string[]): Promise<Readonly<Record<string, RouteCounts>>>
  engine(): EngineDoor | undefined
  status(): Promise<OwnStatus>
  /** What was counted since the start; undefined: there is no gateway. */
  traffic(): Promise<TrafficTotals | undefined>
  /** Calls `listener` for each finished request, until the returned function is called. */
  listen(listener: (line: LoggedRequest) => void): () => void
}

/** The part of `status` that is not about the fleet. `warnings`: unavailable services. */
export type OwnStatus = Pick<
  StatusAnswer,
  "traffic" | "engine" | "database" | "warnings" | "issuers" | "certificates"
>

/** The view of the parts in this process. */
export function viewOf(
  serving: Pick<
    Serving,
    | "gateway"
    | "listeners"
    | "edge"
    | "refused"
    | "warm"
    | "servers"
    | "feed"
    | "totals"
    | "routeCounts"
    | "backendDurations"
  > & {
    readonly operators?: ControlListeners | undefined
    readonly portal?: PortalListeners | undefined
  },
  { database, metrics }: { readonly database: Database; readonly metrics: Metrics },
): ControlView {
  const { gateway, listeners, operators, portal, edge, refused, warm, servers, feed } = serving
  return {
    metrics: async () => metrics.read(),
    explain: async (question) => gateway?.explain(question),
    refusal: (id) => refused.find(id),
    recentRefusals: async () => refused.recent(),
    routeCounts: async (keys) => serving.routeCounts(keys),
    engine: () => listeners?.door(),
    traffic: async () =>
      gateway === undefined ? undefined : { ...serving.totals(), running: gateway.state().running },
    listen: (listener) => feed.listen(listener),
    status: async () => ({
      traffic: trafficOf(gateway, serving.backendDurations),
      database: databaseOf(database, servers),
      engine: warm.status,
      warnings: [
        ...awayReasons({ gateway, listeners, operators, portal }),
        ...certificateWarnings({ gateway, listeners, operators, portal, ...edge }),
      ],
      issuers: [
        ...issuersOf("gateway", gateway?.state().issuers),
        ...issuersOf("engine", listeners?.issuers()),
        ...issuersOf("control", operators?.issuers()),
        ...issuersOf("portal", portal?.issuers()),
      ],
      certificates: certificatesIn({ gateway, listeners, operators, portal }).map(
        ({ name, hosts, notAfter }) => ({ name, hosts: [...hosts], notAfter: notAfter.toISOString() }),
      ),
    }),
  }
}

/** The state of a database; without `servers`, nothing is known but its own connections. */
export function databaseOf(
  database: Pick<Database, "kind" | "state">,
  servers?: Pick<DatabaseServers, "replicas" | "capabilities">,
): StatusAnswer["database"] {
  const { server = null, connections } = database.state
  const replicas = servers?.replicas() ?? []
  const capabilities = servers?.capabilities() ?? []
  return {
    ...{ kind: database.kind, server, connections },
    replicas: replicas.map(({ reason = null, forMs: _, ...replica }) => ({ ...replica, reason })),
    capabilities: capabilities.map(({ reason = null, without = null, ...each }) => ({
      ...{ ...each, reason, without },
    })),
  }
}

/** Errors are left out, because they are in the state of each part. */
function trafficOf(
  gateway: Gateway | undefined,
  durations: () => Record<string, number[]>,
): StatusAnswer["traffic"] {
  if (gateway === undefined) return null
  const { running, tunnels, backends, decisionPoints, discoveries } = gateway.state()
  const targets = Object.entries(backends).map(([name, all]) => [name, all.map((each) => ({ ...each }))])
  const points = Object.entries(decisionPoints).map(([name, { lastError: _, ...each }]) => [name, each])
  const sources = Object.entries(discoveries).map(([name, state]) => {
    const { by, source, targets = null, failure: reason = null, ageMs = null } = state
    return [name, { by, source, targets, reason, ageMs }] as const
  })
  return {
    requests: running,
    tunnels,
    backends: Object.fromEntries(targets),
    decisionPoints: Object.fromEntries(points),
    discoveries: Object.fromEntries(sources),
    durations: durations(),
    bounds: durationBounds,
  }
}

function issuersOf(
  part: StatusAnswer["issuers"][number]["part"],
  issuers: Readonly<Record<string, KeyState>> = {},
): StatusAnswer["issuers"] {
  return Object.entries(issuers).map(([name, { ready, keys, ageMs, lastError }]) => ({
    ...{ name, part, ready, ageMs: ageMs ?? null, reason: lastError ?? null },
    keys: keys.map(({ id, algorithms }) => ({ id: id ?? null, algorithms: [...algorithms] })),
  }))
}
