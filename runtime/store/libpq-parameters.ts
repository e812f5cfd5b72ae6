/** A parameter that Sallyport reads. `variable`: libpq's environment variable for it, used when the URL does not set it. */
interface ReadParameter {
  readonly variable?: string
}

/** A parameter that Sallyport refuses. `help`: why, and what to do instead. */
interface RefusedParameter {
  readonly help: string
}

const noKerberos = "Sallyport does not log in by Kerberos (GSSAPI): use a password or a client certificate"
const noSocketOption = "Node.js cannot set it for one connection: set it for the machine, for example with"

/**
 * All connection parameters of libpq in PostgreSQL 17 ("Parameter Key Words" in its manual), and what Sallyport does with each. Values that a
 * parameter that is read refuses are in connection-url.ts.
 */
export const libpqParameters = {
  host: { variable: "PGHOST" },
  hostaddr: { variable: "PGHOSTADDR" },
  port: { variable: "PGPORT" },
  dbname: { variable: "PGDATABASE" },
  user: { variable: "PGUSER" },
  password: { variable: "PGPASSWORD" },
  connect_timeout: { variable: "PGCONNECT_TIMEOUT" },
  client_encoding: { variable: "PGCLIENTENCODING" },
  options: { variable: "PGOPTIONS" },
  application_name: { variable: "PGAPPNAME" },
  fallback_application_name: {},
  keepalives: {},
  keepalives_idle: {},
  channel_binding: { variable: "PGCHANNELBINDING" },
  gssencmode: { variable: "PGGSSENCMODE" },
  sslmode: { variable: "PGSSLMODE" },
  sslnegotiation: { variable: "PGSSLNEGOTIATION" },
  sslcompression: { variable: "PGSSLCOMPRESSION" },
  sslcert: { variable: "PGSSLCERT" },
  sslkey: { variable: "PGSSLKEY" },
  sslpassword: {},
  sslcertmode: { variable: "PGSSLCERTMODE" },
  sslrootcert: { variable: "PGSSLROOTCERT" },
  sslcrl: { variable: "PGSSLCRL" },
  sslsni: { variable: "PGSSLSNI" },
  ssl_min_protocol_version: { variable: "PGSSLMINPROTOCOLVERSION" },
  ssl_max_protocol_version: { variable: "PGSSLMAXPROTOCOLVERSION" },
  target_session_attrs: { variable: "PGTARGETSESSIONATTRS" },
  load_balance_hosts: { variable: "PGLOADBALANCEHOSTS" },
  passfile: {
    help: "put the password alone into a file, and set SALLYPORT_DATABASE_PASSWORD_FILE to its path",
  },
  service: { help: "write the parameters of the service into the URL" },
  require_auth: {
    help: "choose the method in the server's pg_hba.conf; sslmode=verify-full proves the server",
  },
  requirepeer: { help: "give the folder of the socket to the server's user alone instead" },
  replication: {
    help: "Sallyport sends statements, which a replication connection does not take: remove it",
  },
  keepalives_interval: { help: `${noSocketOption} sysctl net.ipv4.tcp_keepalive_intvl` },
  keepalives_count: { help: `${noSocketOption} sysctl net.ipv4.tcp_keepalive_probes` },
  tcp_user_timeout: { help: "remove it: Sallyport finds a silent server within a second by itself" },
  sslcrldir: { help: "put the revocation lists into one file, and name it in sslcrl" },
  krbsrvname: { help: noKerberos },
  gsslib: { help: noKerberos },
  gssdelegation: { help: noKerberos },
} as const satisfies Readonly<Record<string, ReadParameter | RefusedParameter>>

type Parameters = typeof libpqParameters

/** A parameter that Sallyport reads. */
export type LibpqParameter = {
  [Name in keyof Parameters]: Parameters[Name] extends RefusedParameter ? never : Name
}[keyof Parameters]

/** Parameters of other drivers that get into URLs, and what to write instead. */
const foreignParameters: Readonly<Record<string, string>> = {
  schema: "set SALLYPORT_DATABASE_SCHEMA instead",
  search_path: "set SALLYPORT_DATABASE_SCHEMA instead",
  currentSchema: "set SALLYPORT_DATABASE_SCHEMA instead",
  pgbouncer: "set SALLYPORT_DATABASE_POOLER=transaction instead",
  connection_limit: "set SALLYPORT_DATABASE_POOL_SIZE instead",
  pool_size: "set SALLYPORT_DATABASE_POOL_SIZE instead",
  pool_timeout: "remove it",
  statement_timeout: "remove it: Sallyport sets a statement timeout of its own",
  uselibpqcompat: "remove it: the sslmode of Sallyport means what it means in libpq",
  ssl: "write sslmode instead",
  requiressl: "write sslmode=require instead",
}

/** Why a parameter cannot be used, as the end of a sentence; undefined for one that Sallyport reads. */
export function refusalOf(name: string): string | undefined {
  const known: Readonly<Record<string, ReadParameter | RefusedParameter>> = libpqParameters
  const parameter = Object.hasOwn(known, name) ? known[name] : undefined
  if (parameter !== undefined) return "help" in parameter ? parameter.help : undefined
  const foreign = Object.hasOwn(foreignParameters, name) ? foreignParameters[name] : undefined
  return foreign ?? "libpq has no parameter of this name: check the spelling"
}

/** libpq's environment variable of a parameter that Sallyport reads. */
export function variableOf(name: LibpqParameter): string | undefined {
  return (libpqParameters[name] as ReadParameter).variable
}
