import { CliError, type CommandLine, command, exitCode } from "../command.ts"
import { readLocatedPlan } from "../located-plan.ts"
import { formatOptions, readFormat, requestsOption, textOf } from "../options.ts"
import { readTraffic, showTraffic, trafficOption } from "../traffic.ts"
import { showChanges } from "../views/changes.ts"
import { showRequests } from "../views/requests.ts"

interface DiffArgs {
  readonly before: string
  readonly after: string
  readonly format: "text" | "json"
  /** A file for the comparison of requests. */
  readonly requests: string | undefined
  /** The folder of a record of requests. */
  readonly traffic: string | undefined
}

const diffLine: CommandLine<DiffArgs> = {
  operands: [
    ["<before>", "a folder with gateway.conf, a .conf file or a plan file"],
    ["<after>", "a folder with gateway.conf, a .conf file or a plan file"],
  ],
  options: [requestsOption, trafficOption, ...formatOptions],
  examples: [["sallyport diff ../main .", "show what this branch changes"]],
  parse([before, after], options) {
    if (before === undefined || after === undefined)
      throw new CliError("diff needs two folders or plan files", "For example: sallyport diff ../main .")
    const format = readFormat(options, ["text", "json"])
    const [requests, traffic] = [textOf(options, "requests"), readTraffic(options, format)]
    return { before, after, format, requests, traffic }
  },
}

export const diff = command(diffLine, async ({ before, after, format, requests, traffic }, io) => {
  const old = await readLocatedPlan(io, before)
  const next = await readLocatedPlan(io, after)
  showChanges(io, old.plan.plan, next.plan.plan, format, next.plan.origins)
  const plans = { before: old, after: next }
  await showRequests(io, plans, { isText: format === "text", file: requests })
  if (traffic !== undefined) await showTraffic(io, traffic, plans, format)
  // By digest: two texts may differ and compile to the same plan.
  return old.plan.digest === next.plan.digest ? exitCode.ok : exitCode.changes
})
