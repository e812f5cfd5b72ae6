import { userInfo } from "node:os"
import { type LibpqParameter, refusalOf, variableOf } from "./libpq-parameters.ts"

/** One server of the URL. */
export interface ServerAddress {
  /** Host name, IP address, or the folder of a Unix socket (starts with `/`). Certificates are checked against it. */
  readonly host: string
  /** IP address to connect to instead of resolving `host` (`hostaddr`). */
  readonly address: string | undefined
  readonly port: number
}

/** Encryption and certificates, as libpq defines `ssl*`. File names are as given. */
export interface ServerTls {
  readonly mode: "disable" | "allow" | "prefer" | "require" | "verify-ca" | "verify-full"
  /** `direct`: TLS from the first byte, without asking the server first. */
  readonly negotiation: "postgres" | "direct"
  /** File of trusted certificates; `system`: the trusted roots of Node.js. */
  readonly rootCert: string | undefined
  readonly cert: string | undefined
  readonly key: string | undefined
  readonly keyPassword: string | undefined
  readonly revoked: string | undefined
  readonly serverName: boolean
  readonly versionMin: TlsVersion | undefined
  readonly versionMax: TlsVersion | undefined
}

const tlsVersions = ["TLSv1", "TLSv1.1", "TLSv1.2", "TLSv1.3"] as const
type TlsVersion = (typeof tlsVersions)[number]

/** What a connection needs to know, from the URL and libpq's environment variables. */
export interface ServerTarget {
  /** At least one. */
  readonly hosts: readonly ServerAddress[]
  readonly database: string
  readonly user: string
  readonly password: string | undefined
  readonly tls: ServerTls
  /** `read-write`: accepts writes by default. `primary`: is no standby. `standby`: is one. `any`: may be read-only; then writes fail. */
  readonly sessionAttributes: "read-write" | "primary" | "standby" | "any"
  /** Each connection goes to one of the hosts at random. */
  readonly balanced: boolean
  /** Timeout for connecting to one host, in milliseconds. */
  readonly connectTimeoutMs: number | undefined
  readonly applicationName: string | undefined
  /** Options for the server's command line (`-c name=value`). */
  readonly options: string | undefined
  /** Idle time before the first keepalive probe, in milliseconds; undefined: no probes. */
  readonly keepAliveMs: number | undefined
  /** Bind the login to the TLS connection where the server offers it. */
  readonly channelBinding: boolean
}

/** A mistake in the settings of the database. The message never contains the URL or a password; `help` says what to do. */
export class DatabaseSettingsError extends Error {
  override readonly name = "DatabaseSettingsError"
  readonly help: string

  constructor(message: string, help: string) {
    super(message)
    this.help = help
  }
}

const exampleUrl = "postgres://user:password@host:5432/database"
type Variables = Readonly<Record<string, string | undefined>>

/**
 * Reads a URL as libpq does ("Connection URIs" in PostgreSQL's manual): several hosts, socket folders, all parameters. Differences: without
 * a host it is `localhost`; the home folder's files for certificates and passwords are not read; `target_session_attrs` is `read-write`.
 * @throws DatabaseSettingsError when the URL cannot be read, or contains a parameter or value that Sallyport does not have
 */
export function readConnectionUrl(
  url: string,
  env: Variables = {},
  purpose: UrlPurpose = "primary",
): ServerTarget {
  try {
    return readParts(url, env, purpose)
  } catch (error) {
    if (!(error instanceof DatabaseSettingsError) || purpose === "primary") throw error
    const variable = urlVariables[purpose]
    throw new DatabaseSettingsError(
      `${variable}: ${error.message}`,
      error.help.replace(urlVariables.primary, variable),
    )
  }
}

/** What a URL is for: all statements, only reading, only listening. */
type UrlPurpose = "primary" | "replica" | "notices"

const urlVariables: Readonly<Record<UrlPurpose, string>> = {
  primary: "SALLYPORT_DATABASE_URL",
  replica: "SALLYPORT_DATABASE_REPLICA_URL",
  notices: "SALLYPORT_DATABASE_NOTICES_URL",
}

function readParts(url: string, env: Variables, purpose: UrlPurpose): ServerTarget {
  const parts = /^postgres(?:ql)?:\/\/(?:([^/?#]*)@)?([^/?#@]*)(?:\/([^?#]*))?(?:\?([^#]*))?$/.exec(url)
  if (parts === null) throw unreadable("it is not of this form")
  const [, credentials, hosts = "", database = "", query = ""] = parts
  const given = readQuery(query)
  const [user, ...password] = credentials?.split(":") ?? []
  preset(given, "user", decoded(user ?? ""))
  preset(given, "password", decoded(password.join(":")))
  preset(given, "dbname", decoded(database))
  const { host, port } = readAuthority(hosts)
  preset(given, "host", host)
  preset(given, "port", port)
  // `PGTARGETSESSIONATTRS` is about the primary.
  const variables = purpose === "replica" ? { ...env, PGTARGETSESSIONATTRS: undefined } : env
  return targetOf(new Values(given, variables), purpose)
}

/** A parameter overrides the same part of the URL, as in libpq. */
function preset(given: Map<string, string>, name: LibpqParameter, value: string): void {
  if (value !== "" && !given.has(name)) given.set(name, value)
}

function readQuery(query: string): Map<string, string> {
  const given = new Map<string, string>()
  for (const pair of query.split("&").filter((each) => each !== "")) {
    const [name = "", ...rest] = pair.split("=")
    const value = decoded(rest.join("="))
    const parameter = decoded(name)
    // JDBC's spelling, which libpq reads too.
    if (parameter === "ssl" && value === "true") given.set("sslmode", "require")
    else {
      const refusal = refusalOf(parameter)
      if (refusal !== undefined) throw refused(parameter, undefined, refusal)
      given.set(parameter, value)
    }
  }
  return given
}

/** `a:1,b:2`, `[::1]:5432` → the parameters `host` and `port`; each port is empty when it is not given. */
function readAuthority(text: string): { host: string; port: string } {
  const hosts = text.split(",").map((each) => {
    const parts = /^(?:\[([0-9A-Fa-f:.%]+)\]|([^:[\]]*))(?::(\d*))?$/.exec(each)
    if (parts === null) throw unreadable("a host or port is not one")
    return { host: decoded(parts[1] ?? parts[2] ?? ""), port: parts[3] ?? "" }
  })
  const ports = hosts.map(({ port }) => port)
  return {
    host: hosts.map(({ host }) => host).join(","),
    port: ports.every((port) => port === "") ? "" : ports.join(","),
  }
}

function decoded(text: string): string {
  try {
    const value = decodeURIComponent(text)
    if (!value.includes("\0")) return value
  } catch {
    // Malformed, and perhaps a password: do not repeat it.
  }
  throw unreadable(
    "it has a `%` that is not followed by two hexadecimal digits; write `%25` for a percent sign",
  )
}

function unreadable(reason: string): DatabaseSettingsError {
  return new DatabaseSettingsError(
    `the database URL is invalid: ${reason}. It must look like ${exampleUrl}`,
    "Write special characters of the password as %XX, for example %40 for @ and %2F for /.",
  )
}

function refused(name: string, value: string | undefined, help: string): DatabaseSettingsError {
  return new DatabaseSettingsError(
    value === undefined
      ? `the database URL has the parameter ${name}, which Sallyport does not use: ${help}`
      : `the database URL has ${name}=${value}: ${help}`,
    "Change the URL in SALLYPORT_DATABASE_URL. The manual's page on PostgreSQL lists all parameters.",
  )
}

/** The values of parameters: of the URL, else of libpq's environment variables. */
class Values {
  readonly #given: ReadonlyMap<string, string>
  readonly #env: Variables

  constructor(given: ReadonlyMap<string, string>, env: Variables) {
    this.#given = given
    this.#env = env
  }

  /** An empty value is no value, as in libpq. */
  text(name: LibpqParameter): string | undefined {
    const variable = variableOf(name)
    const value = this.#given.get(name) || (variable === undefined ? "" : this.#env[variable])
    return value === "" ? undefined : value
  }

  choice<const Choice extends string>(
    name: LibpqParameter,
    choices: readonly Choice[],
    help?: string,
  ): Choice | undefined {
    const value = this.text(name)
    if (value === undefined) return undefined
    const choice = choices.find((each) => each === value)
    if (choice === undefined) throw refused(name, value, help ?? `write ${choices.join(", ")}`)
    return choice
  }

  number(name: LibpqParameter): number | undefined {
    const value = this.text(name)
    if (value === undefined) return undefined
    if (!/^-?\d{1,9}$/.test(value)) throw refused(name, value, "write a number")
    return Number(value)
  }

  list(name: LibpqParameter): readonly string[] {
    return this.text(name)?.split(",") ?? []
  }
}

function targetOf(values: Values, purpose: UrlPurpose): ServerTarget {
  const user = values.text("user") ?? userInfo().username
  values.choice(
    "client_encoding",
    ["UTF8", "utf8", "UTF-8", "utf-8", "auto"],
    "Sallyport only speaks UTF8: remove it",
  )
  values.choice("gssencmode", ["disable", "prefer"], "Sallyport encrypts with TLS only: use sslmode")
  const timeout = values.number("connect_timeout") ?? 0
  return {
    hosts: hostsOf(values),
    database: values.text("dbname") ?? user,
    user,
    password: values.text("password"),
    tls: tlsOf(values),
    sessionAttributes: attributesOf(values, purpose),
    balanced: values.choice("load_balance_hosts", ["disable", "random"]) === "random",
    connectTimeoutMs: timeout <= 0 ? undefined : timeout * 1000,
    applicationName: values.text("application_name") ?? values.text("fallback_application_name"),
    options: values.text("options"),
    keepAliveMs:
      values.number("keepalives") === 0 ? undefined : (values.number("keepalives_idle") || 10) * 1000,
    channelBinding: bindingOf(values),
  }
}

function attributesOf(values: Values, purpose: UrlPurpose): ServerTarget["sessionAttributes"] {
  const name = "target_session_attrs"
  if (purpose === "replica")
    return (
      values.choice(name, ["standby", "any"], "a replica is only read: write standby (default) or any") ??
      "standby"
    )
  const help = "Sallyport writes to the database: write read-write (default), primary or any"
  return values.choice(name, ["any", "read-write", "primary"], help) ?? "read-write"
}

function bindingOf(values: Values): boolean {
  const help = "Sallyport cannot insist on it: use sslmode=verify-full, and write prefer or disable here"
  return values.choice("channel_binding", ["disable", "prefer"], help) === "prefer"
}

function hostsOf(values: Values): readonly ServerAddress[] {
  const hosts = values.list("host")
  const addresses = values.list("hostaddr")
  const count = Math.max(hosts.length, addresses.length, 1)
  const ports = values.list("port")
  if (hosts.length > 0 && addresses.length > 0 && hosts.length !== addresses.length)
    throw unreadable(
      `it has ${hosts.length} hosts and ${addresses.length} in hostaddr; both need the same number`,
    )
  if (ports.length > 1 && ports.length !== count)
    throw unreadable(`it has ${count} hosts and ${ports.length} ports; write one port, or one for each host`)
  return Array.from({ length: count }, (_, at) => {
    const host = hosts[at] || addresses[at] || "localhost"
    if (host.startsWith("@")) throw refused("host", host, "abstract Unix sockets are not used: name a folder")
    return {
      host,
      address: addresses[at] || undefined,
      port: portOf((ports.length > 1 ? ports[at] : ports[0]) || "5432"),
    }
  })
}

function portOf(text: string): number {
  const port = /^\d{1,5}$/.test(text) ? Number(text) : 0
  if (port < 1 || port > 65_535) throw refused("port", text, "ports are 1–65535")
  return port
}

const tlsModes = ["disable", "allow", "prefer", "require", "verify-ca", "verify-full"] as const

function tlsOf(values: Values): ServerTls {
  const rootCert = values.text("sslrootcert")
  const help =
    values.text("sslmode") === "no-verify"
      ? "write require, which encrypts without checking the certificate, or better verify-full"
      : undefined
  const mode = values.choice("sslmode", tlsModes, help) ?? (rootCert === "system" ? "verify-full" : "prefer")
  if (rootCert === "system" && mode !== "verify-full")
    throw refused("sslmode", mode, "sslrootcert=system needs sslmode=verify-full")
  const negotiation = values.choice("sslnegotiation", ["postgres", "direct"]) ?? "postgres"
  if (negotiation === "direct" && ["disable", "allow", "prefer"].includes(mode))
    throw refused("sslnegotiation", negotiation, "it needs sslmode=require, verify-ca or verify-full")
  values.choice("sslcompression", ["0"], "TLS compression is unsafe: remove it")
  const [cert, key] = [values.text("sslcert"), values.text("sslkey")]
  const sent =
    values.choice("sslcertmode", ["disable", "allow"], "write allow (default) or disable") !== "disable"
  if ((cert === undefined) !== (key === undefined))
    throw refused(
      cert === undefined ? "sslkey" : "sslcert",
      cert ?? key ?? "",
      "a client certificate needs both sslcert and sslkey",
    )
  return {
    mode,
    negotiation,
    rootCert,
    cert: sent ? cert : undefined,
    key: sent ? key : undefined,
    keyPassword: values.text("sslpassword"),
    revoked: values.text("sslcrl"),
    serverName: values.choice("sslsni", ["0", "1"]) !== "0",
    versionMin: values.choice("ssl_min_protocol_version", tlsVersions),
    versionMax: values.choice("ssl_max_protocol_version", tlsVersions),
  }
}

/** The hosts for messages: `db1:5432, db2:5432`. */
export function hostNames(hosts: readonly ServerAddress[]): string {
  return hosts.map(hostName).join(", ")
}

/** `db1:5432`, `[::1]:5432`, `/run/postgresql:5432`. */
export function hostName({ host, port }: ServerAddress): string {
  return `${host.includes(":") ? `[${host}]` : host}:${port}`
}
