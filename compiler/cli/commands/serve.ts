import cluster from "node:cluster"
import { resolve } from "node:path"
import type { Plan } from "../../../runtime/plan/plan.ts"
import type { RuntimeSettings } from "../../../runtime/process/settings.ts"
import {
  CliError,
  type CommandLine,
  command,
  type ExitCode,
  exitCode,
  type OptionValues,
} from "../command.ts"
import { controlTokenOf, tokenFile } from "../control-token.ts"
import { databaseOf } from "../database-settings.ts"
import type { Io } from "../io.ts"
import { type ProjectArgs, readProject, textOf } from "../options.ts"
import { readPlanFile } from "../plan-file.ts"
import { compileProject, demandEntry, planIn } from "../project.ts"
import {
  auditSinksOf,
  controlListenOf,
  hostsOf,
  keepPlanOf,
  logLevelOf,
  logNamesOf,
  version,
  webhooksOf,
} from "../settings.ts"
import { runWorker, startParent, startRuntime } from "../start.ts"
import { coresForUs, Supervisor } from "../supervised.ts"

/** The roles of a process. */
export const roles = ["gateway", "authz", "control", "portal"] as const
type ServeRole = (typeof roles)[number]

interface ServeArgs {
  /** What to serve instead of the newest plan of the database: a plan file, or text to compile. */
  readonly source:
    | { readonly kind: "plan"; readonly file: string }
    | { readonly kind: "text"; readonly project: ProjectArgs }
    | undefined
  readonly roles: readonly ServeRole[]
  /** Worker processes; 1: this process serves alone. */
  readonly workers: number | "auto"
}

const serveLine: CommandLine<ServeArgs> = {
  options: [
    ["--plan <file>", "serve the plan in this file instead of the newest plan in the database"],
    [
      "--config <file>",
      "compile this file and serve it instead of the newest plan in the database; it is not watched: restart, or run `sallyport apply`, after changes",
    ],
    [
      "--only <roles>",
      "roles of this process, separated by commas: gateway, authz, control, portal (default: all)",
      "joined",
    ],
    [
      "--workers <number>",
      "number of worker processes that share the listeners and the limits of this machine, 1–256; `auto`: one for each core (default: 1, this process serves alone)",
    ],
  ],
  examples: [
    [
      "SALLYPORT_DATABASE_URL=postgres://sallyport@db/sallyport sallyport serve",
      "run everything in one process, on PostgreSQL",
    ],
    ["sallyport serve --config gateway.conf", "compile and serve in one step, on the embedded database"],
    [
      "sallyport serve --only gateway",
      "run one of several gateways; another process has the control listener",
    ],
    ["sallyport serve --workers auto", "use all cores of the machine"],
  ],
  parse: (_, options) => ({
    source: sourceOf(options),
    roles: readRoles(options["only"]),
    workers: readWorkers(textOf(options, "workers")),
  }),
}

function sourceOf(options: OptionValues): ServeArgs["source"] {
  const file = textOf(options, "plan")
  // `textOf` would refuse an empty path; the project's reader has the better message.
  if (options["config"] === undefined) return file === undefined ? undefined : { kind: "plan", file }
  if (file !== undefined) throw new CliError("--plan and --config exclude each other", "Remove one of them.")
  return { kind: "text", project: readProject(options) }
}

function readRoles(only: unknown): readonly ServeRole[] {
  if (only === undefined) return roles
  const words = String(only)
    .split(",")
    .map((word) => word.trim())
  const unknown = words.find((word) => !roles.some((role) => role === word))
  if (unknown !== undefined)
    throw new CliError(`--only has the unknown role \`${unknown}\``, `Use ${roles.join(", ")}.`)
  // In the order of `roles`, whatever order the user wrote.
  return roles.filter((role) => words.includes(role))
}

const workersMax = 256

function readWorkers(given = "1"): number | "auto" {
  if (given === "auto") return given
  const count = /^\d{1,3}$/.test(given) ? Number(given) : 0
  if (count >= 1 && count <= workersMax) return count
  throw new CliError(
    `--workers is not a number of processes: ${given}`,
    `Write 1–${workersMax}, or \`auto\`.`,
  )
}

/** Serves until the process is stopped, then finishes the requests in progress. */
export const serve = command(serveLine, async (args, io) => {
  if (cluster.isWorker) return serveAsWorker(args, io)
  // Before the start, so that a signal during a slow start is not lost.
  const stopped = io.untilStopped()
  const settings = await settingsOf(args, io)
  const workers = args.workers === "auto" ? await coresForUs() : args.workers
  const { log, roles } = settings
  // Before this process grows.
  const supervisor = new Supervisor(io.env, process.pid, (reason) =>
    log.warn({ reason }, "the supervisor was not notified"),
  )
  const { adoptSockets, unusedSockets } = await import("../../../runtime/http/server/inherited-sockets.ts")
  const { addresses, descriptors, troubles } = adoptSockets(io.env, process.pid)
  if (addresses.length > 0) log.info({ sockets: addresses }, "listening sockets were passed to this process")
  for (const reason of troubles) log.warn({ reason }, "passed sockets are not used")
  const runtime =
    workers > 1
      ? await startParent({ ...settings, workers, sockets: descriptors })
      : await startRuntime(settings)
  log.info({ version, roles, ...runtime.addresses(), control: runtime.controlUrl }, "started")
  if (args.source?.kind === "text")
    log.info(
      `${args.source.project.entry} is not watched: restart, or run \`sallyport apply\`, after changes`,
    )
  // Not an error: the process is useful as soon as the missing part is there, and readiness says so to a load balancer.
  const missing = await runtime.notReady()
  for (const reason of missing) log.warn(`not ready: ${reason}`)
  if (workers === 1)
    for (const socket of unusedSockets()) log.warn({ socket }, "no listener uses this passed socket")
  await supervisor.ready(async () => {
    const [reason] = await runtime.notReady()
    return reason === undefined ? "serving" : `not ready: ${reason}`
  })
  const failure = await ("failed" in runtime ? Promise.race([stopped, runtime.failed]) : stopped)
  log.info("shutting down: running requests are completed, new ones are refused")
  supervisor.stopping()
  await runtime.close()
  await supervisor.close()
  if (failure !== undefined) throw new CliError(failure.message, failure.help)
  return exitCode.ok
})

/** A worker gets plans from its parent, which has the control listener. */
async function serveAsWorker(args: ServeArgs, io: Io): Promise<ExitCode> {
  const { adoptSockets } = await import("../../../runtime/http/server/inherited-sockets.ts")
  // The descriptor before them is the channel to the parent.
  adoptSockets({ ...io.env, LISTEN_PID: String(process.pid) }, process.pid, 4)
  const { log, ...settings } = await baseSettingsOf(args, io)
  const { logOfWorker } = await import("../../../runtime/telemetry/log.ts")
  const ownLog = logOfWorker(log, process.pid, settings.logNames)
  await runWorker({ ...settings, log: ownLog, control: undefined })
  return exitCode.ok
}

async function settingsOf(args: ServeArgs, io: Io): Promise<RuntimeSettings> {
  const plan = await planFrom(args.source, io)
  const settings = await baseSettingsOf(args, io)
  return {
    ...settings,
    control: await controlOf(args, io, settings.log),
    ...(plan === undefined ? {} : { plan }),
  }
}

/** The settings of every process of `serve`. */
async function baseSettingsOf(args: ServeArgs, io: Io): Promise<Omit<RuntimeSettings, "control" | "plan">> {
  const level = logLevelOf(io, "info")
  const logNames = logNamesOf(io)
  const webhooks = webhooksOf(io)
  const database = databaseOf(io)
  const { createLog } = await import("../../../runtime/telemetry/log.ts")
  const log = createLog({ level, names: logNames })
  return {
    database,
    // For a database server, `migrate` updates the schema once for all processes. The embedded database has only this process.
    migrate: "folder" in database,
    roles: args.roles,
    hosts: await hostsOf(io),
    env: io.env,
    cwd: io.cwd,
    ...(io.env["SALLYPORT_SPOOL"] ? { spoolFolder: resolve(io.cwd, io.env["SALLYPORT_SPOOL"]) } : {}),
    keepPlan: keepPlanOf(io),
    auditSinks: auditSinksOf(io),
    ...(webhooks === undefined ? {} : { webhooks }),
    ...(io.env["SALLYPORT_AUDIT_TOKEN"] ? { auditToken: io.env["SALLYPORT_AUDIT_TOKEN"] } : {}),
    version,
    log,
    logNames,
    // The access log has the level `info`.
    accessLog: log.isLevelEnabled("info"),
  }
}

async function planFrom(source: ServeArgs["source"], io: Io): Promise<Plan | undefined> {
  if (source === undefined) return undefined
  if (source.kind === "plan") return readPlanFile(io, source.file).plan
  const files = demandEntry(io, source.project)
  // Do not use `compilePlan`: it delays V8's optimizations for the whole life of the process.
  return planIn(io, await compileProject(io, source.project, files))
}

/** Every process serves health checks. Only a process for operators has, or creates, a token. */
async function controlOf(
  { roles }: ServeArgs,
  io: Io,
  log: RuntimeSettings["log"],
): Promise<NonNullable<RuntimeSettings["control"]>> {
  const listen = controlListenOf(io)
  if (!roles.includes("control")) return { listen }
  const { token, made } = await controlTokenOf(io)
  if (made) log.warn(`SALLYPORT_CONTROL_TOKEN is not set; a new control token was written to ${tokenFile}`)
  return { listen, token }
}
