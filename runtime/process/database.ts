import { join } from "node:path"
import { SourceUnavailable } from "../check/ports.ts"
import type { Database } from "../store/database.ts"
import { FolderInUse } from "../store/owner-lock.ts"
import { NotEmbedded, openPglite } from "../store/pglite.ts"
import { openPostgres } from "../store/postgres.ts"
import type { Log } from "../telemetry/log.ts"
import type { Metrics } from "../telemetry/metrics.ts"
import { StartError } from "./start-error.ts"

/** A server by URL, or the embedded database in a folder. */
export type DatabaseSettings = { readonly url: string } | { readonly folder: string }

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
    return "url" in settings
      ? openPostgres(settings.url, { onFault, onRepeat })
      : await openPglite(settings.folder, { onFault, onRepeat })
  } catch (error) {
    throw startErrorOf(error, settings)
  }
}

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
  if (!(error instanceof SourceUnavailable)) return error
  const help =
    "url" in settings
      ? `Set SALLYPORT_DATABASE_URL like ${exampleUrl}.`
      : `SALLYPORT_DATABASE_URL is not set, so the embedded database is used. If it is damaged, move ${join(settings.folder, "database")} to another place; the next start creates a new one.`
  return new StartError(error.message, help)
}
