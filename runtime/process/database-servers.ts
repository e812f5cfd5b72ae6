import type { TupleSource } from "../check/ports.ts"
import type { Capability } from "../store/capabilities.ts"
import { DatabaseSettingsError } from "../store/connection-url.ts"
import type { Database } from "../store/database.ts"
import { openReplicas } from "../store/postgres.ts"
import type { ReplicaState } from "../store/replica.ts"
import { type ReplicatedOptions, ReplicatedSource } from "../store/replicated-source.ts"
import { createTupleSource } from "../store/tuple-source.ts"
import type { Log } from "../telemetry/log.ts"
import type { Metrics } from "../telemetry/metrics.ts"
import { ServerCapabilities } from "./capabilities.ts"
import type { DatabaseSettings } from "./database.ts"
import { StartError } from "./start-error.ts"

/** The servers of the database: what the primary can do, and the replicas that are read beside it. */
export interface DatabaseServers {
  readonly primary: Pick<Database, "state">
  /** Where the engine reads tuples. */
  readonly source: TupleSource
  /** Empty without replicas. */
  readonly replicas: () => readonly ReplicaState[]
  /** Empty until the primary has answered, and for the embedded database. */
  readonly capabilities: () => readonly Capability[]
  /** Why the process is degraded, of these servers. */
  readonly reasons: () => readonly string[]
  /** Closes the replicas; the primary stays open. */
  close(): Promise<void>
}

/**
 * Opens the replicas of the settings, if there are any, and finds out what the primary can do. Without a replica that can be used, the primary
 * is read.
 * @throws StartError when the URL of the replicas is invalid
 */
export function openDatabaseServers(
  settings: DatabaseSettings,
  database: Database,
  log: Log,
  metrics: Metrics,
): DatabaseServers {
  const observers = addReplicaMetrics(metrics, () => source?.replicas ?? [])
  const opened = replicasOf(settings, database)
  const source =
    opened.length === 0
      ? undefined
      : new ReplicatedSource({
          primary: createTupleSource(database),
          replicas: opened.map(({ name, database: replica }) => ({
            ...{ name, source: createTupleSource(replica), connections: () => replica.state.connections },
          })),
          ...observers,
          onFault: (error) => log.warn({ error: error.message }, "replica fault"),
        })
  const replicas = () => source?.replicas ?? []
  const capabilities = new ServerCapabilities(database, log)
  capabilities.start()
  return {
    primary: database,
    source: source ?? createTupleSource(database),
    replicas,
    capabilities: () => capabilities.found,
    reasons: () => [...replicaReasons(replicas()), ...capabilities.reasons],
    close: async () => {
      capabilities.close()
      await Promise.all(opened.map((each) => each.database.close()))
    },
  }
}

function replicasOf(settings: DatabaseSettings, { missing }: Database): ReturnType<typeof openReplicas> {
  if (!("url" in settings) || settings.replicaUrl === undefined) return []
  const { url: _, replicaUrl, poolSize, ...more } = settings
  try {
    return openReplicas(replicaUrl, { ...more, connectionsMax: poolSize, missing })
  } catch (error) {
    throw error instanceof DatabaseSettingsError ? new StartError(error.message, error.help) : error
  }
}

function addReplicaMetrics(
  metrics: Metrics,
  replicas: DatabaseServers["replicas"],
): Pick<ReplicatedOptions, "onRead" | "onPrimaryRead"> {
  const reads = metrics.counter(
    "sallyport_replica_reads_total",
    "Readings sent to a replica; except for the outcome `read`, the primary repeated them.",
    ["server", "outcome"],
  )
  const primaryReads = metrics.counter(
    "sallyport_primary_reads_total",
    "Readings carried out by the primary although there are replicas.",
  )
  metrics.gauge(
    "sallyport_replica_up",
    "1 while the replica may be read, also when it is behind.",
    ["server"],
    () =>
      replicas().map(({ server, state }) => [[server], state === "reading" || state === "behind" ? 1 : 0]),
    "min",
  )
  metrics.gauge(
    "sallyport_replica_revisions_behind",
    "The most revisions of one store that the replica lacks.",
    ["server"],
    () => replicas().map(({ server, revisionsBehind }) => [[server], revisionsBehind]),
    "max",
  )
  return {
    onRead: (server, outcome) => reads.series(server, outcome).add(),
    onPrimaryRead: () => primaryReads.series().add(),
  }
}

/** A replica that is behind for longer is worth a reason, in milliseconds. */
const behindMs = 10_000

/** Why replicas are not read, or lack commits for long. */
function replicaReasons(replicas: readonly ReplicaState[]): string[] {
  return replicas.flatMap(({ server, state, reason = "", forMs }) => {
    if (state === "refused" || state === "unavailable")
      return [`replica ${server} is not read (the primary is read instead): ${reason}`]
    if (state === "behind" && forMs > behindMs)
      return [`replica ${server} has been behind for ${Math.round(forMs / 1000)} s: ${reason}`]
    return []
  })
}
