import type { Duplex } from "node:stream"
import { Client, type ClientConfig } from "pg"
import { SourceUnavailable } from "../check/ports.ts"
import type { Database } from "./database.ts"
import { SqlDatabase } from "./sql-database.ts"

/** All optional. */
export interface PostgresOptions {
  /** Default: 10. */
  readonly connectionsMax?: number | undefined
  /** Timeout of a statement while the server is alive, in milliseconds (default: 10,000). A dead server is found within a second anyway. */
  readonly statementMs?: number | undefined
  /** Shown in `pg_stat_activity` (default: `sallyport`). */
  readonly applicationName?: string | undefined
  readonly onFault?: ((error: Error) => void) | undefined
  /** See `SqlDatabaseOptions.onRepeat`. */
  readonly onRepeat?: ((sqlState: string) => void) | undefined
}

/**
 * A server of the PostgreSQL protocol by its URL (`postgres://user:password@host:port/database`, or a socket folder as
 * `?host=/run/postgresql`; `sslmode=verify-full` for TLS). The first statement opens the connection and reports connection errors.
 * @throws SourceUnavailable when the URL is invalid; the message omits the URL, which may contain a password
 */
export function openPostgres(url: string, options: PostgresOptions = {}): Database {
  const statementMs = options.statementMs ?? 10_000
  const connection: ClientConfig = {
    connectionString: checkedUrl(url),
    application_name: options.applicationName ?? "sallyport",
    keepAlive: true,
    keepAliveInitialDelayMillis: 10_000,
    // The server stops a little before we do, so that it does not work for a caller that has given up.
    statement_timeout: Math.max(1, statementMs - 500),
    idle_in_transaction_session_timeout: 30_000,
  }
  return new SqlDatabase({
    kind: "postgres",
    connection,
    connectionsMax: options.connectionsMax ?? 10,
    statementMs,
    connectMs: statementMs,
    probe: (signal, onSign) => probe(connection, signal, onSign),
    onFault: options.onFault,
    onRepeat: options.onRepeat,
  })
}

/** Uses a new connection, because it tests the server and not one of its connections. */
async function probe(connection: ClientConfig, signal: AbortSignal, onSign: () => void): Promise<void> {
  const client = new Client(connection)
  const { stream } = (client as unknown as { connection: { stream: Duplex } }).connection
  stream.on("data", onSign)
  client.on("error", () => undefined)
  const abort = () => stream.destroy()
  signal.addEventListener("abort", abort)
  try {
    await client.connect()
    await client.query("select 1")
  } catch (error) {
    if (!isAnswer(error)) throw error
  } finally {
    signal.removeEventListener("abort", abort)
    client.end().catch(() => undefined)
    stream.destroy()
  }
}

/** A refusal (too many connections, wrong password) proves that the server is alive; but 57P0x means that it is starting or stopping. */
function isAnswer(error: unknown): boolean {
  const { code } = error as { code?: unknown }
  return typeof code === "string" && /^[0-9A-Z]{5}$/.test(code) && !/^(57P|08)/.test(code)
}

function checkedUrl(url: string): string {
  // `user@/database?host=/folder` names a socket and no host, which URL parsers reject.
  const http = url.replace(/^postgres(ql)?:/, "http:").replace("@/", "@host/")
  if (!/^postgres(ql)?:\/\//.test(url) || !URL.canParse(http))
    throw new SourceUnavailable(
      "the database URL can't be read: it must look like postgres://user:password@host:5432/database",
    )
  return url
}
