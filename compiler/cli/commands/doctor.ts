import { existsSync } from "node:fs"
import { resolve } from "node:path"
import manifest from "../../../package.json" with { type: "json" }
import type { Plan } from "../../../runtime/plan/plan.ts"
import { summaryOf } from "../../render/diagnostics.ts"
import { CliError, type CommandLine, command, exitCode } from "../command.ts"
import type { Io } from "../io.ts"
import { configOption, formatOptions, type ProjectArgs, readFormat, readProject } from "../options.ts"
import { print } from "../print.ts"
import { compileOnce, demandEntry } from "../project.ts"
import { connect } from "../remote.ts"
import { runningPlan } from "../running.ts"

interface DoctorArgs {
  readonly project: ProjectArgs
  readonly format: "text" | "json"
}

/** One thing that was examined. `help` says what to do about a failure or a warning. */
interface Check {
  readonly status: "ok" | "warning" | "failed"
  readonly what: string
  readonly help?: string | undefined
}

const doctorLine: CommandLine<DoctorArgs> = {
  options: [configOption, ...formatOptions],
  examples: [
    ["sallyport doctor", "examine this machine, the project, its variables and files, and the control API"],
  ],
  parse: (_, options) => ({
    project: readProject(options),
    format: readFormat(options, ["text", "json"]),
  }),
}

/** Everything is examined, whatever failed before, so that one run shows all that is to be done. */
export const doctor = command(doctorLine, async ({ project, format }, io) => {
  const { checks, plan } = await projectChecks(project, io)
  const all = [
    nodeCheck(),
    ...checks,
    ...(plan === undefined ? [] : outsideChecks(plan, io)),
    await controlCheck(plan, io),
  ]
  const failed = all.some(({ status }) => status === "failed")
  print(io, format, { format: 1, ok: !failed, checks: all }, () => textOf(all))
  return failed ? exitCode.failed : exitCode.ok
})

function textOf(checks: readonly Check[]): string {
  return checks
    .map(
      ({ status, what, help }) =>
        `${status.padEnd(8)} ${what}\n${help === undefined ? "" : `         help: ${help}\n`}`,
    )
    .join("")
}

function nodeCheck(): Check {
  const needed = manifest.engines.node.replace(">=", "")
  const [major = 0, minor = 0] = needed.split(".").map(Number)
  const [ownMajor = 0, ownMinor = 0] = process.versions.node.split(".").map(Number)
  const what = `Node.js ${process.versions.node}, Sallyport ${manifest.version}`
  if (ownMajor > major || (ownMajor === major && ownMinor >= minor)) return { status: "ok", what }
  return { status: "failed", what, help: `Install Node.js ${needed} or newer.` }
}

async function projectChecks(
  project: ProjectArgs,
  io: Io,
): Promise<{ checks: Check[]; plan: Plan | undefined }> {
  try {
    const { plan, diagnostics } = await compileOnce(io, project, demandEntry(io, project))
    const what = `${project.entry}: ${summaryOf(diagnostics)}`
    const help = diagnostics.length === 0 ? undefined : "Run `sallyport validate` to see them."
    const status = plan === undefined ? "failed" : diagnostics.length > 0 ? "warning" : "ok"
    return { checks: [{ status, what, help }], plan }
  } catch (error) {
    if (!(error instanceof CliError)) throw error
    return { checks: [{ status: "failed", what: error.message, help: error.help }], plan: undefined }
  }
}

/** Variables and files that a process reads when it loads the plan. `serve` refuses to start without them; `dev` makes values up. */
function outsideChecks(plan: Plan, io: Io): Check[] {
  const variables = new Set<string>()
  const paths = new Set<string>()
  collect(plan.plan, variables, paths)
  const unset = [...variables].filter((name) => (io.env[name] ?? "") === "").sort()
  const missing = [...paths].filter((path) => !existsSync(resolve(io.cwd, path))).sort()
  const checks: Check[] = []
  if (variables.size > 0)
    checks.push(
      unset.length === 0
        ? { status: "ok", what: `all ${variables.size} variables of the plan are set` }
        : {
            status: "warning",
            what: `variables without a value: ${unset.join(", ")}`,
            help: "Set them where `sallyport serve` runs. `sallyport dev` makes values up.",
          },
    )
  if (paths.size > 0)
    checks.push(
      missing.length === 0
        ? { status: "ok", what: `all ${paths.size} files that the plan reads exist` }
        : {
            status: "warning",
            what: `files that do not exist here: ${missing.join(", ")}`,
            help: "Provide them where `sallyport serve` runs.",
          },
    )
  return checks
}

/** References to the environment: `{ env }` without a default, and `{ file }`. */
function collect(value: unknown, variables: Set<string>, paths: Set<string>): void {
  if (typeof value !== "object" || value === null) return
  const keys = Object.keys(value)
  const { env, file } = value as { env?: unknown; file?: unknown }
  if (keys.length === 1 && typeof env === "string") variables.add(env)
  else if (keys.length === 1 && typeof file === "string") paths.add(file)
  else for (const each of Object.values(value)) collect(each, variables, paths)
}

/** The running Sallyport, if one is named or `dev` runs in this folder. */
async function controlCheck(plan: Plan | undefined, io: Io): Promise<Check> {
  const isNamed = (io.env["SALLYPORT_CONTROL_URL"] ?? "") !== ""
  try {
    const remote = await connect(io)
    const running = await runningPlan(remote)
    if (running === undefined)
      return {
        status: "warning",
        what: `${remote.url}: no plan was applied yet`,
        help: "Run `sallyport plan`, then `sallyport apply`.",
      }
    const same = plan !== undefined && running.plan.digest === plan.digest
    return {
      status: "ok",
      what: `${remote.url}: serial ${running.record.serial}${same ? ", the same as the text" : ", which differs from the text"}`,
    }
  } catch (error) {
    if (!(error instanceof CliError)) throw error
    // Nobody said that a Sallyport is to run.
    if (!isNamed)
      return { status: "ok", what: "no control API is named (SALLYPORT_CONTROL_URL), and none runs here" }
    return { status: "failed", what: error.message, help: error.help }
  }
}
