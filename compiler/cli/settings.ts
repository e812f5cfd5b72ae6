import { resolve } from "node:path"
import manifest from "../../package.json" with { type: "json" }
import { CliError } from "./command.ts"
import { type HostPort, readHostPort } from "./host-port.ts"
import type { Io } from "./io.ts"

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

/** `SALLYPORT_AUDIT_SINKS`: where rows of the audit log are copied, separated by commas or spaces. */
export function auditSinksOf(io: Io): readonly string[] {
  const sinks = (io.env["SALLYPORT_AUDIT_SINKS"] ?? "").split(/[\s,]+/).filter((sink) => sink !== "")
  const [name, shown] = ["SALLYPORT_AUDIT_SINKS", withoutUser]
  const wrong = sinks.find((sink) => !/^(?:stdout|file:.+|https?:\/\/.+)$/.test(sink) || isBrokenUrl(sink))
  if (wrong !== undefined)
    throw new CliError(
      `${name} contains an unknown place: ${shown(wrong)}`,
      "Write `stdout`, `file:PATH` or an http(s) URL, with commas between them.",
    )
  const named = sinks.find((sink) => /^https?:/.test(sink) && shown(sink) !== sink)
  if (named === undefined)
    return sinks.map((sink) => sink.replace(/^file:(.+)$/s, (_, path) => `file:${resolve(io.cwd, path)}`))
  throw new CliError(
    `${name}: the URL ${shown(named)} contains a user or a password, which would not be sent`,
    "Put a bearer token into SALLYPORT_AUDIT_TOKEN.",
  )
}

/** `SALLYPORT_WEBHOOKS` and `SALLYPORT_WEBHOOK_SECRET`: the services that get messages about changes; undefined: none. */
export function webhooksOf(
  io: Io,
): { readonly urls: readonly string[]; readonly secret: string } | undefined {
  const urls = (io.env["SALLYPORT_WEBHOOKS"] ?? "").split(/[\s,]+/).filter((url) => url !== "")
  if (urls.length === 0) return undefined
  const wrong = urls.find(
    (url) => !/^https?:\/\/.+$/.test(url) || !URL.canParse(url) || withoutUser(url) !== url,
  )
  if (wrong !== undefined)
    throw new CliError(
      `SALLYPORT_WEBHOOKS contains what is no URL without user and password: ${withoutUser(wrong)}`,
      "Write http(s) URLs, with commas between them.",
    )
  const secret = io.env["SALLYPORT_WEBHOOK_SECRET"] ?? ""
  if (secret.length >= secretLengthMin) return { urls, secret }
  throw new CliError(
    `SALLYPORT_WEBHOOKS needs SALLYPORT_WEBHOOK_SECRET with at least ${secretLengthMin} characters`,
    "Make one with `openssl rand -base64 32`, and give it to the receivers, too.",
  )
}

const secretLengthMin = 24

const isBrokenUrl = (text: string) => /^https?:/.test(text) && !URL.canParse(text)

/** A URL for a message: without user and password, also if it is not a valid one. */
const withoutUser = (url: string) => url.replace(/\/\/.*@/s, "//")

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

const namings = ["sallyport", "ecs", "otel"] as const

/** `SALLYPORT_LOG_NAMES` (default: `sallyport`). */
export function logNamesOf(io: Io): (typeof namings)[number] {
  const given = io.env["SALLYPORT_LOG_NAMES"] || "sallyport"
  const names = namings.find((each) => each === given)
  if (names !== undefined) return names
  throw new CliError(
    `SALLYPORT_LOG_NAMES has an unknown value: ${given}`,
    `Use one of ${namings.join(", ")}.`,
  )
}
