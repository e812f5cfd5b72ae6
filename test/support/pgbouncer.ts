import { spawn } from "node:child_process"
import { chownSync, existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { delimiter, join } from "node:path"
import { Client } from "pg"
import { describe, test } from "vitest"
import { describePostgres } from "../postgres.ts"
import { freePort } from "./free-port.ts"
import { postgresUser } from "./postgres-binaries.ts"

/** A pooler before a PostgreSQL server. */
export interface Pgbouncer {
  /** The URL of a database of the server, with the pooler's address. */
  through(url: string): string
  /** From now on it opens connections to the server with this port, as after a failover. */
  pointTo(serverPort: number): Promise<void>
  stop(): Promise<void>
}

const program = [...(process.env["PATH"] ?? "").split(delimiter), "/usr/sbin"]
  .map((folder) => join(folder, "pgbouncer"))
  .find((path) => existsSync(path))

/** `describe` for tests that need PostgreSQL and pgbouncer; skipped, or failed where `CI` is set, as `describePostgres` is. */
export function describePgbouncer(name: string, body: () => void): void {
  if (program !== undefined) {
    describePostgres(name, body)
    return
  }
  const missing = "needs pgbouncer: there is none in PATH or /usr/sbin"
  describe(name, () => {
    test("needs pgbouncer", (context) => {
      if (process.env["CI"]) throw new Error(missing)
      context.skip(missing)
    })
  })
}

/** As in `throw-away-postgres.ts`: it lives no longer than this process. SIGTERM ends it at once. */
const keeper = `"$@" >&2 & pid=$!; cat >/dev/null; kill -TERM $pid 2>/dev/null; wait $pid; rm -rf "$FOLDER"`

/** Starts one in transaction mode, with fewer sessions than a process opens connections, so that they are shared. */
export async function startPgbouncer(
  serverPort: number,
  settings: readonly string[] = [],
): Promise<Pgbouncer> {
  if (program === undefined) throw new Error("there is no pgbouncer")
  const user = postgresUser()
  const folder = mkdtempSync(join(tmpdir(), "sallyport-pgbouncer-"))
  const port = await freePort()
  const users = join(folder, "users")
  writeFileSync(users, '"postgres" ""\n')
  const linesFor = (target: number) => [
    "[databases]",
    `* = host=127.0.0.1 port=${target}`,
    "[pgbouncer]",
    ...["pool_mode = transaction", "default_pool_size = 4", "max_client_conn = 200"],
    ...["listen_addr = 127.0.0.1", `listen_port = ${port}`, "unix_socket_dir =", "auth_type = trust"],
    ...[`auth_file = ${users}`, "admin_users = postgres", "server_login_retry = 1", ...settings],
  ]
  const config = join(folder, "pgbouncer.ini")
  const configure = (target: number) => writeFileSync(config, `${linesFor(target).join("\n")}\n`)
  configure(serverPort)
  for (const path of user ? [folder, users, config] : []) chownSync(path, user?.uid ?? 0, user?.gid ?? 0)
  const env = { ...process.env, FOLDER: folder }
  const shell = spawn("sh", ["-c", keeper, "sh", program, config], {
    ...{ ...user, cwd: folder, env },
    stdio: ["pipe", "ignore", "pipe"],
  })
  let log = ""
  await new Promise<void>((resolve, reject) => {
    shell.stderr?.on("data", (text) => {
      if (log.length < 20_000) log += text
      if (/process up/.test(log)) resolve()
    })
    shell.once("close", () => reject(new Error(`pgbouncer did not start:\n${log}`)))
  })
  return {
    through: (url) => url.replace(/:\d+\//, `:${port}/`),
    async pointTo(target) {
      configure(target)
      const admin = new Client({ connectionString: `postgresql://postgres@127.0.0.1:${port}/pgbouncer` })
      await admin.connect()
      await admin.query("reload")
      await admin.end()
    },
    async stop() {
      const ended = new Promise((resolve) => shell.once("close", resolve))
      if (shell.exitCode === null) {
        shell.stdin?.end()
        await ended
      }
      rmSync(folder, { recursive: true, force: true })
    },
  }
}
