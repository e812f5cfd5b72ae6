import type { ClientConfig } from "pg"
import { DatabaseSettingsError, hostName, readConnectionUrl, type ServerTarget } from "./connection-url.ts"
import type { Database } from "./database.ts"
import { type PasswordSettings, passwordSource } from "./password-source.ts"
import { checkedSchema, defaultSchema } from "./schema-name.ts"
import { ServerDialer } from "./server-dialer.ts"
import { idleMs, SqlDatabase, type SqlDatabaseOptions, serverTimeoutOf } from "./sql-database.ts"

/** All optional. */
export interface PostgresOptions extends PasswordSettings {
  /** Default: 10. */
  readonly connectionsMax?: number | undefined
  /** Timeout of a statement while the server is alive, in milliseconds (default: 10,000). A dead server is found within a second anyway. */
  readonly statementMs?: number | undefined
  /** See `SqlDatabaseOptions.silentMs`. */
  readonly silentMs?: number | undefined
  /** Schema of all tables (default: `sallyport`). */
  readonly schema?: string | undefined
  /** What the URL leads to: the server, or a pooler that gives each transaction to any of its sessions (default: the server). */
  readonly pooler?: "none" | "transaction" | undefined
  /** URL of the server itself, to hear notices beside a pooler; without it, changes are found by polling. */
  readonly noticesUrl?: string | undefined
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
  const { statementMs = 10_000, env = process.env, onFault, onRepeat } = options
  const target = readConnectionUrl(url, env)
  const pooled = isPooled(target, options)
  const dialer = new ServerDialer({
    target,
    pooled,
    config: configOf(target, pooled ? {} : sessionTimeouts(statementMs)),
    password: passwordSource(target.password, options),
    onMoved: () => database.reconnect(),
  })
  const listener = listenerOf(options, dialer, pooled, env)
  const database = new SqlDatabase({
    ...sqlOptions(dialer, pooled, statementMs, options),
    connectForNotices: listener && ((config, signal) => listener.connect({ config, signal })),
    onFault,
    onRepeat,
  })
  return database
}

/**
 * The replicas of a URL, one for each of its hosts. They take the same settings as the primary, but `noticesUrl`. A statement has at most
 * two seconds, because the primary can be asked instead.
 * @throws DatabaseSettingsError
 */
export function openReplicas(
  url: string,
  options: PostgresOptions & Pick<SqlDatabaseOptions, "missing"> = {},
): readonly OpenReplica[] {
  const { env = process.env, statementMs = 2_000 } = options
  const all = readConnectionUrl(url, env, "replica")
  const pooled = isPooled(all, options)
  return all.hosts.map((host) => {
    const target = { ...all, hosts: [host], balanced: false }
    const dialer = new ServerDialer({
      ...{ target, pooled, config: configOf(target, pooled ? {} : sessionTimeouts(statementMs)) },
      password: passwordSource(target.password, target.password === undefined ? options : {}),
      onMoved: () => undefined,
    })
    const { missing } = options
    const database = new SqlDatabase({ ...sqlOptions(dialer, pooled, statementMs, options), missing })
    return { name: hostName(host), database }
  })
}

/** A replica of the URL; `name`: `host:port`. */
interface OpenReplica {
  readonly name: string
  readonly database: Database
}

function sqlOptions(
  dialer: ServerDialer,
  pooled: boolean,
  statementMs: number,
  { schema, connectionsMax, silentMs }: PostgresOptions,
): SqlDatabaseOptions {
  return {
    kind: "postgres",
    schema: checkedSchema(schema ?? defaultSchema),
    connect: (config, signal) => dialer.connect({ config, signal }),
    pooled,
    server: () => dialer.server,
    connectionsMax: connectionsMax ?? 10,
    statementMs,
    connectMs: statementMs,
    silentMs,
    probe: (signal, onSign) => dialer.probe(signal, onSign),
  }
}

function isPooled(target: ServerTarget, { pooler }: PostgresOptions): boolean {
  if (pooler !== "transaction") return false
  if (target.options === undefined) return true
  throw new DatabaseSettingsError(
    "the database URL has the parameter options, which a pooler refuses",
    "Set them for the role instead, with `alter role … set`, or remove SALLYPORT_DATABASE_POOLER.",
  )
}

function sessionTimeouts(statementMs: number): ClientConfig {
  return { statement_timeout: serverTimeoutOf(statementMs), idle_in_transaction_session_timeout: idleMs }
}

function configOf({ applicationName }: ServerTarget, timeouts: ClientConfig): ClientConfig {
  return { application_name: applicationName ?? "sallyport", ...timeouts }
}

/** Notices belong to a session, which a pooler gives away: they need the server itself. */
function listenerOf(
  options: PostgresOptions,
  dialer: ServerDialer,
  pooled: boolean,
  env: NonNullable<PostgresOptions["env"]>,
): ServerDialer | undefined {
  const { noticesUrl } = options
  if (noticesUrl === undefined) return pooled ? undefined : dialer
  const target = readConnectionUrl(noticesUrl, env, "notices")
  // A password in its own URL counts; else it is the one of the other connections.
  const password = passwordSource(target.password, target.password === undefined ? options : {})
  return new ServerDialer({
    ...{ target, password, pooled: false, config: configOf(target, {}) },
    onMoved: () => undefined,
  })
}
