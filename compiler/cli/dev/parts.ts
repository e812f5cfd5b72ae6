import { join } from "node:path"
import { startIdentityProvider } from "../../../runtime/dev/identity-provider.ts"
import { startSampleBackends } from "../../../runtime/dev/sample-backends.ts"
import type { PlanBody } from "../../../runtime/plan/plan.ts"
import { addressText, type DeclaredListener } from "../../../runtime/plan/resources.ts"
import type { Runtime, RuntimeSettings } from "../../../runtime/process/settings.ts"
import { controlTokenOf, leaveToken } from "../control-token.ts"
import { databaseOf } from "../database-settings.ts"
import type { HostPort } from "../host-port.ts"
import type { Io } from "../io.ts"
import { controlListenOf, hostsOf, logLevelOf, ownFolder, version } from "../settings.ts"
import { rethrowForPeople, startRuntime } from "../start.ts"
import { demandFree, type Wanted } from "./addresses.ts"
import type { Closers } from "./closers.ts"
import { humanLine, isRefusal } from "./human-log.ts"
import { leaveTrace, traceOfDev } from "./trace.ts"

/** The settings from the command line. */
export interface DevSettings {
  /** Listen address of the development identity provider. */
  readonly identity: HostPort
  /** Listen addresses of the two sample backends: orders, and the second version of orders with the catalog. */
  readonly backends: readonly [HostPort, HostPort]
  readonly verbose: boolean
}

/** The parts that `dev` runs next to the compiler. */
export interface DevParts {
  readonly runtime: Runtime
  readonly controlUrl: string
  readonly token: string
  readonly identityUrl: string
  readonly backendUrls: readonly [string, string]
  /** The variables for `env()` in plans. */
  readonly env: Readonly<Record<string, string | undefined>>
  /** Adds a value for a variable that is not set, for plans applied later. */
  standIn(name: string, value: string): void
}

/** Time for requests in progress at the end: Ctrl-C must take at most two seconds. */
const graceMs = 1_000

/**
 * Starts everything. `plan` is the plan to apply, undefined while the text has errors. Its addresses are checked first, so that all
 * addresses in use are reported at once. @throws CliError
 */
export async function startParts(
  io: Io,
  args: DevSettings,
  plan: PlanBody | undefined,
  closers: Closers,
): Promise<DevParts> {
  const listen = controlListenOf(io)
  const { token } = await controlTokenOf(io)
  await leaveToken(io, token)
  await demandFree(wantedAddresses(args, listen, plan))
  const identityUrl = `http://${addressText(args.identity)}`
  const standIns: Record<string, string> = { ...traceOfDev(io)?.standIns }
  const env: Record<string, string | undefined> = { AUTH_URL: identityUrl, ...standIns, ...io.env }
  const starting = startRuntime(await runtimeSettings(io, args, { listen, token }, env))
  closers.add(async () => (await starting).close())
  const beside = startBeside(io, args, closers)
  // Report only the first failure: later ones are consequences.
  const [runtime, backendUrls] = await Promise.all([starting, beside])
  const controlUrl = runtime.controlUrl ?? `http://${addressText(listen)}`
  const leave = () => leaveTrace(io, { control: controlUrl, identity: identityUrl, standIns })
  leave()
  const standIn = (name: string, value: string) => {
    env[name] = value
    standIns[name] = value
    leave()
  }
  return { runtime, controlUrl, token, identityUrl, backendUrls, env, standIn }
}

/**
 * Every address that `dev` will listen on, with how to move it: they are checked before anything starts, so that all conflicts are reported
 * at once.
 */
function wantedAddresses(
  { identity, backends }: DevSettings,
  control: HostPort,
  plan: PlanBody | undefined,
): Wanted[] {
  const inText = "change it in gateway.conf"
  return [
    { what: "the identity provider", at: identity, move: "`--identity HOST:PORT` moves it" },
    ...backends.map((at) => ({
      what: "a sample backend",
      at,
      move: "`--backends` moves it, and its url in gateway.conf",
    })),
    { what: "the control listener", at: control, move: "SALLYPORT_CONTROL_LISTEN moves it" },
    ...written(plan?.gateway?.listen).map((at) => ({ what: "the gateway", at, move: inText })),
    ...written(plan?.authz?.listen).map((at) => ({ what: "the authorization engine", at, move: inText })),
    ...written(plan?.portal?.listen).map((at) => ({ what: "the developer portal", at, move: inText })),
  ]
}

/** The runtime reads other addresses, and reports those that are in use. */
function written(listen: readonly DeclaredListener[] = []): HostPort[] {
  return listen.flatMap((each) => ("at" in each ? [] : [each]))
}

/** The identity provider and the sample backends. Each is closed again if a later one cannot start. */
async function startBeside(io: Io, args: DevSettings, closers: Closers): Promise<readonly [string, string]> {
  const [first, second] = args.backends
  try {
    const identity = await startIdentityProvider({ ...args.identity, folder: join(io.cwd, ownFolder) })
    closers.add(() => identity.close())
    const backends = await startSampleBackends({
      host: first.host,
      ordersPort: first.port,
      catalogPort: second.port,
    })
    closers.add(() => backends.close())
    return [backends.ordersUrl, backends.catalogUrl]
  } catch (error) {
    return rethrowForPeople(error)
  }
}

/** The settings of the runtime. Only refused and failed requests are shown unless `--verbose` is given. */
async function runtimeSettings(
  io: Io,
  { verbose }: DevSettings,
  control: NonNullable<RuntimeSettings["control"]>,
  env: RuntimeSettings["env"],
): Promise<RuntimeSettings> {
  const { createLog } = await import("../../../runtime/telemetry/log.ts")
  const stream = { write: (line: string) => io.err(humanLine(line)) }
  const requests = {
    write: (line: string) => (verbose || isRefusal(line) ? io.err(humanLine(line)) : undefined),
  }
  return {
    database: databaseOf(io),
    migrate: true,
    roles: ["gateway", "authz", "control", "portal"],
    control,
    hosts: await hostsOf(io),
    env,
    cwd: io.cwd,
    version,
    log: createLog({ level: logLevelOf(io, "warn"), stream }),
    accessLog: createLog({ level: "info", stream: requests }),
    // A development machine is not reached by the names of its project, and failed orders count in the limits of the authority.
    ordersCertificates: false,
    enforcesChangeRules: false,
    graceMs,
  }
}
