import type { ProcessStatus, StatusAnswer } from "../../../runtime/control/api.ts"
import { type CommandLine, command, exitCode } from "../command.ts"
import { formatOptions, readFormat } from "../options.ts"
import { print } from "../print.ts"
import { connect, expectOk } from "../remote.ts"
import { canaryText } from "../views/canary.ts"
import { missingText } from "../views/missing-capability.ts"
import { utcText } from "../views/plan-record.ts"
import { table } from "../views/table.ts"

/** Number of stores in the text. */
const storesShown = 20

interface StatusArgs {
  readonly format: "text" | "json"
}

const statusLine: CommandLine<StatusArgs> = {
  options: formatOptions,
  examples: [["sallyport status", "see whether every process serves the newest plan"]],
  parse: (_, options) => ({ format: readFormat(options, ["text", "json"]) }),
}

export const status = command(statusLine, async (args, io) => {
  const remote = await connect(io)
  const answer = expectOk<StatusAnswer>(await remote.request("GET", "/v1/status"))
  print(io, args.format, answer, statusText)
  return exitCode.ok
})

/** The text of `status`. */
function statusText(status: StatusAnswer): string {
  // Without the database the newest serial is unknown, although a plan is served.
  const served = status.processes.some(({ serial }) => serial !== null)
  const none = served ? "The newest plan is unknown.\n" : "No plan was applied yet.\n"
  const newest = status.serial === null ? none : `The newest plan is serial ${status.serial}.\n`
  const processes = table(
    ["PROCESS", "ROLES", "VERSION", "SINCE", "SERIAL", "STATE"],
    status.processes.map((process) => [
      `${process.host}:${process.pid}`,
      process.roles.join(","),
      process.version,
      utcText(process.startedAt),
      process.serial === null ? "-" : String(process.serial),
      stateOf(process, status.serial),
    ]),
  )
  const warnings = status.warnings.map((warning) => `warning: ${warning}\n`).join("")
  const own = trafficText(status.traffic) + databaseText(status.database) + engineText(status.engine)
  const canary = status.canary === null || status.canary === undefined ? "" : canaryText(status.canary)
  return newest + canary + processes + own + warnings
}

/** The traffic of the process that responded. */
function trafficText(traffic: StatusAnswer["traffic"]): string {
  // A process without the role `gateway` forwards nothing.
  if (traffic === null) return ""
  const { requests, tunnels, backends, decisionPoints }: ReportedTraffic = traffic
  const discoveries = (traffic as ReportedTraffic).discoveries ?? {}
  const points = Object.entries(decisionPoints).map(([name, state]) => rowOf(name, state))
  const rows = Object.entries(backends).flatMap(([name, targets]) =>
    targets.map((state) => rowOf(name, state)),
  )
  const heads = ["HEALTH", "BREAKER", "OUTSTANDING"]
  return [
    `This process has ${requests} requests in progress and ${tunnels} open WebSockets.\n`,
    rows.length === 0 ? "" : table(["BACKEND", "TARGET", ...heads], rows),
    ...Object.entries(discoveries).map(discoveryText),
    points.length === 0 ? "" : table(["DECISION POINT", "ADDRESS", ...heads], points),
  ].join("")
}

/** Processes of earlier versions do not report what finds targets. */
type OwnTraffic = NonNullable<StatusAnswer["traffic"]>
type ReportedTraffic = Omit<OwnTraffic, "discoveries"> & Partial<Pick<OwnTraffic, "discoveries">>

/** What finds the targets of a backend, when something is wrong with it or it has not found any. */
function discoveryText([name, { source, targets, reason, ageMs }]: [
  string,
  OwnTraffic["discoveries"][string],
]): string {
  if (reason === null && targets !== 0) return ""
  const why = reason ?? "it has no ready target"
  const kept =
    targets === null || targets === 0
      ? "its requests get 503"
      : `its last ${targets} targets stay in use, ${Math.round((ageMs ?? 0) / 1000)} s old`
  return `Backend ${name} finds its targets by ${source}: ${why} (${kept}).\n`
}

/** Processes of earlier versions do not report these. */
type Later = "replicas" | "capabilities"
type Reported = Omit<StatusAnswer["database"], Later> & Partial<Pick<StatusAnswer["database"], Later>>

/** The database connections of the process that responded; older ones do not report them. */
function databaseText(database: Reported | undefined): string {
  if (database?.kind !== "postgres") return ""
  const { inUse, max, size, waiting } = database.connections
  const server = database.server === null ? "" : ` to ${database.server}`
  const wait = waiting === 0 ? "" : `; ${waiting} statements wait for one`
  const replicas = database.replicas?.map((replica) => [replica.server, replicaText(replica)]) ?? []
  return [
    `This process uses ${inUse} of ${max} database connections${server} (${size} are open)${wait}.\n`,
    replicas.length === 0 ? "" : table(["REPLICA", "STATE"], replicas),
    ...(database.capabilities ?? []).map(missingText),
  ].join("")
}

function replicaText({ state, reason }: StatusAnswer["database"]["replicas"][number]): string {
  return reason === null ? state : `${state}: ${reason}`
}

/** Processes of earlier versions do not report their stores. */
type ReportedEngine = Omit<StatusAnswer["engine"], "stores"> & Partial<Pick<StatusAnswer["engine"], "stores">>

/** The stores in the memory of the process that responded; older ones do not report them. */
function engineText(engine: ReportedEngine | undefined): string {
  if (engine === undefined || engine.whole + engine.paged + engine.loading.length === 0) return ""
  const { memoryBytes, memoryBytesMax, whole, paged, loading } = engine
  const size = `${megabytes(memoryBytes)} of ${megabytes(memoryBytesMax)} MB`
  const stores = whole === 1 ? "1 store" : `${whole} stores`
  const pages = paged === 0 ? "" : `, and pages of ${paged}`
  const lines = loading.map(({ store, part }) => {
    const read = part === null ? "" : `: ${Math.floor(100 * part)} % of its tuples are read`
    return `Store ${store} is being loaded${read}.\n`
  })
  return `This process has ${stores} whole in memory${pages} (${size}).\n${lines.join("")}${storesText(engine.stores ?? [])}`
}

/** The largest stores. */
function storesText(stores: StatusAnswer["engine"]["stores"]): string {
  if (stores.length === 0) return ""
  const rows = stores
    .slice(0, storesShown)
    .map(({ store, form, tuples, bytes, revision, behind, staleMs }) => [
      ...[store, form, String(tuples), String(megabytes(bytes)), String(revision), String(behind)],
      `${Math.round(staleMs / 100) / 10} s`,
    ])
  const more =
    stores.length > storesShown ? `${stores.length - storesShown} smaller stores are not shown.\n` : ""
  return table(["STORE", "IN MEMORY", "TUPLES", "MB", "REVISION", "BEHIND", "STALENESS"], rows) + more
}

function megabytes(bytes: number): number {
  return Math.ceil(bytes / 2 ** 20)
}

type TargetStatus = NonNullable<StatusAnswer["traffic"]>["decisionPoints"][string]

/** The same columns for a backend's target and for a decision point. */
function rowOf(name: string, { origin, health, breaker, outstanding }: TargetStatus): string[] {
  return [name, origin, health, breaker === "none" ? "-" : breaker, String(outstanding)]
}

function stateOf(process: ProcessStatus, newest: number | null): string {
  const { error, reasons } = process
  // Further reasons matter too, for example that the plan was loaded from disk.
  if (error !== null) return `error: ${[error, ...reasons.filter((each) => each !== error)].join("; ")}`
  const since = process.stateSince == null ? "" : ` since ${utcText(process.stateSince)}`
  if (process.state === "degraded") return `degraded${since}: ${reasons.join("; ")}`
  if (process.state === "draining") return "draining"
  return process.serial === newest ? "up to date" : "behind"
}
