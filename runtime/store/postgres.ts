import { readConnectionUrl } from "./connection-url.ts"
import type { Database } from "./database.ts"
import { type PasswordSettings, passwordSource } from "./password-source.ts"
import { checkedSchema, defaultSchema } from "./schema-name.ts"
import { ServerDialer } from "./server-dialer.ts"
import { SqlDatabase } from "./sql-database.ts"

/** All optional. */
export interface PostgresOptions extends PasswordSettings {
  /** Default: 10. */
  readonly connectionsMax?: number | undefined
  /** Timeout of a statement while the server is alive, in milliseconds (default: 10,000). A dead server is found within a second anyway. */
  readonly statementMs?: number | undefined
  /** Schema of all tables (default: `sallyport`). */
  readonly schema?: string | undefined
  /** Variables for what the URL leaves open (`PGPASSWORD` …; default: those of the process). */
  readonly env?: Readonly<Record<string, string | undefined>> | undefined
  readonly onFault?: ((error: Error) => void) | undefined
  /** See `SqlDatabaseOptions.onRepeat`. */
  readonly onRepeat?: ((sqlState: string) => void) | undefined
}

/**
 * A server of the PostgreSQL protocol by its URL (see `readConnectionUrl`). The first statement opens the connection and reports connection
 * errors.
 * @throws DatabaseSettingsError when a setting is invalid; the message omits the URL, which may contain a password
 */
export function openPostgres(url: string, options: PostgresOptions = {}): Database {
  const statementMs = options.statementMs ?? 10_000
  const target = readConnectionUrl(url, options.env ?? process.env)
  const dialer = new ServerDialer({
    target,
    config: {
      application_name: target.applicationName ?? "sallyport",
      // The server stops a little before we do, so that it does not work for a caller that has given up.
      statement_timeout: Math.max(1, statementMs - 500),
      idle_in_transaction_session_timeout: 30_000,
    },
    password: passwordSource(target.password, options),
    onMoved: () => database.reconnect(),
  })
  const database = new SqlDatabase({
    kind: "postgres",
    schema: checkedSchema(options.schema ?? defaultSchema),
    connect: (config, signal) => dialer.connect({ config, signal }),
    server: () => dialer.server,
    connectionsMax: options.connectionsMax ?? 10,
    statementMs,
    connectMs: statementMs,
    probe: (signal, onSign) => dialer.probe(signal, onSign),
    onFault: options.onFault,
    onRepeat: options.onRepeat,
  })
  return database
}
