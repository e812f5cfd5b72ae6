import { join } from "node:path"
import type { DatabaseSettings } from "../../runtime/process/database.ts"
import { CliError } from "./command.ts"
import type { Io } from "./io.ts"
import { ownFolder } from "./settings.ts"

const urlVariable = "SALLYPORT_DATABASE_URL"
/** Variables that only say more about the server of the URL. */
const serverVariables = [
  "SALLYPORT_DATABASE_PASSWORD_FILE",
  "SALLYPORT_DATABASE_PASSWORD_COMMAND",
  "SALLYPORT_DATABASE_SCHEMA",
  "SALLYPORT_DATABASE_POOL_SIZE",
  "SALLYPORT_DATABASE_POOLER",
  "SALLYPORT_DATABASE_NOTICES_URL",
  "SALLYPORT_DATABASE_REPLICA_URL",
] as const

/** The database: the server of `SALLYPORT_DATABASE_URL`, else embedded in the project. */
export function databaseOf(io: Io): DatabaseSettings {
  const url = io.env[urlVariable]
  if (!url) {
    const useless = serverVariables.find((name) => io.env[name])
    if (useless === undefined) return { folder: join(io.cwd, ownFolder) }
    throw new CliError(
      `${useless} is set, but ${urlVariable} is not`,
      `Set ${urlVariable} to the server, or remove ${useless}: the embedded database does not use it.`,
    )
  }
  const passwordFile = io.env["SALLYPORT_DATABASE_PASSWORD_FILE"] || undefined
  const passwordCommand = io.env["SALLYPORT_DATABASE_PASSWORD_COMMAND"] || undefined
  const schema = io.env["SALLYPORT_DATABASE_SCHEMA"] || undefined
  const noticesUrl = io.env["SALLYPORT_DATABASE_NOTICES_URL"] || undefined
  const replicaUrl = io.env["SALLYPORT_DATABASE_REPLICA_URL"] || undefined
  const given = { passwordFile, passwordCommand, schema, noticesUrl, replicaUrl }
  return { url, ...given, poolSize: poolSizeOf(io), pooler: poolerOf(io), env: io.env }
}

/** `SALLYPORT_DATABASE_POOLER` (default: none). */
function poolerOf(io: Io): "none" | "transaction" {
  const given = io.env["SALLYPORT_DATABASE_POOLER"] || "none"
  if (given === "none" || given === "transaction") return given
  throw new CliError(
    `SALLYPORT_DATABASE_POOLER is not known: ${given}`,
    "Write `transaction` for a pooler such as pgbouncer (it works in session mode too), or `none`.",
  )
}

/** `SALLYPORT_DATABASE_POOL_SIZE` (default: 10). */
function poolSizeOf(io: Io): number {
  const given = io.env["SALLYPORT_DATABASE_POOL_SIZE"] || "10"
  const size = /^\d{1,4}$/.test(given) ? Number(given) : 0
  if (size >= 1 && size <= 1000) return size
  throw new CliError(`SALLYPORT_DATABASE_POOL_SIZE is not a number of connections: ${given}`, "Write 1–1000.")
}

/** The database for messages, without user and password. */
export function databaseName(io: Io): string {
  const database = databaseOf(io)
  if ("folder" in database) return `${ownFolder}/ (embedded)`
  const [, hosts = "", path = "", query = ""] =
    /^postgres(?:ql)?:\/\/(?:[^/?]*@)?([^/?]*)(\/[^?]*)?(?:\?(.*))?$/.exec(database.url) ?? []
  const servers = hosts || (new URLSearchParams(query).get("host") ?? "localhost")
  // The folder of a socket: `%2Frun%2Fpostgresql`.
  return `PostgreSQL at ${servers.replaceAll(/%2f/gi, "/")}${path}`
}
