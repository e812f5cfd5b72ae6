import { chmod, mkdir, readFile, writeFile } from "node:fs/promises"
import { dirname, join } from "node:path"
import manifest from "../../package.json" with { type: "json" }
import { CliError } from "./command.ts"
import { type HostPort, readHostPort } from "./host-port.ts"
import type { Io } from "./io.ts"
import { tokenFile } from "./remote.ts"

/** The folder for everything that Sallyport stores in a project: the embedded database, the control token, development keys. */
export const ownFolder = ".sallyport"

/** Version of this package. */
export const version: string = manifest.version

/** `SALLYPORT_CONTROL_LISTEN` (default: 127.0.0.1:8082). */
export function controlListenOf(io: Io): HostPort {
  return readHostPort(io.env["SALLYPORT_CONTROL_LISTEN"] || "127.0.0.1:8082", "SALLYPORT_CONTROL_LISTEN")
}

/**
 * `SALLYPORT_HOSTS`: the host names that the engine's and the control listener accept, in addition to IP addresses, `localhost` and the
 * machine's name.
 */
export async function hostsOf(io: Io): Promise<readonly string[]> {
  const names = (io.env["SALLYPORT_HOSTS"] ?? "")
    .split(/[\s,]+/)
    .filter((name) => name !== "")
    .map((name) => name.toLowerCase())
  const { isOwnName } = await import("../../runtime/http/server/internal-guard.ts")
  const wrong = names.find((name) => !isOwnName(name))
  if (wrong === undefined) return names
  throw new CliError(
    `SALLYPORT_HOSTS contains an invalid host name: ${wrong}`,
    "Write host names or addresses without scheme and port, with commas between them: `authz.internal,*.example.internal`.",
  )
}

/** `SALLYPORT_KEEP_PLAN`: whether the served plan is stored on disk (default: yes). */
export function keepPlanOf(io: Io): boolean {
  const given = io.env["SALLYPORT_KEEP_PLAN"] || "on"
  if (given === "on" || given === "off") return given === "on"
  throw new CliError(`SALLYPORT_KEEP_PLAN has an unknown value: ${given}`, "Write `on` or `off`.")
}

const levels = ["trace", "debug", "info", "warn", "error", "fatal", "silent"] as const
/** The log levels. */
export type Level = (typeof levels)[number]

/** `SALLYPORT_LOG_LEVEL` (default: `otherwise`). */
export function logLevelOf(io: Io, otherwise: Level): Level {
  const given = io.env["SALLYPORT_LOG_LEVEL"]
  if (!given) return otherwise
  const level = levels.find((each) => each === given.toLowerCase())
  if (level !== undefined) return level
  throw new CliError(`SALLYPORT_LOG_LEVEL has an unknown value: ${given}`, `Use one of ${levels.join(", ")}.`)
}

/** The token of the control listener, and whether it was just created. */
export interface ControlToken {
  readonly token: string
  readonly made: boolean
}

/**
 * `SALLYPORT_CONTROL_TOKEN`, else the one in .sallyport/control.token, else a new one, stored there for other commands in this folder. An
 * existing token is kept: a restart must not lock out its holders.
 */
export async function controlTokenOf(io: Io): Promise<ControlToken> {
  const given = io.env["SALLYPORT_CONTROL_TOKEN"]
  if (given) return { token: longEnough(given, "SALLYPORT_CONTROL_TOKEN"), made: false }
  const path = join(io.cwd, tokenFile)
  const found = await readFile(path, "utf8").catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return ""
    throw unusable(error, "read")
  })
  if (found.trim() !== "") return { token: longEnough(found.trim(), tokenFile), made: false }
  const { newControlToken } = await import("../../runtime/control/token.ts")
  const token = newControlToken()
  await leaveToken(io, token)
  return { token, made: true }
}

/** Stores the token for the commands of this folder, readable by its owner only. */
export async function leaveToken(io: Io, token: string): Promise<void> {
  const path = join(io.cwd, tokenFile)
  try {
    await mkdir(dirname(path), { recursive: true, mode: 0o700 })
    await writeFile(path, `${token}\n`, { mode: 0o600 })
    // The mode above only applies to a new file.
    await chmod(path, 0o600)
  } catch (error) {
    throw unusable(error as NodeJS.ErrnoException, "written")
  }
}

function longEnough(token: string, where: string): string {
  if (/^\S{16,1024}$/.test(token)) return token
  throw new CliError(
    `the control token in ${where} is too short or contains spaces`,
    "Use at least 16 characters, e.g. from `openssl rand -hex 32`.",
  )
}

function unusable(error: NodeJS.ErrnoException, how: string): CliError {
  return new CliError(
    `${tokenFile} cannot be ${how} (${error.code ?? error.message})`,
    "Make the folder writable for this user, or set SALLYPORT_CONTROL_TOKEN.",
  )
}
