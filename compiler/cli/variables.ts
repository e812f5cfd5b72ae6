/** An environment variable that commands read. */
export interface EnvironmentVariable {
  /** The commands that read it; `all`: every command. */
  readonly commands: readonly string[]
  readonly docs: string
  readonly byDefault?: string
  readonly example: string
}

/** Commands that connect to a running Sallyport. */
const remote = [
  ...["plan", "apply", "history", "rollback", "status", "prune", "subscription", "usage"],
  ...["login", "logout", "whoami", "control-token", "audit"],
  ...["check", "list-objects", "list-users", "tuple", "watch", "shell", "explain request"],
]

/**
 * All environment variables by name, for the manual and `sallyport help VARIABLE`. A test compares this table with the names in the code.
 */
export const variables: Readonly<Record<string, EnvironmentVariable>> = {
  SALLYPORT_DATABASE_URL: {
    commands: ["serve", "dev", "migrate"],
    docs: "URL of the PostgreSQL database (14 or newer) with plans, tuples, subscriptions and usage.",
    byDefault: "an embedded database in `.sallyport/`",
    example: "postgres://sallyport:secret@db.internal/sallyport",
  },
  SALLYPORT_DATABASE_PASSWORD_FILE: {
    commands: ["serve", "dev", "migrate"],
    docs: "File that contains the database password alone. It is read for each new connection, so it may be replaced at any time.",
    byDefault: "the password in the URL",
    example: "/run/secrets/database-password",
  },
  SALLYPORT_DATABASE_PASSWORD_COMMAND: {
    commands: ["serve", "dev", "migrate"],
    docs: "Program with arguments that prints the database password, for tokens that expire. It runs without a shell, for at most 10 seconds, and again after a minute or when the server refuses the password.",
    byDefault: "the password in the URL",
    example: "aws rds generate-db-auth-token --hostname db.internal --port 5432 --username sallyport",
  },
  SALLYPORT_DATABASE_SCHEMA: {
    commands: ["serve", "dev", "migrate"],
    docs: "Schema of all tables in the PostgreSQL database; `search_path` is not used.",
    byDefault: "`sallyport`",
    example: "gateway_prod",
  },
  SALLYPORT_DATABASE_POOL_SIZE: {
    commands: ["serve", "dev", "migrate"],
    docs: "Number of connections to the PostgreSQL database that a process opens for statements at most: 1–1000. Two more listen for changes.",
    byDefault: "10",
    example: "20",
  },
  SALLYPORT_DATABASE_POOLER: {
    commands: ["serve", "dev", "migrate"],
    docs: "`none` or `transaction`: whether the URL leads to a connection pooler such as pgbouncer. With `transaction`, nothing is left in a session: no prepared statements, no notices.",
    byDefault: "`none`",
    example: "transaction",
  },
  SALLYPORT_DATABASE_NOTICES_URL: {
    commands: ["serve", "dev"],
    docs: "URL of the PostgreSQL server itself, for the connections that listen for changes beside a pooler.",
    byDefault: "the database URL; with a pooler, changes are found by polling",
    example: "postgres://sallyport:secret@db.internal/sallyport",
  },
  SALLYPORT_DATABASE_REPLICA_URL: {
    commands: ["serve", "dev"],
    docs: "URL of streaming standbys of the PostgreSQL server, from which tuples are read. Each of its hosts is one replica.",
    byDefault: "tuples are read from the database URL",
    example: "postgres://sallyport@replica1.internal,replica2.internal/sallyport",
  },
  SALLYPORT_CONTROL_LISTEN: {
    commands: ["serve", "dev"],
    docs: "Address and port of the control listener. A process without the role `control` serves only health and metrics there.",
    byDefault: "127.0.0.1:8082",
    example: "0.0.0.0:8082",
  },
  SALLYPORT_CONTROL_TOKEN: {
    commands: ["serve", "dev", ...remote],
    docs: "The bearer token of the control API: at least 16 characters without blanks. Commands prefer it to a login.",
    byDefault:
      "the login of `sallyport login` at the URL, else the token in `.sallyport/control.token`, which `serve` and `dev` write when there is none",
    example: "$(openssl rand -hex 32)",
  },
  SALLYPORT_CONTROL_TOKEN_FILE: {
    commands: ["serve", "dev", ...remote],
    docs: "File that contains the control token alone, such as a secret of Docker or Kubernetes. `serve` and `dev` read it at the start, other commands each time. SALLYPORT_CONTROL_TOKEN must not be set as well.",
    byDefault: "SALLYPORT_CONTROL_TOKEN",
    example: "/run/secrets/control-token",
  },
  SALLYPORT_CONTROL_URL: {
    commands: remote,
    docs: "URL of the control API that a command talks to. `--control` replaces it.",
    byDefault: "the `sallyport dev` of this folder, else http://127.0.0.1:8082",
    example: "http://127.0.0.1:8082",
  },
  SALLYPORT_CONTROL_CA: {
    commands: remote,
    docs: "File (PEM) with the certificate authorities that may sign the certificate of the control API. `--ca` replaces it.",
    byDefault: "the authorities of the system",
    example: "certs/ops-ca.pem",
  },
  SALLYPORT_CONTROL_CERT: {
    commands: remote,
    docs: "File (PEM) with the client certificate for a control API that demands one. `--cert` replaces it.",
    byDefault: "no client certificate",
    example: "certs/ann.pem",
  },
  SALLYPORT_CONTROL_CERT_KEY: {
    commands: remote,
    docs: "File (PEM) with the private key of the client certificate. `--cert-key` replaces it.",
    byDefault: "no client certificate",
    example: "certs/ann.key",
  },
  SALLYPORT_AUTHZ_TOKEN: {
    commands: ["shell"],
    docs: "The key or token for the engine that `--url` names.",
    byDefault: "no credentials",
    example: "the-key-of-a-service",
  },
  SALLYPORT_AUDIT_SINKS: {
    commands: ["serve"],
    docs: "Where the rows of the audit log are copied as JSON lines, separated by commas: `stdout`, `file:PATH` (a new file every 100 MB, five older ones are kept), or an http(s) URL without user and password, which gets them by POST. When a place fails, up to 10,000 rows wait for it.",
    byDefault: "only the table in the database",
    example: "stdout,file:/var/log/sallyport/audit.jsonl",
  },
  SALLYPORT_AUDIT_TOKEN: {
    commands: ["serve"],
    docs: "Bearer token for the URLs in SALLYPORT_AUDIT_SINKS.",
    byDefault: "no credential",
    example: "token-of-the-collector",
  },
  SALLYPORT_WEBHOOKS: {
    commands: ["serve"],
    docs: "http(s) URLs without user and password, separated by commas, that get a message by POST for each applied plan and each consent. The process that applied a plan sends the message. While a URL fails, messages wait for it.",
    byDefault: "no messages",
    example: "https://chat.example/hooks/sallyport",
  },
  SALLYPORT_WEBHOOK_SECRET: {
    commands: ["serve"],
    docs: "The key of the signatures of SALLYPORT_WEBHOOKS, at least 24 characters: `whsec_` and base64, or any text.",
    byDefault: "required by SALLYPORT_WEBHOOKS",
    example: "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw",
  },
  SALLYPORT_HOSTS: {
    commands: ["serve", "dev"],
    docs: "Host names that the listeners of the engine and of the control API accept, separated by commas; `*` takes any. IP addresses, `localhost` and the machine's name are always allowed. Other names get 421.",
    byDefault: "no further names",
    example: "sallyport,*.shop.svc.cluster.local",
  },
  SALLYPORT_LOG_LEVEL: {
    commands: ["serve", "dev", "migrate"],
    docs: "Lowest level of log lines: `trace`, `debug`, `info`, `warn`, `error`, `fatal` or `silent`. Requests are logged at `info`.",
    byDefault: "`info`; of `dev` `warn`",
    example: "warn",
  },
  SALLYPORT_LOG_NAMES: {
    commands: ["serve"],
    docs: "Names of the fields in log lines: `sallyport`, `ecs` (Elastic Common Schema) or `otel` (OpenTelemetry's semantic conventions).",
    byDefault: "`sallyport`: the names in the manual",
    example: "ecs",
  },
  SALLYPORT_SPOOL: {
    commands: ["serve"],
    docs: "Folder for data that waits until the database is available again: usage and quotas. It also has copies of the last plans.",
    byDefault: "`.sallyport/spool`",
    example: "/var/spool/sallyport",
  },
  SALLYPORT_KEEP_PLAN: {
    commands: ["serve"],
    docs: "`on` or `off`: whether the plan that is served and those before it are kept in the spool folder, so that a process can start and roll back while the database is unavailable.",
    byDefault: "`on`",
    example: "off",
  },
  SALLYPORT_WHO: {
    commands: ["apply", "rollback"],
    docs: "Who applies, for the history of plans.",
    byDefault: "the name of the system's user",
    example: "ci-pipeline-4711",
  },
  XDG_CONFIG_HOME: {
    commands: [...remote],
    docs: "Folder for the settings of this user. `sallyport login` stores logins in `sallyport/logins` there, readable by this user only.",
    byDefault: "`~/.config`",
    example: "/home/ann/.config",
  },
  NO_COLOR: {
    commands: ["all"],
    docs: "Any value: no colours.",
    byDefault: "colours on a terminal",
    example: "1",
  },
  FORCE_COLOR: {
    commands: ["all"],
    docs: "Any value but `0`: colours also where the output is not a terminal.",
    byDefault: "colours on a terminal",
    example: "1",
  },
  PAGER: {
    commands: ["docs"],
    docs: "The program that shows long texts on a terminal, a screen at a time.",
    byDefault: "`less`",
    example: "less -R",
  },
}
