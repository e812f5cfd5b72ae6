import { join } from "node:path"
import { SourceUnavailable } from "../check/ports.ts"
import { DatabaseSettingsError } from "../store/connection-url.ts"
import type { Database } from "../store/database.ts"
import { FolderInUse } from "../store/owner-lock.ts"
import type { PasswordSettings } from "../store/password-source.ts"
import { NotEmbedded, openPglite } from "../store/pglite.ts"
import { openPostgres, type PostgresOptions } from "../store/postgres.ts"
import type { Log } from "../telemetry/log.ts"
import type { Metrics } from "../telemetry/metrics.ts"
import { StartError } from "./start-error.ts"

/** A server by URL. */
export interface ServerSettings extends PasswordSettings {
  readonly url: string
  /** Schema of all tables (default: `sallyport`). */
  readonly schema?: string | undefined
  /** Connections for statements (default: 10). */
  readonly poolSize?: number | undefined
  /** What the URL leads to (default: `none`, the server itself). */
  readonly pooler?: "none" | "transaction" | undefined
  /** URL of the server itself, to hear notices beside a pooler. */
  readonly noticesUrl?: string | undefined
  /** URL of standbys of this server: tuples are read from them. */
  readonly replicaUrl?: string | undefined
  /** How long a server may be silent, in milliseconds (default: as short as callers of a service need it). */
  readonly silentMs?: number | undefined
  /** Variables for what the URL leaves open, such as `PGPASSWORD` (default: those of the process). */
  readonly env?: Readonly<Record<string, string | undefined>> | undefined
}

/** A server by URL, or the embedded database in a folder. */
export type DatabaseSettings = ServerSettings | { readonly folder: string }

const exampleUrl = "postgres://user:password@host:5432/database"

/**
 * Opens the database, and counts repeated transactions in `metrics`.
 * @throws StartError when the folder is in use or not writable, or the URL is invalid
 */
export async function openDatabase(
  settings: DatabaseSettings,
  log: Log,
  metrics?: Metrics,
): Promise<Database> {
  const onFault = (error: Error) => log.warn({ error: error.message }, "database fault")
  const repeats = metrics?.counter(
    "sallyport_database_repeats_total",
    "Statements and transactions that the database rolled back and that were run again.",
    ["sqlstate"],
  )
  const onRepeat = (sqlState: string) => repeats?.series(sqlState).add()
  try {
    const database =
      "url" in settings
        ? openServer(settings, { onFault, onRepeat })
        : await openPglite(settings.folder, { onFault, onRepeat })
    if (metrics !== undefined) addDatabaseMetrics(metrics, database)
    return database
  } catch (error) {
    throw startErrorOf(error, settings)
  }
}

function openServer(settings: ServerSettings, options: PostgresOptions): Database {
  const { url, poolSize, replicaUrl: _, ...more } = settings
  return openPostgres(url, { ...options, ...more, connectionsMax: poolSize })
}

/** Connections for statements, and whether the database can be used. */
function addDatabaseMetrics(metrics: Metrics, database: Database): void {
  const connections = "Connections to the database for statements: in use, idle, and the most there may be."
  metrics.gauge("sallyport_database_connections", connections, ["state"], () => {
    const { size, inUse, max } = database.state.connections
    return [
      [["in-use"], inUse],
      [["idle"], size - inUse],
      [["max"], max],
    ]
  })
  metrics.gauge("sallyport_database_waiting", "Statements that wait for a connection.", [], () => [
    [[], database.state.connections.waiting],
  ])
  metrics.gauge(
    "sallyport_database_up",
    "1 while the database can be used, 0 while statements are rejected.",
    [],
    () => [[[], database.state.unavailable === undefined ? 1 : 0]],
    "min",
  )
}

/** The error with its remedy. It says that the variable is not set, because the embedded database is often not what was intended. */
function startErrorOf(error: unknown, settings: DatabaseSettings): unknown {
  if (error instanceof NotEmbedded)
    return new StartError(
      "SALLYPORT_DATABASE_URL is not set, and this installation has no embedded database to use instead (the image has none)",
      `Set the variable to a PostgreSQL server: ${exampleUrl}. For a container: --env SALLYPORT_DATABASE_URL=…`,
    )
  if (error instanceof FolderInUse) return new StartError(error.message)
  const code = (error as NodeJS.ErrnoException).code
  if ("folder" in settings && (code === "EACCES" || code === "EROFS" || code === "EPERM")) {
    return new StartError(
      `SALLYPORT_DATABASE_URL is not set, and the folder ${settings.folder} of the embedded database cannot be written (${code})`,
      `Set the variable to a PostgreSQL server: ${exampleUrl}. Or give this user the right to write to the folder.`,
    )
  }
  if (error instanceof DatabaseSettingsError) return new StartError(error.message, error.help)
  if (!(error instanceof SourceUnavailable) || "url" in settings) return error
  const help = `SALLYPORT_DATABASE_URL is not set, so the embedded database is used. If it is damaged, move ${join(settings.folder, "database")} to another place; the next start creates a new one.`
  return new StartError(error.message, help)
}
