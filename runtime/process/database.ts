import { join } from "node:path"
import { SourceUnavailable } from "../check/ports.ts"
import type { Database } from "../store/database.ts"
import { FolderInUse } from "../store/owner-lock.ts"
import { openPglite } from "../store/pglite.ts"
import { openPostgres } from "../store/postgres.ts"
import type { Log } from "../telemetry/log.ts"
import type { Metrics } from "../telemetry/metrics.ts"
import { StartError } from "./start-error.ts"

/** A server by URL, or the embedded database in a folder. */
export type DatabaseSettings = { readonly url: string } | { readonly folder: string }

/** Opens the database, and counts what was run again in `metrics`. @throws StartError for a folder that is in use or cannot be written, and for a URL that is none. */
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
  if (error instanceof FolderInUse) return new StartError(error.message)
  const code = (error as NodeJS.ErrnoException).code
  if ("folder" in settings && (code === "EACCES" || code === "EROFS" || code === "EPERM")) {
    return new StartError(
      `the folder ${settings.folder} cannot be written (${code})`,
      "Give this user the right to write there, or set SALLYPORT_DATABASE_URL to a PostgreSQL server.",
    )
  }
  if (!(error instanceof SourceUnavailable)) return error
  const help =
    "url" in settings
      ? "Set SALLYPORT_DATABASE_URL like postgres://user:password@host:5432/database."
      : `If it is damaged, move ${join(settings.folder, "database")} away; a new one is made.`
  return new StartError(error.message, help)
}
