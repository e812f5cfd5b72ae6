import { type ChildProcess, type ExecFileOptions, execFile, spawn } from "node:child_process"
import { chownSync, existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"
import { promisify } from "node:util"
import { askShared } from "./ask-shared.ts"
import { freePort } from "./free-port.ts"
import { migrateByCommand } from "./migrate-by-command.ts"
import { postgresFolder, postgresMissing, postgresProgram, postgresUser } from "./postgres-binaries.ts"

/** A PostgreSQL server of its own folder, on a Unix socket and on 127.0.0.1, trusting everybody. */
export interface ThrowAwayPostgres {
  /** Connection string of `database` by TCP. */
  url(database: string): string
  /** Connection string of `database` by the Unix socket. */
  socketUrl(database: string): string
  readonly port: number
  /** Process id of the postmaster; another one after `restart`. */
  readonly pid: number
  /** Ends it at once and keeps its folder, as when its machine loses power. */
  crash(): Promise<void>
  /** Ends it in order and keeps its folder. Returns the folder of its data, which may be copied until `stop`. */
  shutDown(): Promise<string>
  /** Starts it again after `crash` or `shutDown`. */
  restart(): Promise<void>
  /** Ends it at once and removes its folder. */
  stop(): Promise<void>
}

/**
 * The server lives no longer than this process: a shell between the two reads a pipe that closes when we end, however we end.
 * It writes the postmaster's pid first, starts the next one for each line, and removes the folder last.
 */
const keeper = `run() { "$@" >&2 & pid=$!; echo $pid; }; run "$@"
while read -r line; do wait $pid; run "$@"; done
kill -QUIT $pid 2>/dev/null; wait $pid; rm -rf "$FOLDER"`

/** Durability is of no use to a folder that is thrown away. */
const settings = [
  "fsync=off",
  "synchronous_commit=off",
  "full_page_writes=off",
  "max_connections=200",
  "shared_buffers=64MB",
]

/** What a server starts with. */
export interface ThrowAwayOptions {
  /** Brings a stopped server's address back; a free one by default. */
  readonly port?: number
  /** An asynchronous standby of this server, in place of an empty one. */
  readonly standbyOf?: ThrowAwayPostgres
  /** Whether its database `postgres` is migrated: a copy of one that is migrated once per run, which saves a quarter of a second of CPU time. */
  readonly migrated?: boolean
  /** Further settings, as `name=value`. */
  readonly settings?: readonly string[]
  /** Files of its data folder, readable by the server alone; they replace those that are there. */
  readonly files?: Readonly<Record<string, string>>
}

/** Starts one (about a second). */
export async function startThrowAwayPostgres(options: ThrowAwayOptions = {}): Promise<ThrowAwayPostgres> {
  if (postgresFolder === undefined) throw new Error(postgresMissing)
  const user = postgresUser()
  const folder = mkdtempSync(join(tmpdir(), "sallyport-pg-"))
  if (user) chownSync(folder, user.uid, user.gid)
  const data = join(folder, "data")
  const shared = await askShared(options.migrated ? "migratedData" : "data")
  const as = { ...user, cwd: folder, env: { ...process.env, LC_ALL: "C", FOLDER: folder } }
  if (options.standbyOf !== undefined) await makeStandby(data, options.standbyOf, as)
  else await makePrimary(data, shared, as)
  for (const [name, text] of Object.entries(options.files ?? {})) {
    writeFileSync(join(data, name), text, { mode: 0o600 })
    if (user) chownSync(join(data, name), user.uid, user.gid)
  }
  const port = options.port ?? (await freePort())
  const own = [...settings, ...(options.settings ?? [])].flatMap((setting) => ["-c", setting])
  const flags = ["-D", data, "-p", String(port), "-k", folder, "-h", "127.0.0.1", ...own]
  const shell = spawn("sh", ["-c", keeper, "sh", join(postgresFolder, "postgres"), ...flags], {
    ...as,
    stdio: ["pipe", "pipe", "pipe"],
  })
  let pid = await readiness(shell)
  const url = (database: string) => `postgresql://postgres@127.0.0.1:${port}/${database}`
  if (options.migrated && shared === undefined) await migrateByCommand(url("postgres"))
  const end = async (signal: "SIGQUIT" | "SIGINT") => {
    process.kill(pid, signal)
    // The postmaster removes it last.
    while (existsSync(join(data, "postmaster.pid"))) await sleep(5)
  }
  return {
    port,
    get pid() {
      return pid
    },
    crash: () => end("SIGQUIT"),
    async shutDown() {
      await end("SIGINT")
      return data
    },
    async restart() {
      const ready = readiness(shell)
      shell.stdin?.write("\n")
      pid = await ready
    },
    url,
    socketUrl: (database) =>
      `postgresql://postgres@/${database}?host=${encodeURIComponent(folder)}&port=${port}`,
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

/** The data folder of an empty server. Removed when this process ends. */
export async function initializedFolder(): Promise<string> {
  const user = postgresUser()
  const folder = mkdtempSync(join(tmpdir(), "sallyport-pg-empty-"))
  process.once("exit", () => rmSync(folder, { recursive: true, force: true }))
  if (user) chownSync(folder, user.uid, user.gid)
  await initialize(join(folder, "data"), { ...user, cwd: folder, env: { ...process.env, LC_ALL: "C" } })
  return join(folder, "data")
}

/** A copy takes a sixth of the CPU time of `initdb`, half a second. Its system identifier is the same, which nothing here compares. */
async function makePrimary(data: string, shared: string | undefined, as: ExecFileOptions): Promise<void> {
  if (shared === undefined) await initialize(data, as)
  else await promisify(execFile)("cp", ["-R", shared, data], as)
}

async function initialize(data: string, as: ExecFileOptions): Promise<void> {
  const flags = ["-D", data, "-U", "postgres", "-A", "trust", "-E", "UTF8", "--no-sync", "--no-instructions"]
  await promisify(execFile)(postgresProgram("initdb"), flags, as)
}

async function makeStandby(data: string, primary: ThrowAwayPostgres, as: ExecFileOptions): Promise<void> {
  const flags = ["-D", data, "-d", primary.url("postgres"), "-R", "-X", "stream", "-c", "fast", "--no-sync"]
  await promisify(execFile)(postgresProgram("pg_basebackup"), flags, as)
}

/** Waits for the line by which the server says that it takes connections. Answers the pid. */
async function readiness(shell: ChildProcess): Promise<number> {
  let pid = 0
  let log = ""
  const onPid = (text: unknown) => {
    pid ||= Number(String(text))
  }
  shell.stdout?.on("data", onPid)
  await new Promise<void>((resolve, reject) => {
    const onLog = (text: unknown) => {
      if (log.length < 20_000) log += text
      if (!/ready to accept (read-only )?connections/.test(log)) return
      // It goes on reading, so that the server can write.
      shell.stderr?.off("data", onLog)
      shell.stderr?.resume()
      resolve()
    }
    shell.stderr?.on("data", onLog)
    shell.once("error", reject)
    shell.once("close", () => reject(new Error(`PostgreSQL did not start:\n${log}`)))
  })
  shell.stdout?.off("data", onPid)
  return pid
}
